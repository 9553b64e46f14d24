//! The weighted sum of the values of one head, and how these lie in their ring: bytes with 128 added, so that none is
//! negative. What that adds to a sum is 128 · Σ weight, which the sums begin without.
//!
//! On a Cortex-M3 eight lanes stand together, slot behind slot, so that the loop walks through them; the last lanes of a
//! head may be four. On a Cortex-M0 a slot is all lanes.

use microformer_packed::LANES;

use super::chip::{mix_eights, mix_four, place_value};
use crate::kernels::Mixture;

/// Lanes that the loops take at once.
const EIGHT: usize = 2 * LANES;

/// What four values have more in their ring than they stand for, as a flip of bits.
pub const OFFSETS: u32 = 0x8080_8080;

/// What the loops need, in the order in which they load it.
#[repr(C)]
pub struct Blend {
    row: *const i16,
    end: *const i16,
    values: *const u32,
    /// Bytes from one token's values to the next.
    stride: usize,
    /// What every sum begins with.
    start: i32,
    multiplier: i32,
    output: *mut i8,
    /// Bytes from where the loop leaves the values of eight lanes to where the next eight begin, modulo 2³².
    gap: usize,
    /// How many times eight lanes there are.
    eights: usize,
    /// Not 0 where a sum may reach 2³⁰ or the multiplier 2²⁸, which concerns an M0's requantising.
    large: u32,
}

/// Puts a value into its slot of the ring.
pub fn store_value(values: &mut [u32], slot: usize, value: &[i8]) {
    let (head_len, bytes) = (value.len(), values.len() * LANES);
    let fits = (head_len | value.as_ptr().addr()).is_multiple_of(LANES) && (slot + 1) * head_len <= bytes;
    debug_assert!(fits, "lengths of value and ring");
    if !fits {
        return;
    }
    let (slots, eights) = (slots(bytes, head_len), head_len / EIGHT);
    let (stride, leap) = if cfg!(armv6m) { (head_len, EIGHT) } else { (EIGHT, slots * EIGHT) };
    if eights > 0 {
        let place = values.as_mut_ptr().wrapping_byte_add(slot * stride);
        // SAFETY: on a Cortex-M0 the slot has as many bytes as the value; on others the ring has `leap` bytes for every
        // eight lanes, of which eight are the slot's.
        unsafe { place_value(place, value.as_ptr().cast(), eights, leap) };
    }
    if !head_len.is_multiple_of(EIGHT) {
        let lane = eights * EIGHT;
        let byte = if cfg!(armv6m) { slot * head_len + lane } else { lane * slots + slot * LANES };
        if let (Some(place), Some(&four)) = (values.get_mut(byte / LANES), value.last_chunk::<LANES>()) {
            *place = u32::from_le_bytes(four.map(|lane| lane as u8)) ^ OFFSETS;
        }
    }
}

/// Slots of a ring of so many bytes. A Cortex-M0 cannot divide, and needs not know.
fn slots(bytes: usize, head_len: usize) -> usize {
    if cfg!(armv6m) { 0 } else { bytes.checked_div(head_len).unwrap_or(0) }
}

/// The weighted sum of the values in the filled slots: see [`crate::kernels::portable::mix`].
pub fn mix(row: &mut [i16], mixture: Mixture, values: &[u32], output: &mut [i8]) {
    let Mixture { filled, sum, multiplier } = mixture;
    let head_len = output.len();
    let row = row.get(..filled).unwrap_or_default();
    let fits = (head_len | output.as_ptr().addr()).is_multiple_of(LANES)
        && !row.is_empty()
        && row.len() * (head_len / LANES) <= values.len();
    debug_assert!(fits, "lengths of row, ring and output");
    if !fits {
        return;
    }
    let (slots, eights) = (slots(values.len() * LANES, head_len), head_len / EIGHT);
    let (stride, gap) = if cfg!(armv6m) {
        (head_len, EIGHT.wrapping_sub(filled * head_len))
    } else {
        (EIGHT, (slots - filled) * EIGHT)
    };
    let weights = row.as_ptr_range();
    let mut blend = Blend {
        row: weights.start,
        end: weights.end,
        values: values.as_ptr(),
        stride,
        start: (sum << 7).wrapping_neg() as i32,
        multiplier,
        output: output.as_mut_ptr(),
        gap,
        eights,
        // A sum is at most 128 · Σ weight.
        large: if cfg!(armv6m) { (sum >> 23) | (multiplier as u32 >> 28) } else { 0 },
    };
    if eights > 0 {
        // SAFETY: the ring has `head_len` bytes for each weight of the row, as [`store_value`] places them.
        unsafe { mix_eights(&blend) };
    }
    if !head_len.is_multiple_of(EIGHT) {
        let lane = eights * EIGHT;
        blend.values = blend.values.wrapping_byte_add(if cfg!(armv6m) { lane } else { lane * slots });
        blend.output = blend.output.wrapping_add(lane);
        // SAFETY: likewise, with the last four lanes.
        unsafe { mix_four(&blend) };
    }
}
