//! ARMv7-M: all registers for all instructions, `MLA`, `SMULL` and saturation.

mod mixing;
mod multiply;
mod nibbles;
mod normalize;
mod pointwise;
mod score;
mod softening;

pub use crate::arith::requantize;
pub use mixing::{mix_eights, mix_four, place_value};
pub use multiply::{expand_fours, is_large, to_bytes, to_stream};
pub use nibbles::{four_to_bytes, four_to_stream};
pub use normalize::{Walk, normalize_stream, normalize_to_bytes, sums};
pub use pointwise::convolve;
pub use score::{place_key, score, score_within};
pub use softening::soften;
