//! Attention of one query of one head over rings in an order of their own.
//!
//! A key is a row of a matrix with two columns to a word (see [`super::linear`]), in twice the bytes of a plain one; a value
//! is its bytes, with 128 added to each where the chip has no cheap way to load a signed byte.

use bytemuck::cast_slice_mut;
use microformer_packed::LANES;

pub use super::chip::soften;
use super::chip::{mix_lanes, requantize, score};
use super::linear::{expand, join};
use crate::arith::saturate_i16;
use crate::kernels::Scoring;

/// What a value in its ring has more than it stands for, modulo 256.
const OFFSET: u8 = if cfg!(armv6m) { 128 } else { 0 };

/// The longest head that one chain of [`score`] takes.
const LONGEST: usize = 64;

/// What [`score`] needs beside its pointers, in the order in which it loads it.
#[repr(C)]
pub struct Scan {
    bias: i32,
    slope: i32,
    multiplier: i32,
    row: *mut i16,
    end: *mut i16,
    head_len: usize,
}

/// What [`mix_lanes`] needs, in the order in which it loads it.
#[repr(C)]
pub struct Blend {
    row: *const i16,
    end: *const i16,
    values: *const i8,
    /// Bytes from one token's values to the next.
    stride: usize,
    multiplier: i32,
    output: *mut i8,
}

/// Puts a key into its slot of the ring, which has room for `head length / 2` words in each.
pub fn store_key(keys: &mut [u32], slot: usize, key: &[i8]) {
    let words = key.len() / 2;
    debug_assert!((slot + 1) * words <= keys.len());
    if let Some(place) = keys.get_mut(slot * words..) {
        for (word, &[even, odd]) in place.iter_mut().zip(key.as_chunks().0) {
            // The other way round than activations: a key takes the place of weights.
            *word = join(odd, even);
        }
    }
}

/// Puts a value into its slot of the ring.
pub fn store_value(values: &mut [u32], slot: usize, value: &[i8]) {
    let values: &mut [u8] = cast_slice_mut(values);
    debug_assert!((slot + 1) * value.len() <= values.len());
    if let Some(place) = values.get_mut(slot * value.len()..) {
        place.iter_mut().zip(value).for_each(|(place, &lane)| *place = lane as u8 ^ OFFSET);
    }
}

/// Scores of the keys in the filled slots: see [`crate::kernels::portable::scores`]. `expanded` holds half as many words as
/// the query has values.
pub fn scores(query: &[i8], expanded: &mut [u32], keys: &[u32], scoring: Scoring, row: &mut [i16]) {
    let (head_len, words) = (query.len(), query.len() / 2);
    let Scoring { newest, filled, .. } = scoring;
    let fits = (head_len | query.as_ptr().addr()).is_multiple_of(LANES)
        && head_len > 0
        && expanded.len() >= words
        && newest < filled
        && filled <= row.len()
        && filled * words <= keys.len();
    debug_assert!(fits, "lengths of query, ring and row");
    if !fits {
        return;
    }
    if head_len <= LONGEST {
        expand(query, expanded);
    }
    let (row, _) = row.split_at_mut(filled);
    let (nearer, older) = row.split_at_mut(newest + 1);
    let older_keys = keys.get((newest + 1) * words..).unwrap_or_default();
    // What is left from the last time round begins with the oldest key.
    for (keys, row, distance) in [(keys, nearer, newest), (older_keys, older, filled - 1)] {
        let bias = scoring.slope.wrapping_mul(distance as i32).wrapping_neg();
        if row.is_empty() {
            continue;
        }
        if head_len > LONGEST {
            scores_of_long(query, keys, (scoring, bias), row);
        } else {
            let places = row.as_mut_ptr_range();
            let Scoring { multiplier, slope, .. } = scoring;
            let scan = Scan { bias, slope, multiplier, row: places.start, end: places.end, head_len };
            // SAFETY: `words` words are expanded, the ring has as many for each place of the row, which is not empty.
            unsafe { score(expanded.as_ptr(), keys.as_ptr(), &scan) };
        }
    }
}

/// Heads too long for the unrolled loop.
#[inline(never)]
fn scores_of_long(query: &[i8], keys: &[u32], (scoring, mut bias): (Scoring, i32), row: &mut [i16]) {
    let (query, _) = query.as_chunks::<2>();
    for (key, score) in keys.chunks_exact(query.len().max(1)).zip(row) {
        let mut sum = 0;
        for (&[even, odd], &word) in query.iter().zip(key) {
            let low = i32::from(word as i16);
            let high = ((word as i32).wrapping_sub(low)) >> 16;
            sum += i32::from(even) * low + i32::from(odd) * high;
        }
        *score = saturate_i16(requantize((sum << 8).wrapping_add(bias), scoring.multiplier));
        bias = bias.wrapping_add(scoring.slope);
    }
}

/// Scores of three queries: see [`crate::kernels::portable::scores_three`].
pub fn scores_three(queries: [&[i8]; 3], expanded: &mut [u32], keys: &[u32], scoring: Scoring, rows: &mut [i16]) {
    let len = rows.len() / queries.len();
    for (later, (query, row)) in queries.into_iter().zip(rows.chunks_exact_mut(len.max(1))).enumerate() {
        let newest = scoring.newest + later;
        scores(query, expanded, keys, Scoring { newest, filled: newest + 1, ..scoring }, row);
    }
}

/// The weighted sum of the values in the filled slots: see [`crate::kernels::portable::mix`].
pub fn mix(row: &mut [i16], filled: usize, values: &[u32], multiplier: i32, output: &mut [i8]) {
    let row = row.get(..filled).unwrap_or_default();
    let stride = output.len();
    let fits = (stride | output.as_ptr().addr()).is_multiple_of(LANES)
        && !row.is_empty()
        && row.len() * (stride / LANES) <= values.len();
    debug_assert!(fits, "lengths of row, ring and output");
    if !fits {
        return;
    }
    let weights = row.as_ptr_range();
    let mut lane = 0;
    while lane < stride {
        let blend = Blend {
            row: weights.start,
            end: weights.end,
            values: values.as_ptr().cast::<i8>().wrapping_add(lane),
            stride,
            multiplier,
            output: output.as_mut_ptr().wrapping_add(lane),
        };
        // SAFETY: the ring has `stride` bytes for each weight of the row, of which so many are left, as of the output.
        lane += unsafe { mix_lanes(&blend, stride - lane) };
    }
}
