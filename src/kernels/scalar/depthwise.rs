//! Depthwise convolution: the taps that exist, each beside its weights, and then all channels in one run.

use microformer_packed::{Depthwise, MAX_TAPS};

use super::chip::convolve;
use crate::kernels::portable;

/// A tap's values and its weights: one of each for every channel.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair {
    values: *const i8,
    weights: *const i8,
}

/// What [`convolve`] needs beside its taps, in the order in which it loads it.
#[repr(C)]
pub struct Sweep {
    affine: *const [i32; 2],
    output: *mut i8,
    channels: usize,
}

/// See [`crate::kernels::portable::depthwise`]. Channels come in fours, as `bake` pads them.
pub fn depthwise(filter: &Depthwise, taps: &[&[i8]], hop: usize, output: &mut [i8]) {
    let channels = filter.channels;
    let places = output.len().checked_div(channels).unwrap_or(0);
    let reach = places.saturating_sub(1) * hop + channels;
    debug_assert_eq!(taps.len(), filter.taps);
    let mut pairs = [Pair { values: core::ptr::null(), weights: core::ptr::null() }; MAX_TAPS];
    let mut addresses = output.as_ptr().addr() | filter.weights.as_ptr().addr();
    let mut count = 0;
    for ((tap, weights), pair) in taps.iter().zip(filter.weights.chunks_exact(channels.max(1))).zip(&mut pairs) {
        *pair = Pair { values: tap.as_ptr(), weights: weights.as_ptr() };
        addresses |= tap.as_ptr().addr();
        count += 1;
    }
    let fits = (channels | hop | addresses).is_multiple_of(4)
        && channels > 0
        && count > 0
        && count == taps.len()
        && taps.iter().all(|tap| tap.len() >= reach)
        && filter.affine.len() >= channels;
    if !fits {
        return portable::depthwise(filter, taps, hop, output);
    }
    for output in output.chunks_exact_mut(channels) {
        let sweep = Sweep { affine: filter.affine.as_ptr(), output: output.as_mut_ptr(), channels };
        // SAFETY: `count` taps with their weights reach as far as the last place; affine is as long as the output of one
        // place; all of it is on words' borders.
        unsafe { convolve(pairs.as_ptr(), pairs.as_ptr().wrapping_add(count), &sweep) };
        for pair in pairs.iter_mut().take(count) {
            pair.values = pair.values.wrapping_add(hop);
        }
    }
}
