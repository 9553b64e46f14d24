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
pub fn depthwise(filter: &Depthwise, taps: &[&[i8]], output: &mut [i8]) {
    let channels = filter.channels;
    debug_assert_eq!(taps.len(), filter.taps);
    let mut pairs = [Pair { values: core::ptr::null(), weights: core::ptr::null() }; MAX_TAPS];
    let mut addresses = output.as_ptr().addr() | filter.weights.as_ptr().addr();
    let mut places = pairs.iter_mut();
    let mut count = 0;
    for (tap, weights) in taps.iter().zip(filter.weights.chunks_exact(channels.max(1))) {
        // A tap without values counts as zeros.
        if tap.len() == channels
            && let Some(place) = places.next()
        {
            *place = Pair { values: tap.as_ptr(), weights: weights.as_ptr() };
            addresses |= tap.as_ptr().addr();
            count += 1;
        }
    }
    let fits = (channels | addresses).is_multiple_of(4)
        && channels > 0
        && count > 0
        && output.len() == channels
        && filter.affine.len() >= channels;
    if !fits {
        return portable::depthwise(filter, taps, output);
    }
    let sweep = Sweep { affine: filter.affine.as_ptr(), output: output.as_mut_ptr(), channels };
    // SAFETY: `count` taps with their weights, all as long as output and affine; all of it on words' borders.
    unsafe { convolve(pairs.as_ptr(), pairs.as_ptr().wrapping_add(count), &sweep) };
}
