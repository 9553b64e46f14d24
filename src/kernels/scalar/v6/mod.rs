//! ARMv6-M: sixteen registers of which most instructions reach eight, and no product of more than 32 bits.

mod attention;
mod multiply;
mod normalize;
mod pointwise;
mod requantize;

pub use attention::{mix_lanes, score};
pub use multiply::{expand_fours, rows_to_bytes, rows_to_stream};
pub use normalize::{normalize_stream, normalize_to_bytes};
pub use pointwise::{convolve, soften};
pub use requantize::requantize;
