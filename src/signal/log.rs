//! Logarithm: channel energies in, 16-bit features out: ln(value) · 2^scale_shift, 0 for a value of 0 or 1.
//!
//! The base-2 logarithm is its whole part, the bits after the leading one, and a correction read from a table of 128
//! segments. The micro frontend interpolates between entries, but shifts the product by 16 bits instead of the 9 of a
//! segment, so next to nothing of it is left; features must be equal, so it is done here too.

use super::Log;

/// Fractional bits of the logarithm.
const FRACTION_BITS: u32 = 16;

/// Bits of the fraction that fall inside one of the table's 128 segments.
const SEGMENT_BITS: u32 = 9;

/// ln 2 with 16 fractional bits.
const LN_2_Q16: u64 = 45426;

/// Writes the scaled logarithm of every channel.
pub fn apply(log: &Log, channels: &[u32], features: &mut [u16]) {
    for (&value, feature) in channels.iter().zip(features) {
        let value = value.wrapping_shl(log.correction_bits);
        *feature = if value > 1 { logarithm(log, value) } else { 0 };
    }
}

fn logarithm(log: &Log, value: u32) -> u16 {
    const HALF: u32 = 1 << (FRACTION_BITS - 1);
    let natural = (LN_2_Q16 * u64::from(log2_q16(value)) + u64::from(HALF)) >> FRACTION_BITS;
    let scaled = (natural as u32).wrapping_shl(log.scale_shift);
    (scaled.wrapping_add(HALF) >> FRACTION_BITS) as u16
}

/// Base-2 logarithm of a value of at least 1, with 16 fractional bits.
fn log2_q16(value: u32) -> u32 {
    let whole = value.ilog2();
    // The bits after the leading one, moved to the top and back down: fewer than 16 are filled with zeros.
    let fraction = (value << (31 - whole) << 1) >> (32 - FRACTION_BITS);
    let segment = fraction >> SEGMENT_BITS;
    let within = (fraction & ((1 << SEGMENT_BITS) - 1)).cast_signed();
    let entry = |index: u32| i32::from(CORRECTION.get(index as usize).copied().unwrap_or(0));
    let (from, to) = (entry(segment), entry(segment + 1));
    let correction = from + (((to - from) * within) >> FRACTION_BITS);
    (whole << FRACTION_BITS).wrapping_add(fraction).wrapping_add_signed(correction)
}

/// log₂(1 + k/128) − k/128 with 16 fractional bits, k = 0..=128: how far the logarithm lies above its chord.
#[rustfmt::skip]
const CORRECTION: [u16; 129] = [
    0, 224, 442, 654, 861, 1063, 1259, 1450, 1636, 1817, 1992, 2163, 2329, 2490, 2646, 2797,
    2944, 3087, 3224, 3358, 3487, 3611, 3732, 3848, 3960, 4068, 4172, 4272, 4368, 4460, 4549, 4633,
    4714, 4791, 4864, 4934, 5001, 5063, 5123, 5178, 5231, 5280, 5326, 5368, 5408, 5444, 5477, 5507,
    5533, 5557, 5578, 5595, 5610, 5622, 5631, 5637, 5640, 5641, 5638, 5633, 5626, 5615, 5602, 5586,
    5568, 5547, 5524, 5498, 5470, 5439, 5406, 5370, 5332, 5291, 5249, 5203, 5156, 5106, 5054, 5000,
    4944, 4885, 4825, 4762, 4697, 4630, 4561, 4490, 4416, 4341, 4264, 4184, 4103, 4020, 3935, 3848,
    3759, 3668, 3575, 3481, 3384, 3286, 3186, 3084, 2981, 2875, 2768, 2659, 2549, 2437, 2323, 2207,
    2090, 1971, 1851, 1729, 1605, 1480, 1353, 1224, 1094, 963, 830, 695, 559, 421, 282, 142,
    0,
];

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: Log = Log { scale_shift: 6, correction_bits: 3 };

    fn feature(value: u32) -> u16 {
        let mut features = [0];
        apply(&LOG, &[value], &mut features);
        features[0]
    }

    #[test]
    fn small_values_and_powers_of_two() {
        assert_eq!(feature(0), 0);
        // ln(8) · 64 = 133.08
        assert_eq!(feature(1), 133);
        // ln(2¹³) · 64 = 576.70
        assert_eq!(feature(1 << 10), 577);
        // ln(2³² − 8) · 64 = 1419.57
        assert_eq!(feature(u32::MAX >> 3), 1420);
    }

    #[test]
    fn bits_shifted_out_at_the_top_are_lost() {
        assert_eq!(feature(1 << 29), 0);
        assert_eq!(feature((1 << 29) + 1), 133);
    }
}
