//! What several tests share: seeded random models, inputs, matrices, and the measures of fidelity.

pub mod fidelity;
pub mod matrices;
pub mod models;
pub mod random;
pub mod shapes;
