//! Depthwise convolution on the DSP extension: four channels at a time over all taps.

use microformer_packed::{Depthwise, MAX_TAPS};

use super::are_multiples_of_four;

/// A vector of channels and its weights.
#[derive(Clone, Copy)]
#[repr(C)]
struct Tap {
    values: *const i8,
    weights: *const i8,
}

/// `output[c] = saturate(Σ weight[tap][c] · taps[tap][c] + bias[c])`. A tap shorter than the rest counts as zeros.
pub fn depthwise(filter: &Depthwise, taps: &[&[i8]], output: &mut [i8]) {
    let channels = output.len();
    let fits = are_multiples_of_four(&[channels, output.as_ptr().addr()])
        && filter.channels == channels
        && filter.affine.len() >= channels
        && taps.len() <= filter.taps.min(MAX_TAPS);
    debug_assert!(fits && taps.len() == filter.taps, "lengths of filter, taps and output");
    if !fits || channels == 0 {
        return;
    }
    let mut list = [Tap { values: core::ptr::null(), weights: core::ptr::null() }; MAX_TAPS];
    let mut len = 0;
    for (tap, weights) in taps.iter().zip(filter.weights.chunks_exact(channels)) {
        if tap.len() == channels
            && let Some(place) = list.get_mut(len)
        {
            *place = Tap { values: tap.as_ptr(), weights: weights.as_ptr() };
            len += 1;
        }
    }
    let list = list.get(..len).unwrap_or_default().as_ptr_range();
    let results = output.as_mut_ptr();
    // SAFETY: every listed tap has `channels` values and weights, a multiple of four, as have affine and output.
    unsafe { filter_channels(list.start, list.end, filter.affine.as_ptr(), results, channels) };
}

/// # Safety
/// `channels` is a multiple of 4, not 0; the taps `list … end`, `affine` and `output` have as many values.
#[unsafe(naked)]
unsafe extern "C" fn filter_channels(
    list: *const Tap,
    end: *const Tap,
    affine: *const [i32; 2],
    output: *mut i8,
    channels: usize,
) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldr r12, [sp, #36]",
        // The frame: list, affine, output, channels. lr counts the channels that are done.
        "push {{r0, r2, r3, r12}}",
        "mov.w lr, #0",
        "2:",
        "ldm sp, {{r0, r12}}",
        "ldr r2, [r12]",
        "ldr r3, [r12, #8]",
        "ldr r4, [r12, #16]",
        "ldr r5, [r12, #24]",
        "cmp r0, r1",
        "beq 4f",
        "3:",
        "ldrd r6, r7, [r0], #8",
        "ldr r6, [r6, lr]",
        "ldr r7, [r7, lr]",
        "sxtb16 r8, r6",
        "sxtb16 r9, r6, ror #8",
        "sxtb16 r10, r7",
        "sxtb16 r11, r7, ror #8",
        "cmp r0, r1",
        "smlabb r2, r8, r10, r2",
        "smlabb r3, r9, r11, r3",
        "smlatt r4, r8, r10, r4",
        "smlatt r5, r9, r11, r5",
        "bne 3b",
        "4:",
        "ldr r6, [r12, #4]",
        "ldr r7, [r12, #12]",
        "ldr r8, [r12, #20]",
        "ldr r9, [r12, #28]",
        "mvn r10, #0",
        "smmlar r2, r2, r6, r10",
        "smmlar r3, r3, r7, r10",
        "smmlar r4, r4, r8, r10",
        "smmlar r5, r5, r9, r10",
        "ssat r2, #8, r2",
        "ssat r3, #8, r3",
        "ssat r4, #8, r4",
        "ssat r5, #8, r5",
        "bfi r2, r3, #8, #24",
        "bfi r4, r5, #8, #24",
        "pkhbt r2, r2, r4, lsl #16",
        "qsub8 r2, r2, r10",
        "ldrd r3, r4, [sp, #8]",
        "str r2, [r3, lr]",
        "add r12, #32",
        "str r12, [sp, #4]",
        "add lr, #4",
        "cmp lr, r4",
        "bne 2b",
        "add sp, #16",
        "pop {{r4-r11, pc}}",
    )
}
