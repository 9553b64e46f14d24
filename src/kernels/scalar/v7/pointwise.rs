//! Depthwise convolutions for ARMv7-M.

use core::arch::naked_asm;

use super::super::depthwise::{Pair, Sweep};
use super::multiply::pack_bytes;

/// A tap of four channels with their weights, from r10 and r11 into the sums r6–r9; `$lane` is how far they are shifted.
macro_rules! channel {
    ($sum:literal, $shift:literal) => {
        concat!("sxtb r12, r10", $shift, "\n", "sxtb r5, r11", $shift, "\n", "mla ", $sum, ", r12, r5, ", $sum, "\n",)
    };
}

/// One sum, requantised by the multiplier at `$place` and cut to 8 bits.
macro_rules! close {
    ($sum:literal, $place:literal) => {
        concat!(
            "ldr r10, [r2, #",
            $place,
            "]\n",
            "smull r10, ",
            $sum,
            ", ",
            $sum,
            ", r10\n",
            "add ",
            $sum,
            ", ",
            $sum,
            ", r10, lsr #31\n",
            "ssat ",
            $sum,
            ", #8, ",
            $sum,
            "\n",
        )
    };
}

/// All channels of a depthwise convolution, four at a time.
///
/// # Safety
/// `pairs … end` is not empty, and all its taps and weights have the sweep's channels, a multiple of 4, not 0; so do affine
/// and output. All start on words.
#[unsafe(naked)]
pub unsafe extern "C" fn convolve(pairs: *const Pair, end: *const Pair, sweep: *const Sweep) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldm r2, {{r2, r3, r4}}",
        "push {{r4}}",
        "movs r4, #0",
        "2:",
        "ldr r6, [r2]",
        "ldr r7, [r2, #8]",
        "ldr r8, [r2, #16]",
        "ldr r9, [r2, #24]",
        "mov lr, r0",
        "3:",
        "ldmia lr!, {{r10, r11}}",
        "ldr r10, [r10, r4]",
        "ldr r11, [r11, r4]",
        channel!("r6", ""),
        channel!("r7", ", ror #8"),
        channel!("r8", ", ror #16"),
        channel!("r9", ", ror #24"),
        "cmp lr, r1",
        "bne 3b",
        close!("r6", "4"),
        close!("r7", "12"),
        close!("r8", "20"),
        close!("r9", "28"),
        pack_bytes!("r6", "r7", "r8", "r9"),
        "str r6, [r3, r4]",
        "adds r2, #32",
        "adds r4, #4",
        "ldr r5, [sp]",
        "cmp r4, r5",
        "bne 2b",
        "pop {{r0}}",
        "pop {{r4-r11, pc}}",
    )
}
