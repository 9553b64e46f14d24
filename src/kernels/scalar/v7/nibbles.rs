//! Matrices of 4-bit weights for ARMv7-M, unpacked in the loop: `AND` and `MLA` for every two products.
//!
//! A word holds two columns of four rows, every weight with 8 added: n ≤ 15. Two products of [`super::super::linear`] are
//! then at most 2 · 15 · 127, so that eight of them fit the upper half of a sum, and only every eighth is shifted down.
//! What the weights have too much is 8·Σ x, the same for every row.

use core::arch::naked_asm;

use super::multiply::{pack_bytes, requantize_four, store_bytes, store_stream};

/// Row `$sum` of the word r10, from bit `$shift` on.
macro_rules! row {
    ($sum:literal, $shift:literal) => {
        concat!("and.w r12, lr, r10", $shift, "\n", "mla ", $sum, ", r12, r11, ", $sum, "\n")
    };
}

/// r6–r9 become 2¹⁵, which rounds.
macro_rules! begin {
    () => {
        "movw r6, #0x8000
         mov r7, r6
         mov r8, r6
         mov r9, r6"
    };
}

/// `$store` takes the requantised sums r2–r5 to the place r12, which it advances.
macro_rules! rows {
    ($name:ident, $output:ty, $store:expr) => {
        /// All rows of one token. `end` is the end of `packed`; `excess` is 8·Σ x.
        ///
        /// # Safety
        /// `columns` is a multiple of 4, not 0; `expanded` has half as many words; `packed … end` is a 4-bit matrix of
        /// whole groups of `columns` columns, not empty; `output` has a value for each row and starts on a word.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(
            expanded: *const u32,
            packed: *const u32,
            end: *const u32,
            output: *mut $output,
            columns: usize,
            excess: i32,
        ) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "ldrd r4, r5, [sp, #36]",
                "mov.w lr, #0x000f000f",
                "add r6, r0, r4, lsl #1",
                // r7: where the chain is entered first, 40 bytes for every two columns.
                "lsrs r4, r4, #1",
                "subs r4, #1",
                "and r4, r4, #7",
                "adds r4, #1",
                "movs r8, #40",
                "adr.w r7, 4f",
                "mls r7, r4, r8, r7",
                "orr r7, r7, #1",
                // The frame: expanded, end of packed, output, excess, end of expanded, entry.
                "push {{r0, r2, r3, r5-r7}}",
                "2:",
                "ldmia.w r1!, {{r2-r5}}",
                "ldr r6, [sp, #12]",
                "subs r2, r2, r6",
                "subs r3, r3, r6",
                "subs r4, r4, r6",
                "subs r5, r5, r6",
                begin!(),
                "ldr pc, [sp, #20]",
                ".p2align 2",
                "3:",
                ".rept 8",
                "ldr r10, [r1], #4",
                "ldr r11, [r0], #4",
                row!("r6", ""),
                row!("r7", ", lsr #4"),
                row!("r8", ", lsr #8"),
                row!("r9", ", lsr #12"),
                ".endr",
                "4:",
                "ldr r10, [sp, #16]",
                "add.w r2, r2, r6, asr #16",
                "add.w r3, r3, r7, asr #16",
                "add.w r4, r4, r8, asr #16",
                "add.w r5, r5, r9, asr #16",
                begin!(),
                "cmp r0, r10",
                "bne.w 3b",
                requantize_four!(),
                "ldr r12, [sp, #8]",
                $store,
                "ldrd r0, r2, [sp]",
                "str r12, [sp, #8]",
                "cmp r1, r2",
                "bne.w 2b",
                "add sp, #24",
                "pop {{r4-r11, pc}}",
            )
        }
    };
}

rows!(four_to_bytes, i8, store_bytes!());
rows!(four_to_stream, i16, store_stream!());
