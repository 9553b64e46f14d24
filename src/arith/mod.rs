//! Scalar fixed-point arithmetic, without tensors: the only roads from wide sums back to narrow values.
//!
//! Every function is total: no input panics, and all machines return the same bits.

pub mod exponential;
pub mod inverse_sqrt;
pub mod reciprocal;
pub mod requantize;
pub mod wide;

pub use exponential::EXPONENTIAL;
pub use inverse_sqrt::inverse_sqrt_q31;
pub use reciprocal::reciprocal;
pub use requantize::{requantize, saturate_i8, saturate_i16};
pub use wide::wide;
