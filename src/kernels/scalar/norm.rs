//! LayerNorm and RMSNorm, and the plain return to 8 bits: [`crate::kernels::portable`] with the chip's multiplication.

use microformer_packed::Norm;

use super::chip::{normalize_stream, normalize_to_bytes, requantize};
use crate::arith::saturate_i8;
use crate::kernels::portable::Deviation;

/// Normalises one token to 8 bits.
pub fn norm(norm: &Norm, stream: &[i16], output: &mut [i8]) {
    debug_assert!(stream.len() == output.len() && stream.len() == norm.affine.len());
    normalize_to_bytes(&deviation(norm, stream), norm.affine, stream, output);
}

/// Normalises one token in place, at 16 bits.
pub fn norm_stream(norm: &Norm, stream: &mut [i16]) {
    debug_assert_eq!(stream.len(), norm.affine.len());
    normalize_stream(&deviation(norm, stream), norm.affine, stream);
}

/// The residual stream in 8 bits.
pub fn rescale(multiplier: i32, stream: &[i16], output: &mut [i8]) {
    debug_assert_eq!(stream.len(), output.len());
    for (&value, result) in stream.iter().zip(output) {
        *result = saturate_i8(requantize(i32::from(value), multiplier));
    }
}

/// Sum and squares, two values at a time: 2 · 2³⁰ stays inside 32 bits. Streams have an even length.
fn deviation(norm: &Norm, stream: &[i16]) -> Deviation {
    let (mut sum, mut squares) = (0i32, 0u64);
    let (pairs, _) = stream.as_chunks::<2>();
    for pair in pairs {
        let [first, second] = pair.map(i32::from);
        sum += first + second;
        squares += u64::from((first * first) as u32 + (second * second) as u32);
    }
    Deviation::from_sums(norm, sum, squares)
}
