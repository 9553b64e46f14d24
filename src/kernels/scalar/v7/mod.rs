//! ARMv7-M: all registers for all instructions, `MLA`, `SMULL` and saturation.

mod attention;
mod multiply;
mod nibbles;
mod pointwise;

pub use crate::arith::requantize;
pub use attention::{mix_lanes, score, soften};
pub use multiply::{expand_fours, rows_to_bytes, rows_to_stream};
pub use nibbles::{four_to_bytes, four_to_stream};
pub use pointwise::{convolve, normalize_stream, normalize_to_bytes};
