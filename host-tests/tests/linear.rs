//! Matrices and depthwise filters against exact sums: one rounding, whatever the shape and however many tokens.

use host_tests::matrices::{ONE_ROUNDING, PlainMatrix, pad};
use host_tests::random::Random;
use microformer::kernels::portable;
use microformer::packed::{Depthwise, LANES};
use proptest::prelude::*;

/// Rows whose sums the kernels may form: Σ|weight| · 127 + |bias| < 2²³.
fn random_matrix(random: &mut Random, rows: usize, columns: usize, output_bits: u32) -> PlainMatrix {
    let weights: Vec<Vec<i8>> = (0..rows).map(|_| random.bytes(columns)).collect();
    let biases = weights.iter().map(|row| {
        let used: i64 = row.iter().map(|&weight| 127 * i64::from(weight).abs()).sum();
        let room = (1 << 23) - 1 - used;
        random.between(-room, room) as i32 >> random.between(0, 12)
    });
    let biases = biases.collect();
    // Typical sums come out at the size of the output; some rows saturate.
    let typical = 256.0 * 70.0 * 70.0 * (columns as f64).sqrt();
    let full = f64::from(1 << (output_bits - 1)) / typical * 2f64.powi(32);
    let multipliers = (0..rows).map(|_| (full * (1.0 + 0.8 * random.unit())) as i32).collect();
    PlainMatrix { columns, weights, biases, multipliers }
}

fn check_linear(rows: usize, columns: usize, tokens: usize, seed: u64) {
    let mut random = Random::new(seed);
    let matrix = random_matrix(&mut random, rows, columns, 8);
    let packed = matrix.pack(portable::LAYOUT);
    let inputs: Vec<Vec<i8>> = (0..tokens).map(|_| random.bytes(columns)).collect();
    let input: Vec<i8> = inputs.iter().flat_map(|token| pad(token)).collect();
    let mut output = vec![99; tokens * packed.rows];
    portable::linear(&packed.linear(), &input, &mut [], &mut output);
    for (token, output) in inputs.iter().zip(output.chunks_exact(packed.rows)) {
        for (row, &came) in output.iter().enumerate() {
            let exact = if row < rows { matrix.exact(row, token).clamp(-127.0, 127.0) } else { 0.0 };
            assert!((f64::from(came) - exact).abs() <= ONE_ROUNDING, "row {row} is {came}, exactly {exact}");
        }
    }
}

fn check_linear_add(rows: usize, columns: usize, tokens: usize, seed: u64) {
    let mut random = Random::new(seed);
    let matrix = random_matrix(&mut random, rows, columns, 16);
    let packed = matrix.pack(portable::LAYOUT);
    let inputs: Vec<Vec<i8>> = (0..tokens).map(|_| random.bytes(columns)).collect();
    let input: Vec<i8> = inputs.iter().flat_map(|token| pad(token)).collect();
    let before: Vec<i16> = (0..tokens * packed.rows).map(|_| random.between(-32768, 32767) as i16).collect();
    let mut stream = before.clone();
    portable::linear_add(&packed.linear(), &input, &mut [], &mut stream);
    for (token, input) in inputs.iter().enumerate() {
        for row in 0..packed.rows {
            let place = token * packed.rows + row;
            let delta = if row < rows { matrix.exact(row, input).clamp(-32768.0, 32767.0) } else { 0.0 };
            let exact = (f64::from(before[place]) + delta).clamp(-32768.0, 32767.0);
            let came = stream[place];
            assert!((f64::from(came) - exact).abs() <= ONE_ROUNDING, "row {row} is {came}, exactly {exact}");
        }
    }
}

