//! Filterbank: frequency bins in, the root of each mel channel's energy out.
//!
//! Channels are triangles that overlap by half: a bin between two centres gives `weight` of its energy to the lower
//! channel and `unweight` to the upper one. Every bin is read once.

use super::{Complex, Filterbank};

/// Writes √(Σ weight · |bin|²) of each channel, rounded, then shifted down by `shift` bits.
pub fn apply(filterbank: &Filterbank, spectrum: &[Complex], shift: u32, channels: &mut [u32]) {
    let mut bins = spectrum.iter().skip(filterbank.start).zip(filterbank.weights);
    let mut widths = filterbank.widths.iter();
    // What lies below the first centre falls to no channel; its rising half belongs to the first.
    let (_, mut rising) = gather(&mut bins, widths.next());
    for (channel, width) in channels.iter_mut().zip(widths) {
        let (falling, next) = gather(&mut bins, Some(width));
        *channel = root(rising.wrapping_add(falling).cast_unsigned()).wrapping_shr(shift);
        rising = next;
    }
}

/// Sums the energy of the next bins by weight and by unweight.
fn gather<'a>(bins: &mut impl Iterator<Item = (&'a Complex, &'a [i16; 2])>, width: Option<&u8>) -> (i64, i64) {
    let (mut falling, mut rising) = (0i64, 0i64);
    let width = width.copied().unwrap_or(0);
    for (bin, &[weight, unweight]) in bins.take(usize::from(width)) {
        let (re, im) = (i32::from(bin.re), i32::from(bin.im));
        // 2 · 2³⁰ exceeds i32 only if both parts are −32768; the micro frontend wraps there too.
        let energy = i64::from((re * re).wrapping_add(im * im));
        falling = falling.wrapping_add(i64::from(weight) * energy);
        rising = rising.wrapping_add(i64::from(unweight) * energy);
    }
    (falling, rising)
}

/// Square root to nearest. Values below 2³² have roots of at most 65535: there, 65535.5 and more rounds down.
fn root(value: u64) -> u32 {
    let limit = if value >> 32 == 0 { 0xFFFF } else { 0xFFFF_FFFF };
    let floor = value.isqrt();
    let remainder = value - floor * floor;
    (floor + u64::from(remainder > floor && floor != limit)) as u32
}
