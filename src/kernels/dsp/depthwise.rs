//! Depthwise convolution on the DSP extension: four channels at a time over all taps, at every place.

use core::mem::MaybeUninit;

use microformer_packed::{Depthwise, MAX_TAPS};

use super::are_multiples_of_four;

/// A vector of channels and its weights.
#[repr(C)]
struct Tap {
    values: *const i8,
    weights: *const i8,
}

/// What the loop needs. The order is known to the assembly.
#[repr(C)]
struct Frame {
    list: *const Tap,
    affine: *const [i32; 2],
    output: *mut i8,
    channels: usize,
    hop: usize,
    output_end: *mut i8,
    first_affine: *const [i32; 2],
    list_end: *const Tap,
}

/// `output[place][c] = saturate(Σ weight[tap][c] · taps[tap][place · hop + c] + bias[c])`: see
/// [`crate::kernels::portable::depthwise`].
pub fn depthwise(filter: &Depthwise, taps: &[&[i8]], hop: usize, output: &mut [i8]) {
    let channels = filter.channels;
    let places = output.len().checked_div(channels).unwrap_or(0);
    let reach = places.saturating_sub(1) * hop + channels;
    let fits = are_multiples_of_four(&[channels, output.as_ptr().addr()])
        && places > 0
        && places * channels == output.len()
        && filter.affine.len() >= channels
        && (1..=filter.taps.min(MAX_TAPS)).contains(&taps.len())
        && taps.len() * channels <= filter.weights.len()
        && taps.iter().all(|tap| tap.len() >= reach);
    debug_assert!(fits && taps.len() == filter.taps, "lengths of filter, taps and output");
    if !fits {
        return;
    }
    let mut list = [const { MaybeUninit::<Tap>::uninit() }; MAX_TAPS];
    let mut weights = filter.weights.as_ptr();
    for (place, tap) in list.iter_mut().zip(taps) {
        place.write(Tap { values: tap.as_ptr(), weights });
        weights = weights.wrapping_add(channels);
    }
    let list = list.as_ptr().cast::<Tap>();
    let output = output.as_mut_ptr_range();
    let frame = Frame {
        list,
        affine: filter.affine.as_ptr(),
        output: output.start,
        channels,
        hop,
        output_end: output.end,
        first_affine: filter.affine.as_ptr(),
        list_end: list.wrapping_add(taps.len()),
    };
    // SAFETY: all taps of the list are written; each has `channels` values at every place, and as many weights; affine has
    // as many entries, and the output as many values for each place, a multiple of four, at least one place.
    unsafe { filter_channels(&frame) };
}

/// # Safety
/// `channels` is a multiple of 4, not 0, as is the length of the output, which is at least as much; every tap of the list,
/// of which there is at least one, has `channels` weights, and values for each place, `hop` apart.
#[unsafe(naked)]
unsafe extern "C" fn filter_channels(frame: &Frame) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldm r0, {{r2-r9}}",
        "mov r1, r9",
        "movs r9, #0",
        // The frame: list, affine, output, channels, hop, end of the output, first affine, the place in the values.
        "push {{r2-r9}}",
        // r12: the place in weights and channels; lr: in the values.
        "mov r12, r9",
        "mov lr, r9",
        "2:",
        "ldm sp, {{r0, r6}}",
        "ldr r2, [r6]",
        "ldr r3, [r6, #8]",
        "ldr r4, [r6, #16]",
        "ldr r5, [r6, #24]",
        "3:",
        "ldrd r6, r7, [r0], #8",
        "ldr r6, [r6, lr]",
        "ldr r7, [r7, r12]",
        "cmp r0, r1",
        "sxtb16 r8, r6",
        "sxtb16 r9, r6, ror #8",
        "sxtb16 r10, r7",
        "sxtb16 r11, r7, ror #8",
        "smlabb r2, r8, r10, r2",
        "smlabb r3, r9, r11, r3",
        "smlatt r4, r8, r10, r4",
        "smlatt r5, r9, r11, r5",
        "bne 3b",
        "ldrd r6, r0, [sp, #4]",
        "ldr r7, [r6, #4]",
        "ldr r8, [r6, #12]",
        "ldr r9, [r6, #20]",
        "ldr r10, [r6, #28]",
        "mvn r11, #0",
        "smmlar r2, r2, r7, r11",
        "smmlar r3, r3, r8, r11",
        "smmlar r4, r4, r9, r11",
        "smmlar r5, r5, r10, r11",
        "ssat r2, #8, r2",
        "ssat r3, #8, r3",
        "ssat r4, #8, r4",
        "ssat r5, #8, r5",
        "bfi r2, r3, #8, #24",
        "bfi r4, r5, #8, #24",
        "pkhbt r2, r2, r4, lsl #16",
        "qsub8 r2, r2, r11",
        "adds r6, #32",
        "str r2, [r0], #4",
        "strd r6, r0, [sp, #4]",
        "add r12, #4",
        "add lr, #4",
        "ldr r4, [sp, #12]",
        "cmp r12, r4",
        "bne 2b",
        // The next place.
        "add r4, sp, #16",
        "ldm r4, {{r5-r8}}",
        "cmp r0, r6",
        "beq 4f",
        "add lr, r8, r5",
        "str lr, [sp, #28]",
        "str r7, [sp, #4]",
        "mov.w r12, #0",
        "b 2b",
        "4:",
        "add sp, #32",
        "pop {{r4-r11, pc}}",
    )
}
