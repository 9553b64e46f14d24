//! A matrix over tokens that overlap in memory: the places of a convolution, one `linear` for each.

use microformer_packed::Linear;

/// `output = saturate(W · input + bias)` for tokens that begin `hop` values after each other: see
/// [`super::portable::linear`].
pub fn linear_overlapping(matrix: &Linear, input: &[i8], hop: usize, expanded: &mut [u32], output: &mut [i8]) {
    for (token, results) in output.chunks_exact_mut(matrix.rows.max(1)).enumerate() {
        if let Some(token) = input.get(token * hop..token * hop + matrix.columns) {
            super::linear(matrix, token, expanded, results);
        }
    }
}
