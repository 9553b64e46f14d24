//! The causal convolution of a perceptron: one filter for each hidden channel over the last tokens.

use heapless::Vec;
use microformer_packed::{Depthwise, MAX_TAPS};

use super::clock::Turn;
use crate::kernels::depthwise;

/// Stores the token's hidden vector in its slot of the ring, and replaces it by its convolution with the tokens before.
pub fn convolve(filter: &Depthwise, turn: Turn, ring: &mut [i8], hidden: &mut [i8]) {
    if let Some(newest) = ring.chunks_exact_mut(filter.channels.max(1)).nth(turn.slot) {
        newest.iter_mut().zip(hidden.iter()).for_each(|(value, &new)| *value = new);
    }
    let mut taps = Vec::<&[i8], MAX_TAPS>::new();
    for age in 1..=filter.taps {
        // The slot after the newest is the oldest.
        let slot = turn.slot + age;
        let slot = if slot < filter.taps { slot } else { slot - filter.taps };
        let _ = taps.push(ring.chunks_exact(filter.channels.max(1)).nth(slot).unwrap_or(&[]));
    }
    depthwise(filter, &taps, hidden);
}
