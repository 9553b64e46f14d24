//! Matrix × vectors on the DSP extension: one pass over the packed words, with no index arithmetic and no second unpacking.
//!
//! Enters: tokens of `columns` activations and a matrix in [`Layout::Paired`]. Leaves: the bits of
//! [`crate::kernels::portable::linear`]. A word holds halfwords h = 256·b₁ + b₀ (all in [−127, 127]); activations are
//! expanded once to X = x₁ and Z = 256·x₀ − x₁, so that h·X + b₀·Z = 256·(b₀x₀ + b₁x₁): three instructions for four
//! products, of which only one unpacks.

use microformer_packed::{GROUP, LANES, Layout, Linear, linear_words};

use super::multiply::{one_to_bytes, one_to_stream, three_to_bytes, three_to_stream};
use super::{expand::expand, expand::expand_three, starts_on_word};

/// The order of weights that these kernels eat.
pub const LAYOUT: Layout = Layout::Paired;

/// Tokens that share one unpacking of the weights.
const TOGETHER: usize = 3;

/// `output = saturate(W · input + bias)`, 8 bits.
///
/// `expanded` holds `columns / 2` words, and is used for up to three tokens at a time if it holds as many times more.
pub fn linear(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [i8]) {
    run(matrix, input, expanded, output, Loops { one: one_to_bytes, three: three_to_bytes });
}

/// `stream += W · input + bias`, 16 bits, saturating twice: the delta, then the sum. `expanded` as for [`linear`].
pub fn linear_add(matrix: &Linear, input: &[i8], expanded: &mut [u32], stream: &mut [i16]) {
    run(matrix, input, expanded, stream, Loops { one: one_to_stream, three: three_to_stream });
}

/// The two loops of an output type: all rows of one token, and half of the rows of three tokens.
struct Loops<T> {
    one: unsafe extern "C" fn(*const u32, *const u32, *const u32, *mut T, usize),
    three: unsafe extern "C" fn(*const u32, *const u32, *const u32, *mut T, usize, usize),
}

fn run<T>(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [T], loops: Loops<T>) {
    let (rows, columns) = (matrix.rows, matrix.columns);
    let packed = matrix.packed.as_ptr_range();
    let fits = rows.is_multiple_of(GROUP)
        && columns.is_multiple_of(LANES)
        && rows.min(columns) > 0
        && matrix.packed.len() == linear_words(rows, columns)
        && expanded.len() >= columns / 2
        && starts_on_word(input)
        && starts_on_word(output);
    debug_assert!(fits && input.len() * rows == output.len() * columns, "lengths of matrix, tokens and room");
    if !fits {
        return;
    }
    let together = if expanded.len() >= TOGETHER * columns / 2 { TOGETHER } else { 1 };
    let inputs = input.chunks(together * columns);
    for (input, output) in inputs.zip(output.chunks_mut(together * rows)) {
        if input.len() == TOGETHER * columns && output.len() == TOGETHER * rows {
            // SAFETY: three tokens of `columns` bytes enter, three times `columns / 2` words have room: checked above.
            unsafe { expand_three(input.as_ptr(), columns, expanded.as_mut_ptr()) };
            for half in 0..GROUP / 2 {
                let first = packed.start.wrapping_add(2 * half);
                let end = packed.end.wrapping_add(2 * half);
                let output = output.as_mut_ptr().wrapping_add(2 * half);
                // SAFETY: the matrix has `linear_words` words, `output` three tokens of `rows`; a half reads and writes
                // two of every four rows, so shifting all three pointers by two rows stays inside.
                unsafe { (loops.three)(expanded.as_ptr(), first, end, output, columns, rows) };
            }
        } else {
            for (input, output) in input.chunks_exact(columns).zip(output.chunks_exact_mut(rows)) {
                // SAFETY: one token of `columns` bytes enters, `columns / 2` words have room: checked above.
                unsafe { expand(input.as_ptr(), expanded.as_mut_ptr(), columns) };
                // SAFETY: the matrix has `linear_words` words, `output` is one token of `rows`.
                unsafe { (loops.one)(expanded.as_ptr(), packed.start, packed.end, output.as_mut_ptr(), columns) };
            }
        }
    }
}
