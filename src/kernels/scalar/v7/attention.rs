//! Attention for ARMv7-M: keys are rows of two columns to a word, values are bytes.

use core::arch::naked_asm;

use microformer_packed::LANES;

use super::super::attention::{Blend, Scan};
use super::multiply::pack_bytes;
use crate::arith::EXPONENTIAL;

/// Scores of all keys of a scan.
///
/// # Safety
/// The scan's head length is a multiple of 4 from 4 to 64; `expanded` has half as many words, `keys` as many for each score
/// of the row, which is not empty.
#[unsafe(naked)]
pub unsafe extern "C" fn score(expanded: *const u32, keys: *const u32, scan: *const Scan) {
    naked_asm!(
        "push {{r0, r4-r11, lr}}",
        "ldm r2, {{r5, r6, r9, r10, r11, r12}}",
        // r12: where the chain is entered, 24 bytes for every four columns.
        "lsl r3, r12, #1",
        "add r3, r3, r12, lsl #2",
        "adr.w r4, 4f",
        "sub r12, r4, r3",
        "orr r12, r12, #1",
        "movw lr, #0x8000",
        "movs r2, #0",
        "bx r12",
        ".p2align 2",
        ".rept 16",
        "ldmia.w r0!, {{r7, r8}}",
        "ldmia.w r1!, {{r3, r4}}",
        "mla r3, r3, r7, lr",
        "mla r4, r4, r8, lr",
        "add.w r2, r2, r3, asr #16",
        "add.w r2, r2, r4, asr #16",
        ".endr",
        "4:",
        "add r2, r5, r2, lsl #8",
        "add r5, r6",
        "smull r3, r2, r2, r9",
        "add r2, r2, r3, lsr #31",
        "ssat r2, #16, r2",
        "strh r2, [r10], #2",
        "ldr r0, [sp]",
        "cmp r10, r11",
        "beq 5f",
        "movs r2, #0",
        "bx r12",
        "5:",
        "pop {{r0, r4-r11, pc}}",
    )
}

/// Sums `$sum` += weight r10 · the value of lane `$lane`.
macro_rules! lane {
    ($lane:literal, $sum:literal) => {
        concat!("ldrsb r11, [r1, #", $lane, "]\n", "mla ", $sum, ", r10, r11, ", $sum, "\n")
    };
}

/// A sum, requantised by r10 and cut to 8 bits. Uses r11.
macro_rules! close {
    ($sum:literal) => {
        concat!(
            concat!("smull r11, ", $sum, ", ", $sum, ", r10\n"),
            concat!("add ", $sum, ", ", $sum, ", r11, lsr #31\n"),
            concat!("ssat ", $sum, ", #8, ", $sum, "\n"),
        )
    };
}

/// Eight or four lanes; `$lanes` adds one token's values, weighted, to the sums r2–r9 or r2–r5, and `$store` takes them to
/// the place r12.
macro_rules! mix {
    ($name:ident, $lanes:expr, $store:expr) => {
        /// The weighted sums of some lanes, in 8 bits.
        ///
        /// # Safety
        /// The blend's row is not empty; there is a byte of values in each lane for each weight, and of output, which
        /// starts on a word.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(blend: *const Blend) {
            naked_asm!(
                "push {{r0, r4-r11, lr}}",
                "ldm r0, {{r0, r1, r4, r12}}",
                "mov lr, r1",
                "subs r10, r1, r0",
                "mov r1, r4",
                "movs r2, #0",
                "movs r3, #0",
                "movs r4, #0",
                "movs r5, #0",
                "movs r6, #0",
                "movs r7, #0",
                "mov r8, r2",
                "mov r9, r2",
                // Two weights a turn: where their number is odd, the first turn is half a one.
                "lsls r10, r10, #30",
                "bne 3f",
                "2:",
                "ldrsh r10, [r0], #2",
                $lanes,
                "add r1, r12",
                "3:",
                "ldrsh r10, [r0], #2",
                $lanes,
                "add r1, r12",
                "cmp r0, lr",
                "bne 2b",
                "pop {{r0}}",
                "ldrd r10, r12, [r0, #16]",
                $store,
                "pop {{r4-r11, pc}}",
            )
        }
    };
}