#[test]
fn the_largest_sums_that_bake_lets_pass() {
    // 512 · 127 · 127 + bias = 2²³ − 1.
    for sign in [1i8, -1] {
        let bias = i32::from(sign) * ((1 << 23) - 1 - 512 * 127 * 127);
        for multiplier in [i32::MAX, -i32::MAX, 1 << 8] {
            let matrix = PlainMatrix {
                columns: 512,
                weights: vec![vec![127; 512]],
                biases: vec![bias],
                multipliers: vec![multiplier],
            };
            let packed = matrix.pack(portable::LAYOUT);
            let input = [127 * sign; 512];
            let (mut output, mut stream) = ([0i8; 4], [0i16; 4]);
            portable::linear(&packed.linear(), &input, &mut [], &mut output);
            portable::linear_add(&packed.linear(), &input, &mut [], &mut stream);
            let exact = matrix.exact(0, &input);
            assert!((f64::from(output[0]) - exact.clamp(-127.0, 127.0)).abs() <= ONE_ROUNDING);
            assert!((f64::from(stream[0]) - exact.clamp(-32768.0, 32767.0)).abs() <= ONE_ROUNDING);
        }
    }
}

#[test]
fn every_weight_times_every_activation() {
    // Multiplier 2²⁴: the product itself, to be read from the 16-bit stream.
    for weight in -127..=127i8 {
        let matrix =
            PlainMatrix { columns: 1, weights: vec![vec![weight]], biases: vec![0], multipliers: vec![1 << 24] };
        let packed = matrix.pack(portable::LAYOUT);
        for value in -127..=127i8 {
            let mut stream = [0i16; 4];
            portable::linear_add(&packed.linear(), &pad(&[value]), &mut [], &mut stream);
            assert_eq!(stream, [i16::from(weight) * i16::from(value), 0, 0, 0]);
        }
    }
}

#[test]
fn no_tokens_is_no_work() {
    let matrix = random_matrix(&mut Random::new(1), 5, 7, 8);
    portable::linear(&matrix.pack(portable::LAYOUT).linear(), &[], &mut [], &mut []);
}

fn check_depthwise(channels: usize, taps: usize, seed: u64) {
    let mut random = Random::new(seed);
    let stored = channels.next_multiple_of(LANES);
    let weights: Vec<i8> = (0..taps).flat_map(|_| pad(&random.bytes(channels))).collect();
    let full = 127.0 / (70.0 * 70.0 * (taps as f64).sqrt()) * 2f64.powi(32);
    let affine: Vec<[i32; 2]> = (0..stored)
        .map(|_| [random.between(-9000, 9000) as i32, (full * (1.0 + 0.8 * random.unit())).min(2e9) as i32])
        .collect();
    let inputs: Vec<Vec<i8>> =
        (0..taps).map(|tap| if tap % 5 == 4 { Vec::new() } else { pad(&random.bytes(channels)) }).collect();
    let views: Vec<&[i8]> = inputs.iter().map(Vec::as_slice).collect();
    let mut output = vec![99; stored];
    let filter = Depthwise { channels: stored, taps, weights: &weights, affine: &affine };
    portable::depthwise(&filter, &views, 0, &mut output);
    for channel in 0..stored {
        let mut sum = f64::from(affine[channel][0]);
        for (tap, input) in inputs.iter().enumerate().filter(|(_, input)| !input.is_empty()) {
            sum += f64::from(input[channel]) * f64::from(weights[tap * stored + channel]);
        }
        let exact = (sum * f64::from(affine[channel][1]) / 2f64.powi(32)).clamp(-127.0, 127.0);
        assert!((f64::from(output[channel]) - exact).abs() <= ONE_ROUNDING, "channel {channel}, exactly {exact}");
    }
}

proptest! {
    #[test]
    fn linear_is_one_rounding(rows in 1usize..40, columns in 1usize..160, tokens in 1usize..4, seed: u64) {
        check_linear(rows, columns, tokens, seed);
    }

    #[test]
    fn linear_add_is_one_rounding(rows in 1usize..40, columns in 1usize..160, tokens in 1usize..4, seed: u64) {
        check_linear_add(rows, columns, tokens, seed);
    }

    #[test]
    fn long_rows_too(columns in 400usize..=512, seed: u64) {
        check_linear(3, columns, 1, seed);
        check_linear_add(3, columns, 1, seed);
    }

    #[test]
    fn depthwise_is_one_rounding(channels in 1usize..70, taps in 1usize..=32, seed: u64) {
        check_depthwise(channels, taps, seed);
    }
}
