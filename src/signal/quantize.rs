//! Quantisation: 16-bit features in, the model's 8-bit input out, in −127..=127.

/// Turns features into model input: `(feature · multiplier + bias + 2¹⁵) >> 16`, clamped. The model file carries both
/// numbers, so what training saw as a normalised value is one step of the model's input scale.
///
/// ```
/// use microformer::signal::Normalize;
///
/// // (feature − 400) / 4
/// let normalize = Normalize { multiplier: 65536 / 4, bias: -100 * 65536 };
/// let mut input = [0; 3];
/// normalize.apply(&[400, 410, 1000], &mut input);
/// assert_eq!(input, [0, 3, 127]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Normalize {
    /// Steps of model input per feature step, with 16 fractional bits.
    pub multiplier: i32,
    /// Model input at feature 0, with 16 fractional bits.
    pub bias: i32,
}

impl Normalize {
    /// Writes one model input per feature.
    pub fn apply(&self, features: &[u16], input: &mut [i8]) {
        for (&feature, place) in features.iter().zip(input) {
            // 2¹⁶ · 2³¹ + 2³¹ + 2¹⁵ < 2⁴⁸.
            let scaled = i64::from(feature) * i64::from(self.multiplier) + i64::from(self.bias);
            *place = ((scaled + (1 << 15)) >> 16).clamp(-127, 127) as i8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_up_and_extremes_saturate() {
        let mut input = [0; 4];
        let half = Normalize { multiplier: 32768, bias: -65536 };
        half.apply(&[0, 1, 3, 5], &mut input);
        assert_eq!(input, [-1, 0, 1, 2]);
        let steep = Normalize { multiplier: i32::MIN, bias: i32::MAX };
        steep.apply(&[0, 1, 65535], &mut input);
        assert_eq!(input, [127, 0, -127, 2]);
    }
}
