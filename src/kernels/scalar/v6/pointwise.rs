//! Depthwise convolutions for ARMv6-M.

use core::arch::naked_asm;

use super::super::depthwise::{Pair, Sweep};
use super::requantize::{nearest_byte, requantize_split, within_byte};

/// The sum r7, requantised by the multiplier at `$place` of the channel's affine (r11), cut to 8 bits and stored at the
/// offset `$offset` of the output (r12). `$rare` is where a value beyond 8 bits goes, `$back` where it returns.
macro_rules! close {
    ($place:literal, $offset:literal, $rare:literal, $back:literal) => {
        concat!(
            "mov r4, r11\n",
            "ldr r4, [r4, #",
            $place,
            "]\n",
            "uxth r1, r4\n",
            "asrs r4, r4, #16\n",
            requantize_split!("r7", "r1", "r4", "r0", "r2"),
            within_byte!($rare, $back, "r7", "r0"),
            "mov r0, r12\n",
            "strb r7, [r0, ",
            $offset,
            "]\n",
        )
    };
}

/// All channels of a depthwise convolution, two at a time.
///
/// # Safety
/// `pairs … end` is not empty, and all its taps and weights have the sweep's channels, an even number, not 0; so do affine
/// and output.
#[unsafe(naked)]
pub unsafe extern "C" fn convolve(pairs: *const Pair, end: *const Pair, sweep: *const Sweep) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "push {{r4-r7}}",
        "mov r9, r0",
        "mov r10, r1",
        "ldmia r2!, {{r3, r4, r5}}",
        "mov r11, r3",
        "mov r12, r4",
        "mov lr, r5",
        "movs r5, #0",
        "2:",
        "mov r0, r9",
        "mov r3, r11",
        "ldr r7, [r3]",
        "ldr r4, [r3, #8]",
        "mov r8, r4",
        "adds r6, r5, #1",
        "3:",
        "ldmia r0!, {{r1, r2}}",
        "ldrsb r3, [r1, r5]",
        "ldrsb r4, [r2, r5]",
        "muls r3, r4, r3",
        "adds r7, r7, r3",
        "ldrsb r3, [r1, r6]",
        "ldrsb r4, [r2, r6]",
        "muls r3, r4, r3",
        "add r8, r3",
        "cmp r0, r10",
        "bne 3b",
        close!("4", "r5", "20", "21"),
        "mov r7, r8",
        close!("12", "r6", "30", "31"),
        "mov r3, r11",
        "adds r3, #16",
        "mov r11, r3",
        "adds r5, #2",
        "cmp r5, lr",
        "bne 2b",
        "pop {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        "pop {{r4-r7, pc}}",
        nearest_byte!("20", "21", "r7", "r0"),
        nearest_byte!("30", "31", "r7", "r0"),
    )
}
