//! From a 32-bit sum to 8 or 16 bits: one multiplication, round half up, saturate.

/// `(sum · multiplier + 2³¹) >> 32`: the product with `multiplier / 2³²`, rounded half up.
///
/// One `SMMULR` on a chip with the DSP extension. The result always fits, as |sum · multiplier| ≤ 2⁶².
///
/// ```
/// use microformer::arith::requantize;
/// assert_eq!(requantize(6, 1 << 30), 2); // 1.5 rounds up
/// assert_eq!(requantize(-3, 1 << 30), -1); // −0.75 rounds to −1
/// assert_eq!(requantize(-1, i32::MIN), 1); // 0.5 rounds up
/// ```
#[inline(always)]
#[must_use]
pub const fn requantize(sum: i32, multiplier: i32) -> i32 {
    ((sum as i64 * multiplier as i64 + (1 << 31)) >> 32) as i32
}

/// Clamps to [−127, 127]: an 8-bit activation is never −128, which the paired products of `kernels::dsp` rely on.
#[inline(always)]
#[must_use]
pub const fn saturate_i8(value: i32) -> i8 {
    if value > 127 {
        127
    } else if value < -127 {
        -127
    } else {
        value as i8
    }
}

/// Clamps to [−32768, 32767].
#[inline(always)]
#[must_use]
pub const fn saturate_i16(value: i32) -> i16 {
    if value > i16::MAX as i32 {
        i16::MAX
    } else if value < i16::MIN as i32 {
        i16::MIN
    } else {
        value as i16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_up() {
        assert_eq!(requantize(1, i32::MIN), 0);
        assert_eq!(requantize(-1, i32::MIN), 1);
        assert_eq!(requantize(5, 1 << 30), 1);
        assert_eq!(requantize(-6, 1 << 30), -1);
    }

    #[test]
    fn extremes_stay_inside() {
        assert_eq!(requantize(i32::MIN, i32::MIN), 1 << 30);
        assert_eq!(requantize(i32::MAX, i32::MIN), -(1 << 30) + 1);
        assert_eq!(saturate_i8(-128), -127);
        assert_eq!(saturate_i16(32768), 32767);
    }
}
