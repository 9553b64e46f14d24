//! Attention for ARMv6-M: keys are rows of two columns to a word, values are bytes with 128 added, which `LDRB` reads.

use core::arch::naked_asm;

use microformer_packed::LANES;

use super::super::attention::{Blend, Scan};
use super::requantize::{nearest_byte, requantize_split, within_byte};

/// Scores of all keys of a scan.
///
/// # Safety
/// The scan's head length is a multiple of 4, not 0; `expanded` has half as many words, `keys` as many for each score of
/// the row, which is not empty.
#[unsafe(naked)]
pub unsafe extern "C" fn score(expanded: *const u32, keys: *const u32, scan: *const Scan) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "push {{r4-r6}}",
        "mov r8, r0",
        "ldmia r2!, {{r3, r4, r5, r6, r7}}",
        "ldr r2, [r2]",
        // lr: the bias. On the stack: slope, lower and upper half of the multiplier.
        "mov lr, r3",
        "mov r3, r6",
        "mov r10, r7",
        "uxth r6, r5",
        "asrs r7, r5, #16",
        "mov r5, r6",
        "mov r6, r7",
        "push {{r4-r6}}",
        "lsls r4, r2, #1",
        "adds r4, r4, r0",
        "mov r9, r4",
        // r12: where the chain is entered first, 16 bytes for every four columns.
        "lsrs r2, r2, #2",
        "subs r2, #1",
        "lsls r2, r2, #29",
        "lsrs r2, r2, #29",
        "adds r2, #1",
        "lsls r2, r2, #4",
        "adr r4, 4f",
        "subs r4, r4, r2",
        "adds r4, #1",
        "mov r12, r4",
        "mov r0, r1",
        "mov r1, r8",
        "movs r2, #0",
        "bx r12",
        ".p2align 2",
        "3:",
        ".rept 8",
        "ldmia r1!, {{r4, r5}}",
        "ldmia r0!, {{r6, r7}}",
        "muls r6, r4, r6",
        "asrs r6, r6, #16",
        "adcs r2, r2, r6",
        "muls r7, r5, r7",
        "asrs r7, r7, #16",
        "adcs r2, r2, r7",
        ".endr",
        ".p2align 2",
        "4:",
        "cmp r1, r9",
        "bne 3b",
        "lsls r2, r2, #8",
        "add r2, lr",
        "ldr r6, [sp]",
        "ldr r4, [sp, #4]",
        "ldr r5, [sp, #8]",
        "add lr, r6",
        requantize_split!("r2", "r4", "r5", "r6", "r7"),
        "sxth r6, r2",
        "cmp r6, r2",
        "bne 6f",
        "5:",
        "strh r2, [r3]",
        "adds r3, #2",
        "mov r1, r8",
        "movs r2, #0",
        "cmp r3, r10",
        "beq 7f",
        "bx r12",
        "6:",
        "asrs r2, r2, #31",
        "movs r6, #1",
        "lsls r6, r6, #15",
        "subs r6, #1",
        "eors r2, r6",
        "b 5b",
        "7:",
        "add sp, #12",
        "pop {{r4-r6}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "pop {{r4-r7, pc}}",
    )
}

/// One token: the weight at `$place` of the row with four values.
macro_rules! one_token {
    ($place:literal) => {
        concat!(
            "ldrh r6, [r0, #",
            $place,
            "]\n",
            "add r8, r6\n",
            "ldrb r7, [r1]\n",
            "muls r7, r6, r7\n",
            "adds r2, r2, r7\n",
            "ldrb r7, [r1, #1]\n",
            "muls r7, r6, r7\n",
            "adds r3, r3, r7\n",
            "ldrb r7, [r1, #2]\n",
            "muls r7, r6, r7\n",
            "adds r4, r4, r7\n",
            "ldrb r7, [r1, #3]\n",
            "muls r7, r6, r7\n",
            "adds r5, r5, r7\n",
            "add r1, r9\n",
        )
    };
}

/// One sum, requantised and cut to 8 bits; r8 and r1 are the halves of the multiplier.
macro_rules! close {
    ($sum:literal, $rare:literal, $back:literal) => {
        concat!(
            "mov r0, r8\n",
            requantize_split!($sum, "r0", "r1", "r6", "r7"),
            within_byte!($rare, $back, $sum, "r6"),
        )
    };
}

/// The weighted sums of some of `lanes` lanes, in 8 bits; returns of how many.
///
/// # Safety
/// The blend's row is not empty; there are at least four lanes, and `lanes` bytes of values for each weight, and of output.
pub unsafe fn mix_lanes(blend: &Blend, _lanes: usize) -> usize {
    // SAFETY: the caller's.
    unsafe { mix_four(blend) };
    LANES
}

/// The weighted sums of four lanes, in 8 bits.
///
/// The values are 128 too large, so 128 · Σ weight is taken away in the end; all of it modulo 2³².
///
/// # Safety
/// The blend's row is not empty; there are four bytes of values for each weight, and of output.
#[unsafe(naked)]
unsafe extern "C" fn mix_four(blend: *const Blend) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "push {{r4-r6}}",
        "ldmia r0!, {{r4-r7}}",
        "mov r10, r5",
        "mov r9, r7",
        "mov lr, r0",
        "mov r0, r4",
        "mov r1, r6",
        "subs r6, r5, r4",
        "movs r2, #0",
        "movs r3, #0",
        "movs r4, #0",
        "movs r5, #0",
        "mov r8, r2",
        // Two weights a turn: where their number is odd, the first turn is half a one.
        "lsls r6, r6, #30",
        "beq 2f",
        "subs r0, #2",
        "b 3f",
        "2:",
        one_token!("0"),
        "3:",
        one_token!("2"),
        "adds r0, #4",
        "cmp r0, r10",
        "bne 2b",
        "mov r7, r8",
        "lsls r7, r7, #7",
        "subs r2, r2, r7",
        "subs r3, r3, r7",
        "subs r4, r4, r7",
        "subs r5, r5, r7",
        "mov r0, lr",
        "ldmia r0!, {{r1, r6}}",
        "mov r9, r6",
        "uxth r6, r1",
        "mov r8, r6",
        "asrs r1, r1, #16",
        close!("r2", "20", "21"),
        close!("r3", "30", "31"),
        close!("r4", "40", "41"),
        close!("r5", "50", "51"),
        "mov r0, r9",
        "strb r2, [r0]",
        "strb r3, [r0, #1]",
        "strb r4, [r0, #2]",
        "strb r5, [r0, #3]",
        "pop {{r4-r6}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "pop {{r4-r7, pc}}",
        nearest_byte!("20", "21", "r2", "r6"),
        nearest_byte!("30", "31", "r3", "r6"),
        nearest_byte!("40", "41", "r4", "r6"),
        nearest_byte!("50", "51", "r5", "r6"),
    )
}
