//! Integer attention against f64: scores, weights, their sum, the mix, and all of it together.

use host_tests::matrices::{ONE_ROUNDING, words};
use host_tests::random::Random;
use microformer::arith::{exponential::STEPS, reciprocal};
use microformer::kernels::{Mixture, Scoring, portable};
use microformer::packed::Mixing;
use proptest::prelude::*;
use reference::attention::softmax;

/// One weight, in units of 1/32767: half a unit in the table, and the table's end.
const WEIGHT_CEILING: f64 = 0.78;

/// By how much a row of up to 512 weights, once divided by its sum, may miss one.
const ROW_SUM_CEILING: f64 = 1.0 / 256.0;

/// The same for rows of up to 32 weights, where the multiplier keeps more bits.
const SHORT_ROW_SUM_CEILING: f64 = 1.0 / 2048.0;

/// All of attention at 8 bits, windows up to 64, in steps of its output: a score wrong by one step of 1/96 moves the mean
/// of −127 and 127 by 254 / 4 / 96 = 0.66, the multiplier of 11 bits by 0.06, the rounding by half a step.
const ATTENTION_CEILING: f64 = 1.25;

/// `ratio` as the kernels take it.
fn mixing(ratio: f64) -> Mixing {
    let exponent = ratio.log2().floor() as i32 + 1;
    Mixing { ratio: (ratio * f64::from(31 - exponent).exp2()) as u32, exponent }
}

fn random_row(len: usize, reach: i64, random: &mut Random) -> Vec<i16> {
    (0..len).map(|_| random.between(-reach, reach) as i16).collect()
}

