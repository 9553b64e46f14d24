//! ARMv6-M: sixteen registers of which most instructions reach eight, and no product of more than 32 bits.

mod mixing;
mod multiply;
mod normalize;
mod pointwise;
mod requantize;
mod score;
mod softening;

pub use mixing::{mix_eights, mix_four, place_value};
pub use multiply::{expand_fours, to_bytes, to_stream};
pub use normalize::{Walk, normalize_stream, normalize_to_bytes, sums};
pub use pointwise::convolve;
pub use requantize::requantize;
pub use score::{place_key, score, score_within};
pub use softening::soften;
