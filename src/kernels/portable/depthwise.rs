//! Depthwise convolution: each channel has a filter of its own over a few vectors of channels.

use microformer_packed::Depthwise;

use crate::arith::{requantize, saturate_i8};

/// `output[place][c] = saturate(Σ weight[tap][c] · taps[tap][place · hop + c] + bias[c])`, for as many places as the output
/// has vectors of channels.
///
/// At most 32 taps: a sum stays below 32 · 2¹⁴ = 2¹⁹, and its bias below 2³⁰ (`bake` checks).
pub fn depthwise(filter: &Depthwise, taps: &[&[i8]], hop: usize, output: &mut [i8]) {
    let channels = filter.channels.max(1);
    debug_assert_eq!(taps.len(), filter.taps);
    debug_assert_eq!(output.len() % channels, 0);
    for (place, output) in output.chunks_exact_mut(channels).enumerate() {
        for (channel, (result, &[bias, multiplier])) in output.iter_mut().zip(filter.affine).enumerate() {
            let mut sum = bias;
            for (tap, weights) in taps.iter().zip(filter.weights.chunks_exact(channels)) {
                if let (Some(&value), Some(&weight)) = (tap.get(place * hop + channel), weights.get(channel)) {
                    sum += i32::from(value) * i32::from(weight);
                }
            }
            *result = saturate_i8(requantize(sum, multiplier));
        }
    }
}
