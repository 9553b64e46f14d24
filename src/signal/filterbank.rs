//! Filterbank: frequency bins in, the root of each mel channel's energy out.
//!
//! Channels are triangles that overlap by half: a bin between two centres gives `weight` of its energy to the lower
//! channel and `unweight` to the upper one. Every bin is read once.

use super::{Complex, Filterbank};

/// Writes √(Σ weight · |bin|²) of each channel, rounded, then shifted down by `shift` bits.
pub fn apply(filterbank: &Filterbank, spectrum: &[Complex], shift: u32, channels: &mut [u32]) {
    let mut bins = spectrum.get(filterbank.start..).unwrap_or_default();
    let mut weights = filterbank.weights;
    let mut widths = filterbank.widths.iter().map(|&width| usize::from(width));
    // What lies below the first centre falls to no channel; its rising half belongs to the first.
    let (_, mut rising) = gather(&mut bins, &mut weights, widths.next().unwrap_or(0));
    for (channel, width) in channels.iter_mut().zip(widths) {
        let (falling, next) = gather(&mut bins, &mut weights, width);
        *channel = root(rising.wrapping_add(falling).cast_unsigned()).wrapping_shr(shift);
        rising = next;
    }
}

/// Takes `width` bins from the front and sums their energy by weight and by unweight.
#[inline(always)]
fn gather(bins: &mut &[Complex], weights: &mut &[[i16; 2]], width: usize) -> (i64, i64) {
    let (mut falling, mut rising) = (0i64, 0i64);
    if let (Some((these, rest)), Some((their, others))) =
        (bins.split_at_checked(width), weights.split_at_checked(width))
    {
        for (bin, &[weight, unweight]) in these.iter().zip(their) {
            let (re, im) = (i32::from(bin.re), i32::from(bin.im));
            // 2 · 2³⁰ exceeds i32 only if both parts are −32768; the micro frontend wraps there too.
            let energy = i64::from((re * re).wrapping_add(im * im));
            falling = falling.wrapping_add(i64::from(weight) * energy);
            rising = rising.wrapping_add(i64::from(unweight) * energy);
        }
        (*bins, *weights) = (rest, others);
    }
    (falling, rising)
}

/// Square root to nearest, of any value. Below 2³² it is at most 65535: there, 65535.5 and more rounds down.
fn root(value: u64) -> u32 {
    let high = (value >> 32) as u32;
    let (floor, limit) =
        if high == 0 { (floor_root32(value as u32), 0xFFFF) } else { (floor_root64(value), 0xFFFF_FFFF) };
    let remainder = value.wrapping_sub(u64::from(floor) * u64::from(floor));
    floor.wrapping_add(u32::from(remainder > u64::from(floor) && floor != limit))
}

/// Square root rounded down, after P. Zimmermann, "Karatsuba square root" (1999): the root of the upper half, with its
/// remainder, then one division for the lower half. 32-bit arithmetic only.
fn floor_root64(value: u64) -> u32 {
    let shift = value.leading_zeros() & !1;
    let value = value.wrapping_shl(shift);
    let (high, low) = ((value >> 32) as u32, value as u32);
    let (root, remainder) = root_and_remainder(high);
    // remainder ≤ 2·65535, so half the dividend is below 2³²: that, by the root, instead of the whole by twice the root.
    let half_dividend = (remainder << 15) | (low >> 17);
    let digit = half_dividend.checked_div(root).unwrap_or(0);
    if digit > 0xFFFF {
        return ((root << 16) | 0xFFFF) >> (shift / 2);
    }
    let rest = 2 * (half_dividend - digit * root) + ((low >> 16) & 1);
    let too_far = rest <= 0xFFFF && ((rest << 16) | (low & 0xFFFF)) < digit * digit;
    ((root << 16) + digit - u32::from(too_far)) >> (shift / 2)
}

fn floor_root32(value: u32) -> u32 {
    let shift = value.leading_zeros() & !1;
    let (root, _) = root_and_remainder(value.wrapping_shl(shift));
    root.wrapping_shr(shift / 2)
}

/// Root, rounded down, and remainder of a value of at least 2³⁰; two zeros for 0. The same step as above, half as wide,
/// from a root of eight bits.
fn root_and_remainder(value: u32) -> (u32, u32) {
    let Some(&root) = ROOTS.get((value >> 24).wrapping_sub(64) as usize) else { return (0, 0) };
    let mut root = u32::from(root);
    let mut remainder = (value >> 16) - root * root;
    if remainder > 2 * root {
        remainder -= 2 * root + 1;
        root += 1;
    }
    let dividend = (remainder << 8) | ((value >> 8) & 0xFF);
    let digit = dividend.checked_div(2 * root).unwrap_or(0);
    let rest = ((dividend - digit * 2 * root) << 8) | (value & 0xFF);
    let root = (root << 8) + digit;
    match rest.checked_sub(digit * digit) {
        Some(remainder) => (root, remainder),
        None => (root - 1, rest + 2 * root - 1 - digit * digit),
    }
}

/// √(k · 256), rounded down, k = 64..=255.
const ROOTS: [u8; 192] = {
    let mut roots = [0; 192];
    let mut k = 0;
    while k < roots.len() {
        roots[k] = ((k as u32 + 64) << 8).isqrt() as u8;
        k += 1;
    }
    roots
};

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition, in the standard library's arithmetic.
    fn expected(value: u64) -> u32 {
        let floor = value.isqrt();
        let limit = if value >> 32 == 0 { 0xFFFF } else { 0xFFFF_FFFF };
        (floor + u64::from(value - floor * floor > floor && floor != limit)) as u32
    }

    #[test]
    fn root_rounds_to_nearest() {
        for (value, nearest) in [(0, 0), (1, 1), (2, 1), (3, 2), (6, 2), (7, 3), (1 << 40, 1 << 20)] {
            assert_eq!(root(value), nearest, "√{value}");
        }
    }

    #[test]
    fn root_just_below_two_to_the_32_rounds_down() {
        assert_eq!(root(0xFFFF_FFFF), 0xFFFF);
        assert_eq!(root(0x1_0000_0000), 0x1_0000);
        assert_eq!(root(u64::MAX), 0xFFFF_FFFF);
    }

    #[test]
    fn root_is_right_around_squares_and_for_every_length() {
        let mut seed = 1u64;
        for k in 0..200_000u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let square = ((seed >> 32) * (seed >> 32)) >> (k % 31 * 2);
            for value in [square.wrapping_sub(1), square, square + 1, seed >> (k % 64), k] {
                assert_eq!(root(value), expected(value), "√{value}");
            }
        }
    }

    #[test]
    fn a_bin_gives_its_energy_to_two_channels() {
        // Two channels: bin 1 lies below the first centre, bin 2 between both, bin 3 above the second.
        let filterbank = Filterbank { start: 1, widths: &[1, 1, 1], weights: &[[0, 4096], [3072, 1024], [4096, 0]] };
        let spectrum = [Complex::new(99, 99), Complex::new(3, 0), Complex::new(0, 8), Complex::new(6, 0)];
        let mut channels = [0; 2];
        apply(&filterbank, &spectrum, 0, &mut channels);
        // √(4096·9 + 3072·64) = 64·√57 and √(1024·64 + 4096·36) = 64·√52.
        assert_eq!(channels, [483, 462]);
        apply(&filterbank, &spectrum, 3, &mut channels);
        assert_eq!(channels, [483 >> 3, 462 >> 3]);
    }
}
