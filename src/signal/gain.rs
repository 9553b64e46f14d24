//! Gain control (PCAN, per-channel amplitude normalisation): loud channels are turned down, quiet ones up.
//!
//! Channel energies and their noise estimates in, normalised energies out. The gain is a function of the estimate,
//! held as one parabola per power of two; a final curve compresses small values by squaring them.

use super::Gain;

const RATIO_BITS: u32 = Gain::RATIO_BITS;

/// Fractional bits of the result.
const OUTPUT_BITS: u32 = 6;

/// Fractional bits of the position inside a power of two.
const POSITION_BITS: u32 = 10;

/// Multiplies each channel by the gain that its estimate asks for and compresses the result.
pub fn apply(gain: &Gain, channels: &mut [u32], estimates: &[u32]) {
    for (value, &estimate) in channels.iter_mut().zip(estimates) {
        let factor = i64::from(factor(gain, estimate)).cast_unsigned() as u32;
        let ratio = (u64::from(*value) * u64::from(factor)).wrapping_shr(gain.shift);
        *value = compress(ratio as u32);
    }
}

fn factor(gain: &Gain, estimate: u32) -> i16 {
    let length = u32::BITS - estimate.leading_zeros();
    let Some(&[start, slope, curvature]) = gain.parabolas.get(length as usize) else {
        return 0;
    };
    // The bits after the leading one, as a fraction with 10 bits.
    let whole = POSITION_BITS + 1;
    let aligned = if length < whole { estimate << (whole - length) } else { estimate >> (length - whole) };
    let position = (aligned & ((1 << POSITION_BITS) - 1)).cast_signed();
    // |curvature · position| >> 5 < 2²⁰ and |slope| << 5 ≤ 2²⁰, so the product stays below 2²¹ · 2¹⁰ = 2³¹.
    let rise = ((i32::from(curvature) * position) >> 5) + (i32::from(slope) << 5);
    let rise = (rise.wrapping_mul(position).wrapping_add(1 << 14)) >> 15;
    (rise + i32::from(start)) as i16
}

/// Below 2: a quarter of the square; from there on the tangent, x − 1.
fn compress(ratio: u32) -> u32 {
    if ratio < 2 << RATIO_BITS {
        (ratio * ratio) >> (2 + 2 * RATIO_BITS - OUTPUT_BITS)
    } else {
        (ratio >> (RATIO_BITS - OUTPUT_BITS)) - (1 << OUTPUT_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_continuous_where_the_square_meets_the_line() {
        assert_eq!(compress(0), 0);
        assert_eq!(compress(1 << 12), 16);
        assert_eq!(compress((2 << 12) - 1), 63);
        assert_eq!(compress(2 << 12), 64);
        assert_eq!(compress(3 << 12), 128);
        assert_eq!(compress(u32::MAX), (1 << 26) - 1 - 64);
    }

    #[test]
    fn a_parabola_is_followed_inside_its_power_of_two() {
        let mut parabolas = [[0; 3]; 33];
        parabolas[0] = [300, 0, 0];
        parabolas[12] = [1000, -200, 50];
        let gain = Gain { parabolas: &parabolas, shift: 0 };
        assert_eq!(factor(&gain, 0), 300);
        assert_eq!(factor(&gain, 2048), 1000);
        // Half way: 1000 − 100 + 12.5 = 912.5, and the rise of −87.5 rounds up.
        assert_eq!(factor(&gain, 3072), 913);
    }
}
