//! From a float model and calibration data to a quantised model: ranges, codes, integers.
//!
//! Weights get 8 bits with one scale per row, or 4 where [`Precision`] says so; activations 8 bits with one code per tensor, fitted to the calibration data;
//! the residual stream 16 bits with twice the room that was seen. All that depends on real numbers happens here: the file
//! that leaves holds integers, and the chip never sees a scale.

#![forbid(unsafe_code)]

pub mod code;
pub mod histogram;
pub mod layers;
mod model;
mod precision;
mod ranges;

pub use model::{quantize, quantize_mixed, stream_scale};
pub use precision::Precision;
pub use ranges::Ranges;
