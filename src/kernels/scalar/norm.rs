//! LayerNorm and RMSNorm, and the plain return to 8 bits: [`crate::kernels::portable`] with the chip's multiplication.

use microformer_packed::Norm;

use super::chip::{Walk, normalize_stream, normalize_to_bytes, requantize, sums};
use crate::arith::saturate_i8;
use crate::kernels::portable::{self, Deviation};

/// Normalises one token to 8 bits.
pub fn norm(norm: &Norm, stream: &[i16], output: &mut [i8]) {
    debug_assert!(stream.len() == output.len() && stream.len() == norm.affine.len());
    match deviation(norm, stream) {
        Some(deviation) if stream.len() == output.len() && output.as_ptr().addr().is_multiple_of(4) => {
            let walk = Walk::new(&deviation, norm.affine, stream, output.as_mut_ptr().cast());
            // SAFETY: equal lengths, a multiple of 4, on words' borders.
            unsafe { normalize_to_bytes(&walk) };
        }
        _ => portable::norm(norm, stream, output),
    }
}

/// Normalises one token in place, at 16 bits.
pub fn norm_stream(norm: &Norm, stream: &mut [i16]) {
    debug_assert_eq!(stream.len(), norm.affine.len());
    match deviation(norm, stream) {
        Some(deviation) => {
            let output = stream.as_mut_ptr().cast();
            let walk = Walk::new(&deviation, norm.affine, stream, output);
            // SAFETY: equal lengths, a multiple of 4, on words' borders; a value is read before its place is written.
            unsafe { normalize_stream(&walk) };
        }
        None => portable::norm_stream(norm, stream),
    }
}

/// The residual stream in 8 bits.
pub fn rescale(multiplier: i32, stream: &[i16], output: &mut [i8]) {
    debug_assert_eq!(stream.len(), output.len());
    for (&value, result) in stream.iter().zip(output) {
        *result = saturate_i8(requantize(i32::from(value), multiplier));
    }
}

/// What the values of a token share; none where the loops of the chip cannot take it: they want fours of values on words'
/// borders, and a deviation that is not shifted to the right.
fn deviation(norm: &Norm, stream: &[i16]) -> Option<Deviation> {
    let (len, address) = (stream.len(), stream.as_ptr().addr());
    if len == 0 || len != norm.affine.len() || !(len | address).is_multiple_of(4) {
        return None;
    }
    let (sum, squares) = sums(stream);
    Some(Deviation::from_sums(norm, sum, squares)).filter(Deviation::is_left)
}
