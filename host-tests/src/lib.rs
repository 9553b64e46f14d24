//! What several tests share: seeded random models, inputs, and the measure of fidelity.

pub mod fidelity;
pub mod models;
pub mod random;
