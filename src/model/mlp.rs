//! The causal convolution of a perceptron: one filter for each hidden channel over the last tokens.

use heapless::Vec;
use microformer_packed::{Depthwise, MAX_TAPS};

use super::clock::Turn;
use super::words::copy;
use crate::kernels::depthwise;

/// Stores the token's hidden vector in its slot of the ring, and replaces it by its convolution with the tokens before.
pub fn convolve(filter: &Depthwise, turn: Turn, ring: &mut [i8], hidden: &mut [i8]) {
    let range = |slot: usize| slot * filter.channels..(slot + 1) * filter.channels;
    copy(hidden, ring.get_mut(range(turn.slot)).unwrap_or_default());
    let mut taps = Vec::<&[i8], MAX_TAPS>::new();
    for age in 1..=filter.taps {
        // The slot after the newest is the oldest.
        let slot = turn.slot + age;
        let slot = if slot < filter.taps { slot } else { slot - filter.taps };
        let _ = taps.push(ring.get(range(slot)).unwrap_or_default());
    }
    depthwise(filter, &taps, 0, hidden);
}
