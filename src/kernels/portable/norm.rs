//! LayerNorm and RMSNorm of the 16-bit residual stream, in integers (docs/numerics.md derives the formats).

use microformer_packed::Norm;

use crate::arith::{inverse_sqrt_q31, requantize, saturate_i8, saturate_i16, wide};

/// Normalises one token to 8 bits.
pub fn norm(norm: &Norm, stream: &[i16], output: &mut [i8]) {
    debug_assert!(stream.len() == output.len() && stream.len() == norm.affine.len());
    let deviation = Deviation::of(norm, stream);
    for ((&value, &affine), result) in stream.iter().zip(norm.affine).zip(output) {
        *result = saturate_i8(deviation.normalize(value, affine));
    }
}

/// Normalises one token in place, at 16 bits: for models whose norms come after the residual sums.
pub fn norm_stream(norm: &Norm, stream: &mut [i16]) {
    debug_assert_eq!(stream.len(), norm.affine.len());
    let deviation = Deviation::of(norm, stream);
    for (value, &affine) in stream.iter_mut().zip(norm.affine) {
        *value = saturate_i16(deviation.normalize(*value, affine));
    }
}

/// What all values of one token share.
pub(in crate::kernels) struct Deviation {
    pub len: i32,
    /// Sum of the values; zero for RMSNorm.
    pub sum: i32,
    /// Left shift before the multiplication with the inverse root.
    pub shift: i32,
    pub inverse_q31: i32,
}

impl Deviation {
    fn of(norm: &Norm, stream: &[i16]) -> Self {
        // 512 values of 2¹⁵: the sum stays below 2²⁴, the sum of squares below 2³⁹, 512 times that below 2⁴⁸.
        let mut sum = 0i32;
        let mut squares = 0u64;
        for &value in stream {
            let value = i32::from(value);
            sum += value;
            squares += u64::from((value * value) as u32);
        }
        Self::from_sums(norm, sum, squares)
    }

    pub fn from_sums(norm: &Norm, sum: i32, squares: u64) -> Self {
        let sum = if norm.centred { sum } else { 0 };
        // n · Q of 48 bits from the halves of Q; |S|² as S².
        let scaled =
            wide(norm.len as u32, squares as u32) + (u64::from(norm.len as u32 * (squares >> 32) as u32) << 32);
        let variance = scaled - wide(sum.unsigned_abs(), sum.unsigned_abs()) + norm.epsilon;
        // An even shift, so that the root's exponent is whole.
        let zeros = leading_zeros(variance) & !1;
        let mantissa = (variance.unbounded_shl(zeros) >> 32) as u32;
        Self {
            len: norm.len as i32,
            sum,
            shift: norm.fraction_bits as i32 - 30 + (zeros / 2) as i32,
            inverse_q31: if variance == 0 { 0 } else { inverse_sqrt_q31(mantissa) },
        }
    }

    /// The value's deviation over the standard deviation, times its gain, plus its bias, in the output's scale.
    #[inline]
    fn normalize(&self, value: i16, [multiplier, bias]: [i32; 2]) -> i32 {
        (requantize(requantize(self.scale(value), self.inverse_q31), multiplier).wrapping_add(bias)) >> 8
    }

    /// Is [`Self::scale`] a shift to the left? It is wherever ε is no larger than the squares of a stream can be: with n
    /// values, v < n²·2³⁰ has at least 33 − 2·log₂(n) zeros, and 28 − log₂(n)/2 fraction bits are fewer than 14 too few.
    #[cfg(scalar)]
    pub fn is_left(&self) -> bool {
        (0..32).contains(&self.shift)
    }

    /// The value's deviation, ready for the multiplication with the inverse root.
    #[inline(always)]
    pub fn scale(&self, value: i16) -> i32 {
        let deviation = self.len * i32::from(value) - self.sum;
        if self.shift < 0 { deviation >> self.shift.unsigned_abs().min(31) } else { deviation << self.shift.min(31) }
    }
}

/// Of the half that counts: a chip that must compute them would do so for both.
fn leading_zeros(value: u64) -> u32 {
    match (value >> 32) as u32 {
        0 => 32 + (value as u32).leading_zeros(),
        upper => upper.leading_zeros(),
    }
}
