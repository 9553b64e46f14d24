//! Matrix × vectors with two products in one 32-bit multiplication.
//!
//! Two weights stand in a word as P = b₁ + 2¹⁶·b₀, two activations are expanded once to X = x₀ + 2¹⁶·x₁, and modulo 2³²
//!
//!     P·X = b₁x₀ + 2¹⁶·(b₀x₀ + b₁x₁)
//!
//! With all of them in [−127, 127] the upper half is at most 2 · 127² = 32,258 < 2¹⁵ and the lower at most 127² < 2¹⁴, so
//! (P·X + 2¹⁵) >> 16 is b₀x₀ + b₁x₁ exactly. `bake` has proved that the sums stay below 2²³. Of four columns, the first shares
//! a word with the third and the second with the fourth: with 128 added to each, masks part the bytes of a word so.

use microformer_packed::{Layout, Linear};

use super::chip::{expand_fours, to_bytes, to_stream};

/// The order of weights that these kernels eat.
pub const LAYOUT: Layout = if cfg!(armv6m) { Layout::WideInTwos } else { Layout::Wide };

/// All rows of one token: expanded activations, the matrix and its end, results, columns.
pub type Rows<T> = unsafe extern "C" fn(*const u32, *const u32, *const u32, *mut T, usize);

/// `output = saturate(W · input + bias)`, 8 bits. `expanded` holds `columns / 2` words.
pub fn linear(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [i8]) {
    run(matrix, input, expanded, output, to_bytes(matrix));
}

/// `stream += W · input + bias`, 16 bits, saturating twice: the delta, then the sum. `expanded` as for [`linear`].
pub fn linear_add(matrix: &Linear, input: &[i8], expanded: &mut [u32], stream: &mut [i16]) {
    run(matrix, input, expanded, stream, to_stream(matrix));
}

/// `multiply` is the chip's loop for this matrix.
fn run<T>(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [T], multiply: Rows<T>) {
    let (rows, columns) = (matrix.rows, matrix.columns);
    let packed = matrix.packed.as_ptr_range();
    let fits = (rows | columns | input.as_ptr().addr() | output.as_ptr().addr()).is_multiple_of(4)
        && rows.min(columns) > 0
        && matrix.packed.len() == LAYOUT.words(rows, columns)
        && expanded.len() >= columns / 2;
    debug_assert!(fits && input.len() * rows == output.len() * columns, "lengths of matrix, tokens and room");
    if !fits {
        return;
    }
    let mut one = |token: &[i8], results: &mut [T]| {
        expand(token, expanded);
        // SAFETY: `columns / 2` words are expanded, the matrix has the words of `rows` rows, `results` are as many values
        // and start on a word: all checked above and below; and the loop is one for as many columns.
        unsafe { multiply(expanded.as_ptr(), packed.start, packed.end, results.as_mut_ptr(), columns) };
    };
    // A step of a stream is one token. No iterator over pieces here: it would divide, which no Cortex-M0 can.
    if input.len() == columns && output.len() == rows {
        return one(input, output);
    }
    let mut done = 0;
    while let (Some(token), Some(results)) =
        (input.get(done * columns..(done + 1) * columns), output.get_mut(done * rows..(done + 1) * rows))
    {
        one(token, results);
        done += 1;
    }
}

/// X = x₀ + 2¹⁶·x₁ for every two activations that share a word; they come in fours and start on a word.
pub fn expand(token: &[i8], expanded: &mut [u32]) {
    let fits = (token.len() | token.as_ptr().addr()).is_multiple_of(4) && expanded.len() >= token.len() / 2;
    debug_assert!(fits, "whole words of activations, and room for them");
    if fits && !token.is_empty() {
        // SAFETY: just checked.
        unsafe { expand_fours(token.as_ptr(), expanded.as_mut_ptr(), token.len()) };
    }
}
