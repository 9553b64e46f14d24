//! Attention of one query of one head on the DSP extension, over rings in an order of its own.
//!
//! Keys stand in groups of four slots, word by word beside each other and paired like weights (see [`super::linear`]), so
//! that four scores are four rows of a matrix. Values stand in blocks of four lanes; in a block, every two slots share two
//! words, whose halfwords are `256 · odd lane + even lane` of one slot: (T, S) below.

use core::mem::MaybeUninit;

use microformer_packed::{GROUP, LANES, TOGETHER};

use super::chain::expand_three;
use super::score::{Phase, SHORT, SHORT_OF_THREE, Scan, ScanOfThree, score_long, score_short, score_three};
use super::storing::{place_key, place_value};
use super::{are_multiples_of_four, mixing, softening};
use crate::kernels::{Mixture, Scoring};

/// Puts a key into its slot of the ring, which has room for whole groups of four slots of `key.len()` values.
pub fn store_key(keys: &mut [u32], slot: usize, key: &[i8]) {
    let fits = are_multiples_of_four(&[key.len(), key.as_ptr().addr()])
        && !key.is_empty()
        && (slot / GROUP + 1) * key.len() <= keys.len();
    debug_assert!(fits, "lengths of key and ring");
    if fits {
        let place = keys.as_mut_ptr().wrapping_add(slot / GROUP * key.len() + slot % GROUP);
        // SAFETY: the ring has the slot's group, in which the words of a key are four apart; the key is whole words.
        unsafe { place_key(place, key.as_ptr(), key.len() / LANES) };
    }
}

/// Puts a value into its slot of the ring, which has room for an even number of slots of `value.len()` values.
pub fn store_value(values: &mut [u32], slot: usize, value: &[i8]) {
    let words = value.len() / LANES;
    let block = values.len().checked_div(words).unwrap_or(0);
    let fits = are_multiples_of_four(&[value.len(), value.as_ptr().addr()]) && words > 0 && slot / 2 * 2 + 2 <= block;
    debug_assert!(fits, "lengths of value and ring");
    if fits {
        let place = values.as_mut_ptr().wrapping_add(slot / 2 * 2).cast::<u16>().wrapping_add(slot % 2);
        // SAFETY: each of `words` blocks of `block` words has two words for the slot and its neighbour.
        unsafe { place_value(place, value.as_ptr(), words, block * size_of::<u32>()) };
    }
}

/// Scores of the keys in the filled slots, in steps of the exponential table: see [`crate::kernels::portable::scores`].
///
/// `expanded` holds half as many words as the query has values.
pub fn scores(query: &[i8], expanded: &mut [u32], keys: &[u32], scoring: Scoring, row: &mut [i16]) {
    let head_len = query.len();
    let groups = scoring.filled.div_ceil(GROUP);
    let fits = are_multiples_of_four(&[head_len, query.as_ptr().addr(), row.as_ptr().addr()])
        && head_len > 0
        && scoring.newest < scoring.filled
        && expanded.len() >= head_len / 2
        && groups * GROUP <= row.len()
        && groups * head_len <= keys.len();
    debug_assert!(fits, "lengths of query, ring and row");
    if !fits {
        return;
    }
    let slope = scoring.slope;
    let near = slope.wrapping_mul(scoring.newest as i32).wrapping_neg();
    // So many groups from the first on; `bias` is that of slot 0.
    let phase = |first: usize, end: usize, bias: i32| {
        let bias = bias.wrapping_add(slope.wrapping_mul((first * GROUP) as i32));
        let second = bias.wrapping_add(slope);
        let biases = [bias, second, second.wrapping_add(slope), second.wrapping_add(slope).wrapping_add(slope)];
        Phase { biases, end: row.as_ptr().wrapping_add(end * GROUP) }
    };
    let mut phases = [const { MaybeUninit::<Phase>::uninit() }; 4];
    let mut places = phases.iter_mut();
    let mut push = |phase: Phase| {
        if let Some(place) = places.next() {
            place.write(phase);
        }
    };
    let after = scoring.newest + 1;
    if after == scoring.filled || slope == 0 {
        push(phase(0, groups, near));
    } else {
        // The groups before the one in which the ring goes round, that one, the groups after it.
        let far = near.wrapping_sub(slope.wrapping_mul(scoring.filled as i32));
        let (whole, rest) = (after / GROUP, after % GROUP);
        if whole > 0 {
            push(phase(0, whole, near));
        }
        if rest > 0 {
            let (mut mixed, later) = (phase(whole, whole + 1, near), phase(whole, whole + 1, far));
            for (bias, far) in mixed.biases.iter_mut().zip(later.biases).skip(rest) {
                *bias = far;
            }
            push(mixed);
        }
        if after.div_ceil(GROUP) < groups {
            push(phase(after.div_ceil(GROUP), groups, far));
        }
    }
    push(Phase::NONE);
    let scan = Scan {
        row: row.as_mut_ptr(),
        multiplier: scoring.multiplier,
        slope: scoring.slope,
        head_len,
        phases: phases.as_ptr().cast(),
    };
    // SAFETY: checked above; the phases end where the last group of the row does, and ring and row have all groups.
    unsafe {
        if head_len <= SHORT {
            score_short(query.as_ptr(), expanded.as_mut_ptr(), keys.as_ptr(), &scan);
        } else {
            score_long(query.as_ptr(), expanded.as_mut_ptr(), keys.as_ptr(), &scan);
        }
    }
}

