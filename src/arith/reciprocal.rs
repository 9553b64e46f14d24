//! One division for a row of attention: the multiplier that takes a weighted sum of values to 8 bits.

use microformer_packed::Mixing;

/// A multiplier for [`super::requantize`] of about `2³² · ratio / sum`, where `ratio` is the value that `mixing` holds.
///
/// `sum` is normalised to 16 bits before the division, so that its relative error stays below 2⁻¹⁴ wherever the result
/// has 14 bits; a sum of zero gives zero.
///
/// ```
/// use microformer::{arith::{reciprocal, requantize}, packed::Mixing};
/// let one = Mixing { ratio: 1 << 30, exponent: 1 };
/// let multiplier = reciprocal(32767 * 3, one);
/// assert_eq!(requantize(32767 * 3 * 100, multiplier), 100);
/// ```
#[must_use]
pub fn reciprocal(sum: u32, mixing: Mixing) -> i32 {
    let zeros = sum.leading_zeros();
    let divisor = sum.unbounded_shl(zeros) >> 16;
    let quotient = mixing.ratio.checked_div(divisor).unwrap_or(0);
    // ratio/2³¹ · 2^exponent / (divisor · 2^(16−zeros)) in units of 2⁻³².
    let shift = mixing.exponent + zeros as i32 - 15;
    let shifted = if shift < 0 {
        quotient.unbounded_shr(shift.unsigned_abs())
    } else {
        quotient.unbounded_shl(shift.unsigned_abs())
    };
    shifted.min(i32::MAX as u32) as i32
}
