//! ARMv6-M: sixteen registers of which most instructions reach eight, and no product of more than 32 bits.

mod attention;
mod multiply;
mod pointwise;
mod requantize;

pub use attention::{mix_eight, mix_four, score};
pub use multiply::{expand_fours, rows_to_bytes, rows_to_stream};
pub use pointwise::{convolve, normalize_stream, normalize_to_bytes, soften};
pub use requantize::requantize;
