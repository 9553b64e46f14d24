//! Attention of one query of one head on the DSP extension, over rings in an order of its own.
//!
//! Keys stand in groups of four slots, word by word beside each other and paired like weights (see [`super::linear`]), so
//! that four scores are four rows of a matrix. Values stand in blocks of four lanes; in a block, every two slots share two
//! words, whose halfwords are `256 · odd lane + even lane` of one slot: (T, S) below.

use bytemuck::cast_slice_mut;
use microformer_packed::{GROUP, LANES};

use super::chain::expand_three;
use super::instruction::pair;
use super::score::{SHORT, SHORT_OF_THREE, Scan, ScanOfThree, score, score_three};
use super::{are_multiples_of_four, mixing, softening};
use crate::arith::{requantize, saturate_i16};
use crate::kernels::Scoring;

/// Puts a key into its slot of the ring, which has room for whole groups of four slots of `key.len()` values.
pub fn store_key(keys: &mut [u32], slot: usize, key: &[i8]) {
    let (words, rest) = key.as_chunks::<LANES>();
    debug_assert!(rest.is_empty() && (slot / GROUP + 1) * key.len() <= keys.len());
    let group = keys.get_mut(slot / GROUP * key.len()..).unwrap_or_default();
    for (place, bytes) in group.iter_mut().skip(slot % GROUP).step_by(GROUP).zip(words) {
        *place = pair(u32::from_le_bytes(bytes.map(|byte| byte as u8)));
    }
}

/// Puts a value into its slot of the ring, which has room for an even number of slots of `value.len()` values.
pub fn store_value(values: &mut [u32], slot: usize, value: &[i8]) {
    let (words, rest) = value.as_chunks::<LANES>();
    let block = values.len() / words.len().max(1);
    debug_assert!(rest.is_empty() && slot < block);
    let halves: &mut [[u16; 2]] = cast_slice_mut(values);
    for (block, bytes) in halves.chunks_exact_mut(block.max(1)).zip(words) {
        let paired = pair(u32::from_le_bytes(bytes.map(|byte| byte as u8)));
        if let Some([first, second]) = block.get_mut(slot / 2 * 2..).and_then(|block| block.first_chunk_mut()) {
            first[slot % 2] = paired as u16;
            second[slot % 2] = (paired >> 16) as u16;
        }
    }
}

/// Scores of the keys in slots `first …`, one for each place in `row`, in steps of the exponential table.
///
/// `expanded` holds half as many words as the query has values.
pub fn scores(query: &[i8], expanded: &mut [u32], keys: &[u32], first: usize, scoring: Scoring, row: &mut [i16]) {
    let head_len = query.len();
    let end = first + row.len();
    let fits = are_multiples_of_four(&[head_len, query.as_ptr().addr()])
        && (1..=SHORT).contains(&head_len)
        && expanded.len() >= head_len / 2
        && end.next_multiple_of(GROUP) * head_len / LANES <= keys.len();
    if !fits {
        return scores_of_any(query, keys, first, scoring, row);
    }
    // Whole groups go straight into the row; a part of a group, before or after them, by way of a spare one.
    let (before, row) = row.split_at_mut((first.next_multiple_of(GROUP) - first).min(row.len()));
    let mut bias = scoring.slope.wrapping_mul(-scoring.distance);
    let mut spare = [0; GROUP];
    if !before.is_empty() {
        let offset = first % GROUP;
        let scan = Scan {
            row: core::ptr::null_mut(),
            bias: bias.wrapping_sub(scoring.slope.wrapping_mul(offset as i32)),
            end: core::ptr::null_mut(),
            multiplier: scoring.multiplier,
            slope: scoring.slope,
            head_len,
            spare: spare.as_mut_ptr(),
        };
        let keys = keys.as_ptr().wrapping_add(first / GROUP * head_len);
        // SAFETY: checked above; the ring has the group of `first`, and the spare has a group's places.
        unsafe { score(query.as_ptr(), expanded.as_mut_ptr(), keys, &scan) };
        let kept = spare.get(offset..).unwrap_or_default();
        before.iter_mut().zip(kept).for_each(|(value, &old)| *value = old);
        bias = bias.wrapping_add(scoring.slope.wrapping_mul(before.len() as i32));
    }
    if row.is_empty() {
        return;
    }
    let (whole, after) = row.split_at_mut(row.len() / GROUP * GROUP);
    let range = whole.as_mut_ptr_range();
    let scan = Scan {
        row: range.start,
        bias,
        end: range.end,
        multiplier: scoring.multiplier,
        slope: scoring.slope,
        head_len,
        spare: if after.is_empty() { core::ptr::null_mut() } else { spare.as_mut_ptr() },
    };
    let keys = keys.as_ptr().wrapping_add(first.div_ceil(GROUP) * head_len);
    // SAFETY: checked above; the ring has all groups up to `end`, and row and spare have places for them.
    unsafe { score(query.as_ptr(), expanded.as_mut_ptr(), keys, &scan) };
    // At most three, for which a copy by memcpy takes four times as long.
    if let [first, after @ ..] = after {
        *first = spare[0];
        if let [second, after @ ..] = after {
            *second = spare[1];
            if let [third, ..] = after {
                *third = spare[2];
            }
        }
    }
}

