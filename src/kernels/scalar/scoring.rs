//! Scores of one query of one head: keys are rows of a matrix with two columns to a word (see [`super::linear`]), in twice
//! the bytes of plain ones, and stand in groups like its rows.

use core::mem::MaybeUninit;

use microformer_packed::LANES;

use super::chip::{place_key, requantize, score, score_within};
use super::linear::{LAYOUT, expand};
use crate::arith::{saturate_i16, wide};
use crate::kernels::Scoring;

/// Keys that share a group.
pub const KEYS: usize = LAYOUT.rows();

/// The longest head that the chain of [`score`] takes.
const LONGEST: usize = 64;

/// Whole groups of keys in whose order distance falls by one from key to key.
#[repr(C)]
pub struct Phase {
    /// What is added to 256 · q·k of the first keys.
    biases: [i32; KEYS],
    /// Where their scores end in the row; null behind the last phase.
    end: *const i16,
}

/// What [`score`] needs beside the keys, in the order in which it loads it.
#[repr(C)]
pub struct Scan {
    multiplier: i32,
    /// By how much a bias grows from group to group.
    step: i32,
    expanded: *const u32,
    phases: *const Phase,
    row: *mut i16,
    head_len: usize,
}

/// Puts a key into its slot of the ring, which has room for `head length / 2` words in each slot of whole groups.
pub fn store_key(keys: &mut [u32], slot: usize, key: &[i8]) {
    let words = key.len() / 2;
    let fits = (key.len() | key.as_ptr().addr()).is_multiple_of(LANES)
        && !key.is_empty()
        && (slot / KEYS + 1) * KEYS * words <= keys.len();
    debug_assert!(fits, "lengths of key and ring");
    if fits {
        let place = keys.as_mut_ptr().wrapping_add(slot / KEYS * KEYS * words + slot % KEYS);
        // SAFETY: the ring has the slot's group, in which the words of a key are `KEYS` apart; the key is whole words.
        unsafe { place_key(place, key.as_ptr(), key.len()) };
    }
}

/// Scores of the keys in the filled slots: see [`crate::kernels::portable::scores`]. `expanded` holds half as many words as
/// the query has values.
///
/// Inlined, because its arguments are many and a caller has most of them at hand: 100 instructions less a head.
#[inline(always)]
pub fn scores(query: &[i8], expanded: &mut [u32], keys: &[u32], scoring: Scoring, row: &mut [i16]) {
    let head_len = query.len();
    let Scoring { multiplier, slope, newest, filled } = scoring;
    let slots = filled.next_multiple_of(KEYS);
    let fits = (head_len | query.as_ptr().addr() | row.as_ptr().addr()).is_multiple_of(LANES)
        && (1..=LONGEST).contains(&head_len)
        && is_small(multiplier, slope)
        && expanded.len() >= head_len / 2
        && newest < filled
        && slots <= row.len()
        && slots * (head_len / 2) <= keys.len();
    if !fits {
        return scores_of_any(query, keys, scoring, row);
    }
    expand(query, expanded);
    let places = row.as_mut_ptr();
    let near = slope.wrapping_mul(newest as i32).wrapping_neg();
    // Slots from the first on, up to the end; `bias` is that of slot 0.
    let phase = |first: usize, end: usize, bias: i32| {
        let mut bias = bias.wrapping_add(slope.wrapping_mul(first as i32));
        let mut biases = [bias; KEYS];
        for place in biases.iter_mut().skip(1) {
            bias = bias.wrapping_add(slope);
            *place = bias;
        }
        Phase { biases, end: places.wrapping_add(end) }
    };
    let mut phases = [const { MaybeUninit::<Phase>::uninit() }; 4];
    let mut free = phases.iter_mut();
    let mut push = |phase: Phase| {
        if let Some(place) = free.next() {
            place.write(phase);
        }
    };
    let after = newest + 1;
    if after == filled || slope == 0 {
        push(phase(0, slots, near));
    } else {
        // The groups before the one in which the ring goes round, that one, the groups after it.
        let far = near.wrapping_sub(slope.wrapping_mul(filled as i32));
        let (whole, rest) = (after / KEYS * KEYS, after % KEYS);
        if whole > 0 {
            push(phase(0, whole, near));
        }
        if rest > 0 {
            let mut mixed = phase(whole, whole + KEYS, near);
            let later = phase(whole, whole + KEYS, far);
            for (bias, far) in mixed.biases.iter_mut().zip(later.biases).skip(rest) {
                *bias = far;
            }
            push(mixed);
        }
        let next = after.next_multiple_of(KEYS);
        if next < slots {
            push(phase(next, slots, far));
        }
    }
    push(Phase { biases: [0; KEYS], end: core::ptr::null() });
    let scan = Scan {
        multiplier,
        step: slope.wrapping_mul(KEYS as i32),
        expanded: expanded.as_ptr(),
        phases: phases.as_ptr().cast(),
        row: places,
        head_len,
    };
    let score = if stay_within(head_len, scoring) { score_within } else { score };
    // SAFETY: `head_len / 2` words are expanded; the phases end where the last group of the row does, and row and ring have
    // all groups.
    unsafe { score(&scan, keys.as_ptr()) };
}

/// Does every sum stay below 2³⁰, and the multiplier below 2²⁸? The first takes 2²² for each value of 64, and 2²⁰ for each
/// token of a distance up to 512. An M0 then has no carry between its products.
fn is_small(multiplier: i32, slope: i32) -> bool {
    !cfg!(armv6m) || (multiplier as u32 | slope.unsigned_abs() << 8) < 1 << 28 && slope.unsigned_abs() < 1 << 20
}

/// Does no score leave 16 bits, whatever query and keys are? 256 · q·k takes 256 · 127² < 2²² for each value of 64.
fn stay_within(head_len: usize, scoring: Scoring) -> bool {
    let Scoring { multiplier, slope, filled, .. } = scoring;
    let slope = slope.unsigned_abs();
    let largest = ((head_len as u32) << 22) + slope.wrapping_mul(filled as u32);
    multiplier >= 0 && slope < 1 << 20 && filled <= 512 && (wide(largest, multiplier as u32) >> 32) < i16::MAX as u64
}

/// Heads too long for the chain, and multipliers that no model has.
#[inline(never)]
fn scores_of_any(query: &[i8], keys: &[u32], scoring: Scoring, row: &mut [i16]) {
    let (query, _) = query.as_chunks::<LANES>();
    let round = scoring.slope.wrapping_mul(scoring.filled as i32);
    let mut bias = scoring.slope.wrapping_mul(scoring.newest as i32).wrapping_neg();
    for (slot, score) in row.iter_mut().take(scoring.filled).enumerate() {
        let key = keys.get(slot / KEYS * KEYS * 2 * query.len() + slot % KEYS..).unwrap_or_default();
        let pairs = query.iter().flat_map(|&[first, second, third, fourth]| [[first, third], [second, fourth]]);
        let mut sum = 0;
        for ([upper, lower], &word) in pairs.zip(key.iter().step_by(KEYS)) {
            let low = i32::from(word as i16);
            let high = ((word as i32).wrapping_sub(low)) >> 16;
            sum += i32::from(upper) * high + i32::from(lower) * low;
        }
        *score = saturate_i16(requantize((sum << 8).wrapping_add(bias), scoring.multiplier));
        bias = bias.wrapping_add(scoring.slope);
        if slot == scoring.newest {
            bias = bias.wrapping_sub(round);
        }
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
