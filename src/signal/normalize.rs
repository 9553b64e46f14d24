//! Normalisation: 16-bit features in, the model's 8-bit input out, in −127..=127.

use super::Normalize;

/// Writes one model input per feature: `(feature · multiplier + bias + 2¹⁵) >> 16`, clamped.
///
/// ```
/// use microformer::signal::{Normalize, normalize};
///
/// // (feature − 400) / 4
/// let mut input = [0; 3];
/// normalize::apply(&Normalize { affine: &[[65536 / 4, -100 * 65536]; 3] }, &[400, 410, 1000], &mut input);
/// assert_eq!(input, [0, 3, 127]);
/// ```
pub fn apply(normalize: &Normalize, features: &[u16], input: &mut [i8]) {
    for ((&feature, &[multiplier, bias]), place) in features.iter().zip(normalize.affine).zip(input) {
        // 2¹⁶ · 2³¹ + 2³¹ + 2¹⁵ < 2⁴⁸.
        let scaled = i64::from(feature) * i64::from(multiplier) + i64::from(bias);
        *place = ((scaled + (1 << 15)) >> 16).clamp(-127, 127) as i8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_up() {
        let mut input = [0; 4];
        apply(&Normalize { affine: &[[32768, -65536]; 4] }, &[0, 1, 3, 5], &mut input);
        assert_eq!(input, [-1, 0, 1, 2]);
    }

    #[test]
    fn extremes_saturate() {
        let mut input = [0; 3];
        let affine = &[[i32::MIN, i32::MAX], [i32::MIN, i32::MAX], [i32::MAX, i32::MIN]];
        apply(&Normalize { affine }, &[0, 65535, 65535], &mut input);
        assert_eq!(input, [127, -127, 127]);
    }
}
