//! What an image must not contain or cost. Every gate is also shown something that it must catch.

pub mod budget;
pub mod clock;
pub mod float;
pub mod panic;