macro_rules! store_four {
    ($first:literal, $second:literal, $third:literal, $fourth:literal) => {
        concat!(
            close!($first),
            close!($second),
            close!($third),
            close!($fourth),
            pack_bytes!($first, $second, $third, $fourth),
            concat!("str ", $first, ", [r12], #4\n"),
        )
    };
}

mix!(
    mix_eight,
    concat!(
        lane!("0", "r2"),
        lane!("1", "r3"),
        lane!("2", "r4"),
        lane!("3", "r5"),
        lane!("4", "r6"),
        lane!("5", "r7"),
        lane!("6", "r8"),
        lane!("7", "r9"),
    ),
    concat!(store_four!("r2", "r3", "r4", "r5"), store_four!("r6", "r7", "r8", "r9"))
);

mix!(
    mix_four,
    concat!(lane!("0", "r2"), lane!("1", "r3"), lane!("2", "r4"), lane!("3", "r5")),
    store_four!("r2", "r3", "r4", "r5")
);

/// The weighted sums of some of `lanes` lanes, in 8 bits; returns of how many.
///
/// # Safety
/// The blend's row is not empty; there are at least four lanes, and `lanes` bytes of values for each weight, and of output,
/// which starts on a word.
pub unsafe fn mix_lanes(blend: &Blend, lanes: usize) -> usize {
    if lanes >= 2 * LANES {
        // SAFETY: the caller's, with eight lanes.
        unsafe { mix_eight(blend) };
        2 * LANES
    } else {
        // SAFETY: the caller's.
        unsafe { mix_four(blend) };
        LANES
    }
}

/// Scores become weights, in place; returns their sum.
pub fn soften(row: &mut [i16]) -> u32 {
    // 10 bits are an index of the table, and cutting to them saturates where it ends.
    const { assert!(EXPONENTIAL.len() == 1 << 10) };
    let places = row.as_mut_ptr_range();
    // SAFETY: a row that is not empty, and the table.
    if row.is_empty() { 0 } else { unsafe { soften_all(places.start, places.end, EXPONENTIAL.as_ptr()) } }
}

/// # Safety
/// `row … end` is not empty; `table` has 2¹⁰ entries.
#[unsafe(naked)]
unsafe extern "C" fn soften_all(row: *mut i16, end: *mut i16, table: *const i16) -> u32 {
    naked_asm!(
        "push {{r4-r6, lr}}",
        // Two scores a turn; where their number is odd, the first counts twice among the maxima.
        "ldrsh r12, [r0]",
        "subs r3, r1, r0",
        "and r3, r3, #2",
        "add r3, r0",
        "cmp r3, r1",
        "beq 3f",
        "2:",
        "ldrsh r4, [r3], #2",
        "ldrsh r5, [r3], #2",
        "cmp r4, r12",
        "it gt",
        "movgt r12, r4",
        "cmp r5, r12",
        "it gt",
        "movgt r12, r5",
        "cmp r3, r1",
        "bne 2b",
        "3:",
        "movs r6, #0",
        "subs r3, r1, r0",
        "lsls r3, r3, #30",
        "bpl 4f",
        "ldrsh r4, [r0]",
        "sub r4, r12, r4",
        "usat r4, #10, r4",
        "ldrh r4, [r2, r4, lsl #1]",
        "add r6, r4",
        "strh r4, [r0], #2",
        "cmp r0, r1",
        "beq 5f",
        "4:",
        "ldrsh r4, [r0]",
        "ldrsh r5, [r0, #2]",
        "sub r4, r12, r4",
        "sub r5, r12, r5",
        "usat r4, #10, r4",
        "usat r5, #10, r5",
        "ldrh r4, [r2, r4, lsl #1]",
        "ldrh r5, [r2, r5, lsl #1]",
        "add r6, r4",
        "add r6, r5",
        "strh r4, [r0], #2",
        "strh r5, [r0], #2",
        "cmp r0, r1",
        "bne 4b",
        "5:",
        "mov r0, r6",
        "pop {{r4-r6, pc}}",
    )
}
