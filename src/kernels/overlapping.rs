//! A matrix over tokens that overlap in memory: the places of a convolution.

use microformer_packed::Linear;

/// `output = saturate(W · input + bias)` for tokens that begin `hop` values after each other, a multiple of 4: see
/// [`super::portable::linear`]. `expanded` as for [`super::linear`].
pub fn linear_overlapping(matrix: &Linear, input: &[i8], hop: usize, expanded: &mut [u32], output: &mut [i8]) {
    #[cfg(dsp)]
    if matrix.bits == microformer_packed::Bits::Eight {
        return super::dsp::linear_overlapping(matrix, input, hop, expanded, output);
    }
    for (token, results) in output.chunks_exact_mut(matrix.rows.max(1)).enumerate() {
        if let Some(token) = input.get(token * hop..token * hop + matrix.columns) {
            super::linear(matrix, token, expanded, results);
        }
    }
}
