//! LayerNorm and RMSNorm on the DSP extension: two values in each step of the sums, then eight instructions a value.

use microformer_packed::Norm;

use super::are_multiples_of_four;
use super::normalize::{Moments, Pass, moments};
use super::normalize::{left_to_bytes, left_to_stream, right_to_bytes, right_to_stream};
use crate::kernels::portable::Deviation;

/// Normalises one token to 8 bits.
pub fn norm(norm: &Norm, stream: &[i16], output: &mut [i8]) {
    let fits = stream.len() == norm.affine.len()
        && stream.len() == output.len()
        && are_multiples_of_four(&[stream.len(), stream.as_ptr().addr(), output.as_ptr().addr()]);
    debug_assert!(fits, "lengths of stream, norm and output");
    if !fits || stream.is_empty() {
        return;
    }
    let deviation = deviation_of(norm, stream);
    let pass = pass(&deviation, norm, stream.as_ptr(), output.as_mut_ptr_range());
    // SAFETY: stream, affine and output have the same length, a multiple of 4, not 0, and start on words.
    unsafe { if deviation.shift < 0 { right_to_bytes(&pass) } else { left_to_bytes(&pass) } };
}

/// Normalises one token in place, at 16 bits: for models whose norms come after the residual sums.
pub fn norm_stream(norm: &Norm, stream: &mut [i16]) {
    let fits = stream.len() == norm.affine.len() && are_multiples_of_four(&[stream.len(), stream.as_ptr().addr()]);
    debug_assert!(fits, "lengths of stream and norm");
    if !fits || stream.is_empty() {
        return;
    }
    let deviation = deviation_of(norm, stream);
    let range = stream.as_mut_ptr_range();
    let pass = pass(&deviation, norm, range.start, range);
    // SAFETY: stream and affine have the same length, a multiple of 4, not 0, and start on words; each value is read
    // before it is written.
    unsafe { if deviation.shift < 0 { right_to_stream(&pass) } else { left_to_stream(&pass) } };
}

/// The stream is not empty, starts on a word, and its length is a multiple of 4.
fn deviation_of(norm: &Norm, stream: &[i16]) -> Deviation {
    let mut sums = Moments { sum: 0, squares: 0 };
    // SAFETY: both callers have checked what is said above.
    unsafe { moments(stream.as_ptr(), stream.len(), &mut sums) };
    Deviation::from_sums(norm, sums.sum, sums.squares)
}

fn pass<T>(deviation: &Deviation, norm: &Norm, stream: *const i16, output: core::ops::Range<*mut T>) -> Pass<T> {
    Pass {
        stream,
        output: output.start,
        affine: norm.affine.as_ptr(),
        len: deviation.len,
        negative_sum: -deviation.sum,
        shift: deviation.shift.unsigned_abs().min(31),
        inverse_q31: deviation.inverse_q31,
        end: output.end,
    }
}