/// Scores of three queries, each one token after the one before, over a ring that has not gone round: see
/// [`crate::kernels::portable::scores_three`]. `expanded` holds three halves as many words as a query has values.
pub fn scores_three(queries: [&[i8]; 3], expanded: &mut [u32], keys: &[u32], scoring: Scoring, rows: &mut [i16]) {
    let head_len = queries[0].len();
    let len = rows.len() / TOGETHER;
    let groups = (scoring.newest + TOGETHER).div_ceil(GROUP);
    let [one, two, three] = queries.map(<[i8]>::as_ptr);
    let fits = are_multiples_of_four(&[one.addr(), two.addr(), three.addr(), head_len, len, rows.as_ptr().addr()])
        && queries.iter().all(|query| query.len() == head_len)
        && (1..=SHORT_OF_THREE).contains(&head_len)
        && expanded.len() >= TOGETHER * head_len / 2
        && groups * GROUP <= len
        && groups * head_len <= keys.len();
    if !fits {
        for (later, (query, row)) in queries.into_iter().zip(rows.chunks_exact_mut(len.max(1))).enumerate() {
            let newest = scoring.newest + later;
            scores(query, expanded, keys, Scoring { newest, filled: newest + 1, ..scoring }, row);
        }
        return;
    }
    // SAFETY: three queries of `head_len` bytes on words' borders, and room for their expansion.
    unsafe { expand_three(one, two, three, expanded.as_mut_ptr(), head_len) };
    let bias = scoring.slope.wrapping_mul(scoring.newest as i32).wrapping_neg();
    let row = rows.as_mut_ptr();
    let scan = ScanOfThree {
        multiplier: scoring.multiplier,
        slope: scoring.slope,
        bias,
        row_bytes: len * size_of::<i16>(),
        end: row.wrapping_add(groups * GROUP),
        head_len,
        second_keys: keys.as_ptr().wrapping_add(GROUP / 2),
        second_row: row.wrapping_add(GROUP / 2),
        second_bias: bias.wrapping_add(scoring.slope.wrapping_mul(2)),
    };
    // SAFETY: checked above; ring and rows have all groups, of which the second half begins two keys later.
    unsafe { score_three(expanded.as_ptr(), keys.as_ptr(), row, &scan) };
}

/// Scores become weights `32767 · e^(score − maximum)`, in place; returns their sum.
pub fn soften(row: &mut [i16]) -> u32 {
    let fits = are_multiples_of_four(&[row.as_ptr().addr()]);
    debug_assert!(fits, "a row starts on a word");
    if row.is_empty() || !fits {
        return 0;
    }
    // SAFETY: the row is not empty and starts on a word.
    unsafe { softening::soften(row.as_mut_ptr(), row.len()) }
}

/// The weighted sum of the values in the filled slots, in 8 bits: see [`crate::kernels::portable::mix`]. Weights behind the
/// filled slots become zero.
pub fn mix(row: &mut [i16], mixture: Mixture, values: &[u32], output: &mut [i8]) {
    let Mixture { filled, multiplier, .. } = mixture;
    let blocks = output.len() / LANES;
    let slots = values.len().checked_div(blocks).unwrap_or(0);
    let used = filled.next_multiple_of(GROUP);
    let fits = are_multiples_of_four(&[output.len(), output.as_ptr().addr(), row.as_ptr().addr()])
        && filled > 0
        && used <= row.len().min(slots)
        && slots.is_multiple_of(2);
    debug_assert!(fits, "lengths of row, ring and output");
    if !fits {
        return;
    }
    for weight in row.iter_mut().take(used).skip(filled) {
        *weight = 0;
    }
    let mut frame = mixing::Frame {
        row: row.as_ptr(),
        values: values.as_ptr(),
        end: row.as_ptr().wrapping_add(used),
        multiplier,
        block_bytes: slots * size_of::<u32>(),
        output: output.as_mut_ptr(),
        blocks,
    };
    // SAFETY: the ring has `blocks` blocks of `slots` words, of which the row needs no more than all; `output` has four
    // bytes for each block.
    unsafe { mixing::mix(&mut frame) };
}
