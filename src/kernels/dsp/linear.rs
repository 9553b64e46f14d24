//! Matrix × vectors on the DSP extension: one pass over the packed words, with no index arithmetic and no second unpacking.
//!
//! Enters: tokens of `columns` activations and a matrix in [`Layout::Paired`]. Leaves: the bits of
//! [`crate::kernels::portable::linear`]. A word holds halfwords h = 256·b₁ + b₀ (all in [−127, 127]); activations are
//! expanded once to X = x₁ and Z = 256·x₀ − x₁, so that h·X + b₀·Z = 256·(b₀x₀ + b₁x₁): three instructions for four
//! products, of which only one unpacks.

use microformer_packed::{GROUP, Layout, Linear, TOGETHER};

use super::are_multiples_of_four;
use super::chain::expand_three;
use super::multiply::{SHORT, three_to_bytes, three_to_stream};
use super::multiply::{long_to_bytes, long_to_stream, short_to_bytes, short_to_stream};

/// The order of weights that these kernels eat.
pub const LAYOUT: Layout = Layout::Paired;

/// `output = saturate(W · input + bias)`, 8 bits.
///
/// `expanded` holds `columns / 2` words, and is used for up to three tokens at a time if it holds as many times more.
#[inline(always)]
pub fn linear(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [i8]) {
    debug_assert_eq!(input.len() * matrix.rows, output.len() * matrix.columns, "tokens in and out");
    run(matrix, input, expanded, output, linear_of_many, &TO_BYTES);
}

/// [`linear`] for tokens that overlap: each begins `hop` values after the one before, a multiple of 4.
pub fn linear_overlapping(matrix: &Linear, input: &[i8], hop: usize, expanded: &mut [u32], output: &mut [i8]) {
    run_many(matrix, (input, hop), expanded, output, &TO_BYTES);
}

/// `stream += W · input + bias`, 16 bits, saturating twice: the delta, then the sum. `expanded` as for [`linear`].
#[inline(always)]
pub fn linear_add(matrix: &Linear, input: &[i8], expanded: &mut [u32], stream: &mut [i16]) {
    debug_assert_eq!(input.len() * matrix.rows, stream.len() * matrix.columns, "tokens in and out");
    run(matrix, input, expanded, stream, linear_add_of_many, &TO_STREAM);
}

#[inline(never)]
fn linear_of_many(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [i8]) {
    run_many(matrix, (input, matrix.columns), expanded, output, &TO_BYTES);
}

#[inline(never)]
fn linear_add_of_many(matrix: &Linear, input: &[i8], expanded: &mut [u32], stream: &mut [i16]) {
    run_many(matrix, (input, matrix.columns), expanded, stream, &TO_STREAM);
}

const TO_BYTES: Loops<i8> = Loops { short: short_to_bytes, long: long_to_bytes, three: three_to_bytes };
const TO_STREAM: Loops<i16> = Loops { short: short_to_stream, long: long_to_stream, three: three_to_stream };

type Many<T> = fn(&Linear, &[i8], &mut [u32], &mut [T]);

type One<T> = unsafe extern "C" fn(*const u32, *const i8, usize, *mut u32, *mut T, usize);

type Three<T> = unsafe extern "C" fn(*const u32, *const u32, *const u32, *mut T, usize, usize);

/// The loops of an output type: all rows of one token, short or long, and half of the rows of three tokens.
struct Loops<T> {
    short: One<T>,
    long: One<T>,
    three: Three<T>,
}

/// What the loops demand of a matrix, and of the room and the places of its tokens.
#[inline(always)]
fn fits<T>(matrix: &Linear, input: &[i8], expanded: &[u32], output: &[T]) -> bool {
    let (rows, columns) = (matrix.rows, matrix.columns);
    are_multiples_of_four(&[rows, columns, input.as_ptr().addr(), output.as_ptr().addr()])
        && rows > 0
        && columns > 0
        && matrix.packed.len() == LAYOUT.words(rows, columns)
        && expanded.len() >= columns / 2
}

/// A step of a stream is one token: it takes the way without loops, on which everything stays in its register. One copy
/// for each door, as a shared one would cost every call the passing of its loops.
#[inline(always)]
fn run<T>(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [T], many: Many<T>, loops: &Loops<T>) {
    let (rows, columns) = (matrix.rows, matrix.columns);
    if input.len() != columns || output.len() != rows || !fits(matrix, input, expanded, output) {
        return many(matrix, input, expanded, output);
    }
    let (packed, room, place) = (matrix.packed.as_ptr(), expanded.as_mut_ptr(), output.as_mut_ptr());
    // SAFETY: a token of `columns` bytes enters, `columns / 2` words have room, the matrix has `LAYOUT.words` words,
    // `output` are `rows` values: all checked above.
    let one = |one: One<T>| unsafe { one(packed, input.as_ptr(), input.len(), room, place, output.len()) };
    if columns <= SHORT { one(loops.short) } else { one(loops.long) }
}

/// Tokens that begin `hop` values after each other.
#[inline(always)]
fn run_many<T>(
    matrix: &Linear,
    (input, hop): (&[i8], usize),
    expanded: &mut [u32],
    output: &mut [T],
    loops: &Loops<T>,
) {
    let (rows, columns) = (matrix.rows, matrix.columns);
    let fits = fits(matrix, input, expanded, output) && are_multiples_of_four(&[hop]);
    debug_assert!(fits, "lengths of matrix, tokens and room");
    if !fits {
        return;
    }
    let mut done = run_threes(matrix, (input, hop), expanded, output, loops.three);
    let one = if columns <= SHORT { loops.short } else { loops.long };
    while let (Some(token), Some(results)) =
        (input.get(done * hop..done * hop + columns), output.get_mut(done * rows..(done + 1) * rows))
    {
        let (packed, room, place) = (matrix.packed.as_ptr(), expanded.as_mut_ptr(), results.as_mut_ptr());
        // SAFETY: as in `run`, for a token that begins on a word, since `hop` and `rows` are multiples of 4.
        unsafe { one(packed, token.as_ptr(), columns, room, place, rows) };
        done += 1;
    }
}

/// Whole threes of tokens; returns how many tokens it did.
fn run_threes<T>(
    matrix: &Linear,
    (input, hop): (&[i8], usize),
    expanded: &mut [u32],
    output: &mut [T],
    three: Three<T>,
) -> usize {
    let (rows, columns) = (matrix.rows, matrix.columns);
    let packed = matrix.packed.as_ptr_range();
    let mut done = 0;
    if expanded.len() < TOGETHER * columns / 2 {
        return done;
    }
    let reach = (TOGETHER - 1) * hop + columns;
    while let (Some(tokens), Some(results)) =
        (input.get(done * hop..done * hop + reach), output.get_mut(done * rows..(done + TOGETHER) * rows))
    {
        let [first, second, third] = [0, 1, 2].map(|token| tokens.as_ptr().wrapping_add(token * hop));
        // SAFETY: three tokens of `columns` bytes enter, three times `columns / 2` words have room.
        unsafe { expand_three(first, second, third, expanded.as_mut_ptr(), columns) };
        for half in 0..GROUP / 2 {
            let first = packed.start.wrapping_add(2 * half);
            let end = packed.end.wrapping_add(2 * half);
            let results = results.as_mut_ptr().wrapping_add(2 * half);
            // SAFETY: the caller checked that the matrix has `linear_words` words; `results` are three tokens of `rows`. A
            // half reads and writes two of every four rows, so shifting all three pointers by two rows stays inside.
            unsafe { three(expanded.as_ptr(), first, end, results, columns, rows) };
        }
        done += TOGETHER;
    }
    done
}