/// Scores of three queries, each one token after the one before, for the keys in slots 0 …: see
/// [`crate::kernels::portable::scores_three`]. `expanded` holds three halves as many words as a query has values.
pub fn scores_three(
    queries: [&[i8]; 3],
    expanded: &mut [u32],
    keys: &[u32],
    scoring: Scoring,
    [first, second, third]: [&mut [i16]; 3],
) {
    let head_len = queries[0].len();
    let row_bytes = second.as_ptr().addr().wrapping_sub(first.as_ptr().addr());
    let fits = queries.iter().all(|query| query.len() == head_len && are_multiples_of_four(&[query.as_ptr().addr()]))
        && are_multiples_of_four(&[head_len, first.len(), row_bytes])
        && (1..=SHORT_OF_THREE).contains(&head_len)
        && expanded.len() >= 3 * head_len / 2
        && !first.is_empty()
        && first.len() == second.len()
        && first.len() == third.len()
        && third.as_ptr().addr().wrapping_sub(second.as_ptr().addr()) == row_bytes
        && first.len() * head_len / LANES <= keys.len();
    if !fits {
        for (later, (query, row)) in (0..).zip(queries.into_iter().zip([first, second, third])) {
            scores(query, expanded, keys, 0, Scoring { distance: scoring.distance + later, ..scoring }, row);
        }
        return;
    }
    let [one, two, three] = queries.map(<[i8]>::as_ptr);
    // SAFETY: three queries of `head_len` bytes on words' borders, and room for their expansion.
    unsafe { expand_three(one, two, three, expanded.as_mut_ptr(), head_len) };
    for half in 0..GROUP / 2 {
        let range = first.as_mut_ptr_range();
        let scan = ScanOfThree {
            multiplier: scoring.multiplier,
            slope: scoring.slope,
            bias: scoring.slope.wrapping_mul(2 * half as i32 - scoring.distance),
            row_bytes,
            end: range.end.wrapping_add(2 * half),
            head_len,
        };
        let (keys, row) = (keys.as_ptr().wrapping_add(2 * half), range.start.wrapping_add(2 * half));
        // SAFETY: checked above; a half reads and writes two of every four keys, so shifting by two stays inside. The three
        // rows are distinct and `row_bytes` apart.
        unsafe { score_three(expanded.as_ptr(), keys, row, &scan) };
    }
}

/// Heads too long for the unrolled loop.
#[inline(never)]
fn scores_of_any(query: &[i8], keys: &[u32], first: usize, scoring: Scoring, row: &mut [i16]) {
    let (query, _) = query.as_chunks::<LANES>();
    let mut bias = -scoring.slope.wrapping_mul(scoring.distance);
    for (slot, score) in (first..).zip(row) {
        let group = keys.get(slot / GROUP * query.len() * GROUP..).unwrap_or_default();
        let mut sum = 0i32;
        for (&word, query) in group.iter().skip(slot % GROUP).step_by(GROUP).zip(query) {
            for (half, &[even, odd]) in [word as i16, (word >> 16) as i16].into_iter().zip(query.as_chunks::<2>().0) {
                let low = half as i8;
                let high = (i32::from(half) - i32::from(low)) >> 8;
                sum += i32::from(even) * i32::from(low) + i32::from(odd) * high;
            }
        }
        *score = saturate_i16(requantize((sum << 8).wrapping_add(bias), scoring.multiplier));
        bias = bias.wrapping_add(scoring.slope);
    }
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

/// The weighted sum of values, slots 0 …, taken to 8 bits by `multiplier`. A row of odd length counts a last weight of zero.
pub fn mix(row: &[i16], values: &[u32], multiplier: i32, output: &mut [i8]) {
    let blocks = output.len() / LANES;
    let slots = values.len() / blocks.max(1);
    let fits = are_multiples_of_four(&[output.len(), output.as_ptr().addr(), row.as_ptr().addr()])
        && blocks > 0
        && row.len() <= slots
        && slots.is_multiple_of(2);
    debug_assert!(fits, "lengths of row, ring and output");
    if !fits {
        return;
    }
    let (fours, rest) = row.as_chunks::<4>();
    let weight = |place: usize| rest.get(place).map_or(0, |&weight| u32::from(weight as u16));
    let mut frame = mixing::Frame {
        row: row.as_ptr(),
        values: values.as_ptr(),
        end: row.as_ptr().wrapping_add(fours.len() * 4),
        multiplier,
        tail: [weight(0) | weight(1) << 16, weight(2)],
        tail_pairs: rest.len().div_ceil(2),
        block_bytes: slots * size_of::<u32>(),
        output: output.as_mut_ptr(),
        blocks,
    };
    // SAFETY: the ring has `blocks` blocks of `slots` words, of which the row needs no more than all; `output` has four
    // bytes for each block.
    unsafe { mixing::mix(&mut frame) };
}
