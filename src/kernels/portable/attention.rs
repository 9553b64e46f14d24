//! Attention of one query of one head over its rings of keys and values.
//!
//! Rings are indexed by slot, not by age: maximum and sums do not depend on the order, so a wrapped ring gives the same
//! bits as a straight one.

use bytemuck::{cast_slice, cast_slice_mut};

use crate::arith::{EXPONENTIAL, requantize, saturate_i8, saturate_i16};
use crate::kernels::{Mixture, Scoring};

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

/// Scores of the keys in the filled slots, in steps of the exponential table.
///
/// `row` has room for whole groups of four; what it holds behind the filled slots is not to be used. `bake` has proved
/// that 256 · 127² · head length + slope · window stays below 2³¹.
pub fn scores(query: &[i8], _expanded: &mut [u32], keys: &[u32], scoring: Scoring, row: &mut [i16]) {
    let keys: &[i8] = cast_slice(keys);
    debug_assert!(scoring.filled * query.len() <= keys.len() && scoring.filled <= row.len());
    let round = scoring.slope.wrapping_mul(scoring.filled as i32);
    let mut bias = scoring.slope.wrapping_mul(scoring.newest as i32).wrapping_neg();
    for (slot, (key, score)) in keys.chunks_exact(query.len().max(1)).zip(row).take(scoring.filled).enumerate() {
        let mut sum = 0i32;
        for (&query, &key) in query.iter().zip(key) {
            sum += i32::from(query) * i32::from(key);
        }
        *score = saturate_i16(requantize((sum << 8).wrapping_add(bias), scoring.multiplier));
        bias = bias.wrapping_add(scoring.slope);
        if slot == scoring.newest {
            bias = bias.wrapping_sub(round);
        }
    }
}

/// Scores of three queries, each one token after the one before, over a ring that has not gone round: three rows of equal
/// length, one behind the other in `rows`, each as [`scores`] leaves it.
///
/// The keys of all three are stored; `scoring` is that of the first query.
pub fn scores_three(queries: [&[i8]; 3], expanded: &mut [u32], keys: &[u32], scoring: Scoring, rows: &mut [i16]) {
    let len = rows.len() / queries.len();
    for (later, (query, row)) in queries.into_iter().zip(rows.chunks_exact_mut(len.max(1))).enumerate() {
        let newest = scoring.newest + later;
        scores(query, expanded, keys, Scoring { newest, filled: newest + 1, ..scoring }, row);
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

/// The weighted sum of the values in the filled slots, in 8 bits.
///
/// 512 weights of 2¹⁵ times 127 stay below 2³¹. `row` has room for whole groups of four, of which what lies behind the
/// filled slots is lost.
pub fn mix(row: &mut [i16], mixture: Mixture, values: &[u32], output: &mut [i8]) {
    let Mixture { filled, multiplier, .. } = mixture;
    let values: &[i8] = cast_slice(values);
    let row = row.get(..filled).unwrap_or_default();
    debug_assert!(filled == row.len() && filled * output.len() <= values.len());
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