fn dot(a: &[i8], b: &[i8]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

#[test]
fn weights_for_every_distance() {
    for distance in 0..=65_535u32 {
        let mut row = [i16::MAX, (i32::from(i16::MAX) - distance as i32) as i16];
        let sum = portable::soften(&mut row);
        let exact = 32767.0 * (-f64::from(distance) / f64::from(STEPS)).exp();
        assert!((f64::from(row[1]) - exact).abs() <= WEIGHT_CEILING, "distance {distance}: {}", row[1]);
        assert_eq!((row[0], sum), (32767, 32767 + row[1] as u32));
    }
}

#[test]
fn an_empty_row_has_no_weight() {
    assert_eq!(portable::soften(&mut []), 0);
}

/// Σ weight · multiplier / 2³², where the multiplier is the sum's reciprocal.
fn normalised_sum(row: &mut [i16]) -> f64 {
    let sum = portable::soften(row);
    let multiplier = reciprocal(sum, mixing(1.0));
    row.iter().map(|&weight| f64::from(weight) * f64::from(multiplier) / 32f64.exp2()).sum()
}

#[test]
fn the_longest_and_flattest_row_sums_to_one() {
    for len in 1..=512 {
        let sum = normalised_sum(&mut vec![-7; len]);
        assert!((sum - 1.0).abs() <= ROW_SUM_CEILING, "{len} equal weights sum to {sum}");
    }
}

/// The door of a ring of keys: whatever the slot, the key read is the key stored.
#[test]
fn rings_keep_each_slot_apart() {
    let mut random = Random::new(3);
    let vectors: Vec<Vec<i8>> = (0..7).map(|_| random.bytes(8)).collect();
    let mut ring = vec![0; 7 * 2];
    for slot in [3, 0, 6, 1, 5, 2, 4] {
        portable::store_key(&mut ring, slot, &vectors[slot]);
    }
    assert_eq!(ring, words(&vectors.concat()));
    portable::store_value(&mut ring, 7, &vectors[0]);
    assert_eq!(ring, words(&vectors.concat()), "a slot beyond the ring is no slot");
}

#[test]
fn the_largest_scores_that_bake_lets_pass() {
    // 256 · 127² · 512 is the longest head; with a slope, both together stay below 2³¹.
    for (head_len, slope, distance) in [(512, 0, 0), (256, 2_000_000, 511)] {
        for sign in [1i8, -1] {
            let query = vec![127; head_len];
            let keys = words(&vec![127 * sign; head_len * (distance + 1)]);
            let mut row = vec![0; distance + 1];
            let scoring = Scoring { multiplier: 1 << 14, slope, newest: distance, filled: distance + 1 };
            portable::scores(&query, &mut [], &keys, scoring, &mut row);
            let sum = 256.0 * 127.0 * 127.0 * head_len as f64 * f64::from(sign) - f64::from(slope) * distance as f64;
            let exact = sum * f64::from(1 << 14) / 32f64.exp2();
            assert!((f64::from(row[0]) - exact).abs() <= ONE_ROUNDING, "{} for {exact}", row[0]);
        }
    }
}

/// A query against a whole window; returns the mix and the exact one.
fn attend(head_len: usize, window: usize, sharpness: f64, slope: f64, random: &mut Random) -> Vec<(i8, f64)> {
    let query = random.bytes(head_len);
    let (keys, values): (Vec<_>, Vec<_>) =
        (0..window).map(|_| (random.bytes(head_len), random.bytes(head_len))).unzip();
    // One unit of q·k in natural-logarithm units.
    let unit = sharpness / (127.0 * 127.0 * head_len as f64);
    let scoring = Scoring {
        multiplier: (unit * f64::from(STEPS) / 256.0 * 32f64.exp2()).round() as i32,
        slope: (slope / unit * 256.0).round() as i32,
        newest: window - 1,
        filled: window,
    };
    let mut row = vec![0; window];
    portable::scores(&query, &mut [], &words(&keys.concat()), scoring, &mut row);
    let sum = portable::soften(&mut row);
    let mut mixed = vec![99; head_len];
    let mixture = Mixture { filled: window, sum, multiplier: reciprocal(sum, mixing(1.0)) };
    portable::mix(&mut row, mixture, &words(&values.concat()), &mut mixed);

    let score = |index: usize| unit * dot(&query, &keys[index]) - slope * (window - 1 - index) as f64;
    let weights = softmax(&(0..window).map(score).collect::<Vec<_>>());
    let exact = |lane: usize| weights.iter().zip(&values).map(|(weight, value)| weight * f64::from(value[lane])).sum();
    mixed.into_iter().enumerate().map(|(lane, came)| (came, exact(lane))).collect()
}

proptest! {
    #[test]
    fn scores_are_one_rounding(
        words_in_head in 1usize..20, keys in 1usize..40, back in 0usize..5, slope in 0i32..1 << 20, seed: u64,
    ) {
        let mut random = Random::new(seed);
        let head_len = 4 * words_in_head;
        let query = random.bytes(head_len);
        let ring: Vec<Vec<i8>> = (0..keys).map(|_| random.bytes(head_len)).collect();
        let newest = keys - 1 - back.min(keys - 1);
        let multiplier = random.between(0, 1 << 22) as i32;
        let mut row = vec![0; keys];
        let scoring = Scoring { multiplier, slope, newest, filled: keys };
        portable::scores(&query, &mut [], &words(&ring.concat()), scoring, &mut row);
        for (index, &came) in row.iter().enumerate() {
            // Slots behind the newest were filled the last time round.
            let penalty = f64::from(slope) * ((newest + keys - index) % keys) as f64;
            let sum = 256.0 * dot(&query, &ring[index]) - penalty;
            let exact = (sum * f64::from(multiplier) / 32f64.exp2()).clamp(-32768.0, 32767.0);
            prop_assert!((f64::from(came) - exact).abs() <= ONE_ROUNDING, "{came} for {exact}");
        }
    }

    #[test]
    fn rows_sum_to_one(len in 1usize..=512, reach in 0i64..2000, seed: u64) {
        let row = random_row(len, reach, &mut Random::new(seed));
        let sum = normalised_sum(&mut row.clone());
        let ceiling = if len <= 32 { SHORT_ROW_SUM_CEILING } else { ROW_SUM_CEILING };
        prop_assert!((sum - 1.0).abs() <= ceiling, "{sum}");
    }

    #[test]
    fn mixing_is_a_weighted_mean(len in 1usize..=64, words_in_head in 1usize..10, ratio in 0.3f64..4.0, seed: u64) {
        let mut random = Random::new(seed);
        let head_len = 4 * words_in_head;
        let mut row = random_row(len, 300, &mut random);
        let sum = portable::soften(&mut row);
        let values: Vec<Vec<i8>> = (0..len).map(|_| random.bytes(head_len)).collect();
        let mut mixed = vec![99; head_len];
        let multiplier = reciprocal(sum, mixing(ratio));
        portable::mix(&mut row, Mixture { filled: len, sum, multiplier }, &words(&values.concat()), &mut mixed);
        // The multiplier is a whole number: half its last place, over its size, reaches the output.
        let ceiling = ONE_ROUNDING + 127.0 * ratio * (1.0 / f64::from(multiplier) + 1.0 / 8192.0);
        for lane in 0..head_len {
            let weighted = row.iter().zip(&values).map(|(&weight, value)| f64::from(weight) * f64::from(value[lane]));
            let exact = weighted.sum::<f64>() / f64::from(sum) * ratio;
            prop_assert!((f64::from(mixed[lane]) - exact.clamp(-127.0, 127.0)).abs() <= ceiling, "{exact}");
        }
    }

    #[test]
    fn attention_from_query_to_mix(
        words_in_head in 1usize..12, window in 1usize..=64, sharpness in 0.1f64..40.0, steep: bool, seed: u64,
    ) {
        // A gentle sharpness under a steep slope leaves 32 bits, and `bake` refuses it.
        let slope = if steep { 0.01 * sharpness } else { 0.0 };
        for (came, exact) in attend(4 * words_in_head, window, sharpness, slope, &mut Random::new(seed)) {
            prop_assert!((f64::from(came) - exact).abs() <= ATTENTION_CEILING, "{came} for {exact}");
        }
    }
}
