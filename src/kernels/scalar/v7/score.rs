//! Four keys at a time against the expanded query, like four rows of a matrix, for ARMv7-M.

use core::arch::naked_asm;

use super::super::scoring::Scan;
use super::multiply::two_columns;

/// Puts the `len` values of a key to every fourth word from `place` on: like weights, with the halves of activations' words
/// in the other order.
///
/// # Safety
/// `len` is a multiple of 4, not 0; `key` has as many bytes and starts on a word; half as many words are the key's.
#[unsafe(naked)]
pub unsafe extern "C" fn place_key(place: *mut u32, key: *const i8, len: usize) {
    naked_asm!(
        "push {{r4, lr}}",
        "mov r12, #0x00ff00ff",
        "2:",
        "ldr r3, [r1], #4",
        "subs r2, #4",
        "eor r3, r3, #0x80808080",
        "and r4, r12, r3, ror #16",
        "and r3, r12, r3, ror #24",
        "sub r4, r4, #0x00800080",
        "sub r3, r3, #0x00800080",
        "str r3, [r0, #16]",
        "str r4, [r0], #32",
        "bne 2b",
        "pop {{r4, pc}}",
    )
}

/// `$cut` takes the four scores r2–r5 into 16 bits.
macro_rules! score {
    ($name:ident, $cut:literal) => {
        /// Scores of all keys of a scan.
        ///
        /// # Safety
        /// The scan's head length is a multiple of 4 from 4 to 64, and half as many words are expanded; its row starts on a word and
        /// is whole groups long up to the end of the last phase, and `keys` has as many groups; there is at least one phase, none is
        /// empty, and one that ends at null follows the last.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(scan: *const Scan, keys: *const u32) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "ldm r0, {{r6-r11}}",
                // The frame: four biases, multiplier, step, expanded, end of the phase, entry of the chain, next phase.
                "sub sp, #40",
                "mov r12, r10",
                "movw lr, #0x8000",
                // Where the chain is entered after the first four columns, 76 bytes for every four.
                "lsr r11, r11, #2",
                "sub r11, r11, #1",
                "movs r0, #76",
                "adr.w r2, 4f",
                "mls r2, r11, r0, r2",
                "orr r2, r2, #1",
                "strd r6, r7, [sp, #16]",
                "str r8, [sp, #24]",
                "strd r2, r9, [sp, #32]",
                "b 5f",
                ".p2align 2",
                "3:",
                "ldmia.w r0!, {{r10, r11}}",
                "ldmia.w r1!, {{r6-r9}}",
                "mla r6, r6, r10, lr",
                "mla r7, r7, r10, lr",
                "mla r8, r8, r10, lr",
                "mla r9, r9, r10, lr",
                "asrs r2, r6, #16",
                "asrs r3, r7, #16",
                "asr r4, r8, #16",
                "asr r5, r9, #16",
                two_columns!("r11"),
                "ldr pc, [sp, #32]",
                ".p2align 2",
                ".rept 15",
                "ldmia.w r0!, {{r10, r11}}",
                two_columns!("r10"),
                two_columns!("r11"),
                ".endr",
                "4:",
                "ldm sp, {{r6-r11}}",
                "add r2, r6, r2, lsl #8",
                "add r3, r7, r3, lsl #8",
                "add r4, r8, r4, lsl #8",
                "add r5, r9, r5, lsl #8",
                "add r6, r11",
                "add r7, r11",
                "add r8, r11",
                "add r9, r11",
                "stm sp, {{r6-r9}}",
                "smull r6, r2, r2, r10",
                "smull r7, r3, r3, r10",
                "smull r8, r4, r4, r10",
                "smull r9, r5, r5, r10",
                "add r2, r2, r6, lsr #31",
                "add r3, r3, r7, lsr #31",
                "add r4, r4, r8, lsr #31",
                "add r5, r5, r9, lsr #31",
                $cut,
                "bfi r2, r3, #16, #16",
                "bfi r4, r5, #16, #16",
                "ldrd r0, r6, [sp, #24]",
                "strd r2, r4, [r12], #8",
                "cmp r12, r6",
                "bne.w 3b",
                "5:",
                "ldr r6, [sp, #36]",
                "ldmia r6!, {{r2-r5, r7}}",
                "cbz r7, 6f",
                "stm sp, {{r2-r5}}",
                "str r7, [sp, #28]",
                "str r6, [sp, #36]",
                "ldr r0, [sp, #24]",
                "b 3b",
                "6:",
                "add sp, #40",
                "pop {{r4-r11, pc}}",
            )
        }
    };
}

score!(
    score,
    "ssat r2, #16, r2
     ssat r3, #16, r3
     ssat r4, #16, r4
     ssat r5, #16, r5"
);

// For scores that no query and no key takes beyond 16 bits.
score!(score_within, "");
