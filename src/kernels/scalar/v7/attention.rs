//! Attention for ARMv7-M: keys are rows of two columns to a word, values are bytes.

use core::arch::naked_asm;

use super::super::attention::Scan;
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

/// Eight or four lanes; `$lanes` adds one token's values, weighted, to the sums r2–r9 or r2–r5.
macro_rules! mix {
    ($name:ident, $len:literal, $lanes:expr, $store:literal) => {
        /// The weighted sums of some lanes.
        ///
        /// # Safety
        /// `row … end` are weights, an even number and not none; `values` has a byte for each lane for each of them, `stride` bytes apart.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(
            row: *const i16,
            end: *const i16,
            values: *const i8,
            stride: usize,
            sums: *mut [i32; $len],
        ) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "mov lr, r1",
                "mov r1, r2",
                "mov r12, r3",
                "movs r2, #0",
                "movs r3, #0",
                "movs r4, #0",
                "movs r5, #0",
                "movs r6, #0",
                "movs r7, #0",
                "mov r8, r2",
                "mov r9, r2",
                "2:",
                "ldrsh r10, [r0], #2",
                $lanes,
                "add r1, r12",
                "ldrsh r10, [r0], #2",
                $lanes,
                "add r1, r12",
                "cmp r0, lr",
                "bne 2b",
                "ldr r0, [sp, #36]",
                $store,
                "pop {{r4-r11, pc}}",
            )
        }
    };
}

mix!(
    mix_eight,
    8,
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
    "stm r0, {{r2-r9}}"
);

mix!(mix_four, 4, concat!(lane!("0", "r2"), lane!("1", "r3"), lane!("2", "r4"), lane!("3", "r5")), "stm r0, {{r2-r5}}");

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
