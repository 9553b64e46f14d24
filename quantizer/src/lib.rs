//! From a float model and calibration data to a quantised model: ranges, codes, integers.
//!
//! Weights get 8 bits with one scale per row; activations 8 bits with one code per tensor, fitted to the calibration data;
//! the residual stream 16 bits with twice the room that was seen. All that depends on real numbers happens here: the file
//! that leaves holds integers, and the chip never sees a scale.

#![forbid(unsafe_code)]

pub mod code;
pub mod histogram;
pub mod layers;
mod model;
mod ranges;

pub use model::{quantize, stream_scale};
pub use ranges::Ranges;
