//! Matrix × vectors with 4-bit weights, multiplied as they lie in flash.

use microformer_packed::{Bits, FOUR_OFFSET, Linear};

use super::chip::{four_to_bytes, four_to_stream, is_large};
use super::linear::{LAYOUT, expand};

/// All rows of one token: expanded activations, the matrix and its end, results, columns, and 8 · the sum of activations.
type Rows<T> = unsafe extern "C" fn(*const u32, *const u32, *const u32, *mut T, usize, i32);

/// [`crate::kernels::linear`] with 4-bit weights. Does nothing, and returns false, where lengths are not those of a matrix.
pub fn linear_of_four(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [i8]) -> bool {
    run(matrix, input, expanded, output, four_to_bytes)
}

/// [`crate::kernels::linear_add`] with 4-bit weights, likewise.
pub fn linear_add_of_four(matrix: &Linear, input: &[i8], expanded: &mut [u32], stream: &mut [i16]) -> bool {
    run(matrix, input, expanded, stream, four_to_stream)
}

fn run<T>(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [T], multiply: Rows<T>) -> bool {
    let (rows, columns) = (matrix.rows, matrix.columns);
    let packed = matrix.packed.as_ptr_range();
    let fits = (rows | columns | input.as_ptr().addr() | output.as_ptr().addr()).is_multiple_of(4)
        && rows.min(columns) > 0
        && matrix.packed.len() == LAYOUT.stored_words(Bits::Four, rows, columns)
        && expanded.len() >= columns / 2
        && !is_large(matrix);
    if !fits {
        return false;
    }
    let mut done = 0;
    while let (Some(token), Some(results)) =
        (input.get(done * columns..(done + 1) * columns), output.get_mut(done * rows..(done + 1) * rows))
    {
        expand(token, expanded);
        let excess = i32::from(FOUR_OFFSET) * token.iter().map(|&value| i32::from(value)).sum::<i32>();
        // SAFETY: `columns / 2` words are expanded, the matrix has the words of `rows` rows, `results` are as many values
        // and start on a word: all checked above.
        unsafe { multiply(expanded.as_ptr(), packed.start, packed.end, results.as_mut_ptr(), columns, excess) };
        done += 1;
    }
    true
}
