//! Depthwise convolution: the taps that exist, each beside its weights, and then all channels in one run.

use core::mem::MaybeUninit;

use microformer_packed::{Depthwise, MAX_TAPS};

use super::chip::convolve;
use crate::kernels::portable;

/// A tap's values and its weights: one of each for every channel.
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
    // A Cortex-M0 cannot divide, and most convolutions have one place.
    let places = if output.len() == channels { 1 } else { output.len().checked_div(channels).unwrap_or(0) };
    let reach = places.saturating_sub(1) * hop + channels;
    let addresses = taps.iter().fold(0, |addresses, tap| addresses | tap.as_ptr().addr());
    let fits = (channels | hop | addresses | output.as_ptr().addr() | filter.weights.as_ptr().addr()).is_multiple_of(4)
        && channels > 0
        && places > 0
        && (1..=MAX_TAPS).contains(&taps.len())
        && taps.len() * channels <= filter.weights.len()
        && taps.iter().all(|tap| tap.len() >= reach)
        && filter.affine.len() >= channels;
    debug_assert!(taps.len() == filter.taps, "taps of the filter");
    if !fits {
        return portable::depthwise(filter, taps, hop, output);
    }
    let mut list = [const { MaybeUninit::<Pair>::uninit() }; MAX_TAPS];
    for place in 0..places {
        let mut weights = filter.weights.as_ptr();
        for (pair, tap) in list.iter_mut().zip(taps) {
            pair.write(Pair { values: tap.as_ptr().wrapping_add(place * hop), weights });
            weights = weights.wrapping_add(channels);
        }
        let output = output.as_mut_ptr().wrapping_add(place * channels);
        let sweep = Sweep { affine: filter.affine.as_ptr(), output, channels };
        let pairs = list.as_ptr().cast::<Pair>();
        // SAFETY: as many taps as were written, with their weights, reach as far as the last place; affine is as long as
        // the output of one place, of which the output has `places`; all of it is on words' borders.
        unsafe { convolve(pairs, pairs.wrapping_add(taps.len()), &sweep) };
    }
}
