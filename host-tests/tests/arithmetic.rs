//! Scalar fixed point against f64: requantize, inverse square root, exponential, reciprocal.

use host_tests::matrices::ONE_ROUNDING;
use microformer::arith::{
    EXPONENTIAL, exponential::STEPS, inverse_sqrt_q31, reciprocal, requantize, saturate_i8, saturate_i16,
};
use microformer::packed::Mixing;
use proptest::prelude::*;

/// Relative error of [`inverse_sqrt_q31`].
const INVERSE_SQRT_CEILING: f64 = 1.0 / (1 << 22) as f64;

/// Relative error of [`reciprocal`] by its 16-bit divisor and quotient.
const RECIPROCAL_CEILING: f64 = 1.0 / (1 << 14) as f64;

/// Error of an entry of the exponential table, in units of 1/32767. The last entry stands for the end of the table.
const EXPONENTIAL_CEILING: f64 = 0.5 + 1e-9;
const EXPONENTIAL_END_CEILING: f64 = 0.78;

fn exact_product(sum: i32, multiplier: i32) -> f64 {
    f64::from(sum) * f64::from(multiplier) / 2f64.powi(32)
}

#[test]
fn requantize_of_every_byte_by_every_power_of_two() {
    for sum in -512i32..=512 {
        for exponent in 0..31 {
            for multiplier in [1i32 << exponent, -(1 << exponent), (1 << exponent) + 1, i32::MAX >> exponent] {
                // Both factors are small enough for an exact f64.
                let exact = (exact_product(sum, multiplier) + 0.5).floor();
                assert_eq!(f64::from(requantize(sum, multiplier)), exact, "{sum} · {multiplier}");
            }
        }
    }
}

#[test]
fn requantize_at_the_extremes() {
    for sum in [i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX - 1, i32::MAX] {
        for multiplier in [i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX - 1, i32::MAX] {
            let product = i128::from(sum) * i128::from(multiplier);
            let exact = (product + (1 << 31)).div_euclid(1 << 32);
            assert_eq!(i128::from(requantize(sum, multiplier)), exact);
        }
    }
}

#[test]
fn saturation_is_symmetric_in_8_bits_and_full_in_16() {
    for value in -70_000..=70_000 {
        assert_eq!(i32::from(saturate_i8(value)), value.clamp(-127, 127));
        assert_eq!(i32::from(saturate_i16(value)), value.clamp(-32768, 32767));
    }
    assert_eq!((saturate_i8(i32::MIN), saturate_i8(i32::MAX)), (-127, 127));
    assert_eq!((saturate_i16(i32::MIN), saturate_i16(i32::MAX)), (i16::MIN, i16::MAX));
}

#[test]
fn inverse_square_root_over_its_whole_range() {
    // Where one first guess gives way to the next.
    let edges = (16..64u32).flat_map(|step| [step << 26, (step << 26) + 1, (step << 26) + ((1 << 26) - 1)]);
    let mut worst = 0f64;
    for value in (1u32 << 30..=u32::MAX).step_by(997).chain(edges) {
        let exact = 2f64.powi(46) / f64::from(value).sqrt();
        worst = worst.max((f64::from(inverse_sqrt_q31(value)) / exact - 1.0).abs());
    }
    assert!(worst < INVERSE_SQRT_CEILING, "{worst:e}");
}

#[test]
fn exponential_table_entry_by_entry() {
    let exact = |index: usize| 32767.0 * (-(index as f64) / f64::from(STEPS)).exp();
    for (index, &entry) in EXPONENTIAL.iter().enumerate().take(1023) {
        assert!((f64::from(entry) - exact(index)).abs() <= EXPONENTIAL_CEILING, "entry {index} is {entry}");
    }
    assert!((f64::from(EXPONENTIAL[1023]) - exact(1023)).abs() <= EXPONENTIAL_END_CEILING);
    assert!(EXPONENTIAL.is_sorted_by(|a, b| a >= b));
}

/// The relative error of a multiplier grows where it has few bits left: one unit of its last place comes on top.
fn check_reciprocal(sum: u32, mixing: Mixing) {
    let ratio = f64::from(mixing.ratio) / 2f64.powi(31) * 2f64.powi(mixing.exponent);
    let exact = 2f64.powi(32) * ratio / f64::from(sum);
    let came = f64::from(reciprocal(sum, mixing));
    if exact < 2f64.powi(31) {
        assert!((came - exact).abs() <= exact * RECIPROCAL_CEILING + 1.0, "{sum}, {mixing:?}: {came} for {exact}");
    } else {
        assert!(came >= 2f64.powi(31) * (1.0 - RECIPROCAL_CEILING), "{sum}, {mixing:?}: {came} for {exact}");
    }
}

#[test]
fn reciprocal_of_every_kind_of_sum() {
    for mixing in [
        Mixing { ratio: 1 << 30, exponent: 1 },
        Mixing { ratio: (1 << 31) - 1, exponent: 0 },
        Mixing { ratio: 1_600_000_000, exponent: 3 },
        Mixing { ratio: 1_600_000_000, exponent: -3 },
    ] {
        // A row's sum lies between one whole weight and 512 of them.
        for sum in (32_767u32..512 * 32_767).step_by(61) {
            check_reciprocal(sum, mixing);
        }
        assert_eq!(reciprocal(0, mixing), 0);
    }
}

proptest! {
    #[test]
    fn requantize_is_one_rounding(sum: i32, multiplier: i32) {
        let error = f64::from(requantize(sum, multiplier)) - exact_product(sum, multiplier);
        prop_assert!(error.abs() <= ONE_ROUNDING, "{error}");
    }

    #[test]
    fn reciprocal_of_anything(sum in 1u32.., ratio in 1u32 << 30..1 << 31, exponent in -12i32..12) {
        check_reciprocal(sum, Mixing { ratio, exponent });
    }
}
