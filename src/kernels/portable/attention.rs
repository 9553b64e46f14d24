//! Attention of one query of one head over its rings of keys and values.
//!
//! Rings are indexed by slot, not by age: maximum and sums do not depend on the order, so a wrapped ring gives the same
//! bits as a straight one.

use bytemuck::{cast_slice, cast_slice_mut};

use crate::arith::{EXPONENTIAL, requantize, saturate_i8, saturate_i16};
use crate::kernels::Scoring;

/// Puts a key into its slot of the ring, which has `window` slots of `key.len()` values.
pub fn store_key(keys: &mut [u32], slot: usize, key: &[i8]) {
    store(keys, slot, key);
}

/// Puts a value into its slot of the ring.
pub fn store_value(values: &mut [u32], slot: usize, value: &[i8]) {
    store(values, slot, value);
}

fn store(ring: &mut [u32], slot: usize, vector: &[i8]) {
    let ring: &mut [i8] = cast_slice_mut(ring);
    if let Some(place) = ring.chunks_exact_mut(vector.len().max(1)).nth(slot) {
        place.iter_mut().zip(vector).for_each(|(value, &new)| *value = new);
    }
}

/// Scores of the keys in slots `first …`, one for each place in `row`, in steps of the exponential table.
///
/// `bake` has proved that 256 · 127² · head length + slope · window stays below 2³¹.
pub fn scores(query: &[i8], _expanded: &mut [u32], keys: &[u32], first: usize, scoring: Scoring, row: &mut [i16]) {
    let keys: &[i8] = cast_slice(keys);
    debug_assert!((first + row.len()) * query.len() <= keys.len());
    let mut bias = -scoring.slope.wrapping_mul(scoring.distance);
    for (key, score) in keys.chunks_exact(query.len().max(1)).skip(first).zip(row) {
        let mut sum = 0i32;
        for (&query, &key) in query.iter().zip(key) {
            sum += i32::from(query) * i32::from(key);
        }
        *score = saturate_i16(requantize((sum << 8).wrapping_add(bias), scoring.multiplier));
        bias = bias.wrapping_add(scoring.slope);
    }
}

/// Scores of three queries, each one token after the one before, for the keys in slots 0 …: one row for each query.
///
/// `scoring.distance` is that of slot 0 from the first query. Rows of the same length, a multiple of 4, that lie at equal
/// distances in memory are computed fastest; keys after a query are scored like any other, and not to be used.
pub fn scores_three(queries: [&[i8]; 3], expanded: &mut [u32], keys: &[u32], scoring: Scoring, rows: [&mut [i16]; 3]) {
    for (later, (query, row)) in (0..).zip(queries.into_iter().zip(rows)) {
        scores(query, expanded, keys, 0, Scoring { distance: scoring.distance + later, ..scoring }, row);
    }
}

/// Scores become weights `32767 · e^(score − maximum)`, in place; returns their sum.
///
/// At most 512 weights: the sum stays below 2²⁴.
pub fn soften(row: &mut [i16]) -> u32 {
    let maximum = row.iter().copied().max().unwrap_or(0);
    let mut sum = 0;
    for score in row {
        let distance = maximum.saturating_sub(*score) as usize;
        *score = EXPONENTIAL[distance.min(EXPONENTIAL.len() - 1)];
        sum += *score as u32;
    }
    sum
}

/// The weighted sum of values, slots 0 …, taken to 8 bits by `multiplier`: see [`crate::arith::reciprocal`].
///
/// 512 weights of 2¹⁵ times 127 stay below 2³¹. A row of odd length counts a last weight of zero.
pub fn mix(row: &[i16], values: &[u32], multiplier: i32, output: &mut [i8]) {
    let values: &[i8] = cast_slice(values);
    debug_assert!(row.len() * output.len() <= values.len());
    let len = output.len();
    for (lane, result) in output.iter_mut().enumerate() {
        let mut sum = 0i32;
        for (&weight, value) in row.iter().zip(values.chunks_exact(len)) {
            if let Some(&value) = value.get(lane) {
                sum += i32::from(weight) * i32::from(value);
            }
        }
        *result = saturate_i8(requantize(sum, multiplier));
    }
}
