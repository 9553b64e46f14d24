//! Matrix × vectors: 8-bit activations in, 8-bit activations or sums into the residual stream out.
//!
//! `input` holds whole tokens of `columns` values, the output as many of `rows`. `bake` has proved for every row that
//! Σ|weight| · 127 + |bias| < 2²³, so that no sum of 256 times the products leaves 32 bits.

use microformer_packed::{GROUP, LANES, Layout, Linear};

use crate::arith::{requantize, saturate_i8, saturate_i16};

/// The order of weights that these kernels eat.
pub const LAYOUT: Layout = Layout::Plain;

/// `output = saturate(W · input + bias)`, 8 bits.
pub fn linear(matrix: &Linear, input: &[i8], _expanded: &mut [u32], output: &mut [i8]) {
    for_each_group(matrix, input, output, |values, results| {
        for (value, result) in values.into_iter().zip(results) {
            *result = saturate_i8(value);
        }
    });
}

/// `stream += W · input + bias`, 16 bits, saturating twice: the delta, then the sum.
pub fn linear_add(matrix: &Linear, input: &[i8], _expanded: &mut [u32], stream: &mut [i16]) {
    for_each_group(matrix, input, stream, |values, results| {
        for (value, result) in values.into_iter().zip(results) {
            *result = result.saturating_add(saturate_i16(value));
        }
    });
}

/// Requantised sums of each group of rows, for each token, with the place where they belong.
fn for_each_group<T>(matrix: &Linear, input: &[i8], output: &mut [T], mut store: impl FnMut([i32; GROUP], &mut [T])) {
    let (rows, columns) = (matrix.rows, matrix.columns);
    debug_assert_eq!(input.len() * rows, output.len() * columns, "tokens in and out");
    debug_assert_eq!(matrix.packed.len(), LAYOUT.words(rows, columns), "packed words");
    for (input, output) in input.chunks_exact(columns.max(1)).zip(output.chunks_exact_mut(rows.max(1))) {
        for (group, output) in
            matrix.packed.chunks_exact(LAYOUT.group_words(columns).max(1)).zip(output.chunks_exact_mut(GROUP))
        {
            store(group_sums(group, input), output);
        }
    }
}

/// Four rows at once: every load of four activations serves sixteen products.
#[inline]
fn group_sums(group: &[u32], input: &[i8]) -> [i32; GROUP] {
    let (biases, rest) = group.split_at(GROUP.min(group.len()));
    let (words, multipliers) = rest.split_at(rest.len().saturating_sub(GROUP));
    let mut sums = [0i32; GROUP];
    let (quads, _) = words.as_chunks::<GROUP>();
    let (inputs, _) = input.as_chunks::<LANES>();
    for (quad, activations) in quads.iter().zip(inputs) {
        for (sum, word) in sums.iter_mut().zip(quad) {
            let weights = word.to_le_bytes();
            for (weight, &activation) in weights.into_iter().zip(activations) {
                *sum += i32::from(weight as i8) * i32::from(activation);
            }
        }
    }
    for ((sum, &bias), &multiplier) in sums.iter_mut().zip(biases).zip(multipliers) {
        *sum = requantize((*sum << 8).wrapping_add(bias as i32), multiplier as i32);
    }
    sums
}
