//! Two keys at a time against the expanded query, like two rows of a matrix, for ARMv6-M.

use core::arch::naked_asm;

use super::super::scoring::Scan;
use super::multiply::two_columns;
use super::requantize::{nearest_half, requantize_small, within_half};

/// Puts the `len` values of a key to every second word from `place` on: like weights, with the halves of activations' words
/// in the other order.
///
/// # Safety
/// `len` is a multiple of 4, not 0; `key` has as many bytes and starts on a word; half as many words are the key's.
#[unsafe(naked)]
pub unsafe extern "C" fn place_key(place: *mut u32, key: *const i8, len: usize) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "ldr r5, 3f",
        "ldr r6, 4f",
        "movs r7, #16",
        "ldr r3, 5f",
        "mov r12, r3",
        "2:",
        "ldmia r1!, {{r4}}",
        "eors r4, r6",
        "rors r4, r7",
        "movs r3, r4",
        "ands r3, r5",
        "add r3, r12",
        "lsrs r4, r4, #8",
        "ands r4, r5",
        "add r4, r12",
        "str r3, [r0]",
        "str r4, [r0, #8]",
        "adds r0, #16",
        "subs r2, #4",
        "bne 2b",
        "pop {{r4-r7, pc}}",
        ".p2align 2",
        "3:",
        ".word 0x00ff00ff",
        "4:",
        ".word 0x80808080",
        "5:",
        ".word -0x00800080",
    )
}

/// `$cut` takes the two scores r2 and r3 into 16 bits; `$rare` holds the part of it that is seldom needed.
macro_rules! score {
    ($name:ident, $cut:expr, $rare:expr) => {
        /// Scores of all keys of a scan.
        ///
        /// # Safety
        /// The scan's head length is a multiple of 4 from 4 to 64, and half as many words are expanded; its row starts on a word and
        /// is whole groups long up to the end of the last phase, and `keys` has as many groups; there is at least one phase, none is
        /// empty, and one that ends at null follows the last. Its multiplier is below 2²⁸, and no sum reaches 2³⁰.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(scan: *const Scan, keys: *const u32) {
            naked_asm!(
                "push {{r4-r7, lr}}",
                "mov r4, r8",
                "mov r5, r9",
                "mov r6, r10",
                "mov r7, r11",
                "push {{r4-r7}}",
                "ldmia r0!, {{r2-r7}}",
                "mov r8, r4",
                "mov r11, r6",
                // r12: the entry, 30 bytes for every four columns.
                "lsrs r7, r7, #2",
                "movs r6, #30",
                "muls r7, r6, r7",
                "adr r6, 4f",
                "subs r6, r6, r7",
                "adds r6, #1",
                "mov r12, r6",
                // The frame: halves of the multiplier, step, next phase.
                "mov r6, r3",
                "mov r7, r5",
                "uxth r4, r2",
                "asrs r5, r2, #16",
                "push {{r4-r7}}",
                "mov r0, r1",
                "b 5f",
                ".p2align 2",
                ".rept 16",
                "ldmia r1!, {{r4, r5}}",
                two_columns!("r4"),
                two_columns!("r5"),
                ".endr",
                ".p2align 2",
                "4:",
                "lsls r2, r2, #8",
                "lsls r3, r3, #8",
                // lr and r9: the biases.
                "add r2, lr",
                "add r3, r9",
                "ldr r4, [sp, #8]",
                "add lr, r4",
                "add r9, r4",
                "ldr r4, [sp]",
                "ldr r5, [sp, #4]",
                requantize_small!("r2", "r4", "r5", "r6", "r7"),
                "ldr r4, [sp]",
                requantize_small!("r3", "r4", "r5", "r6", "r7"),
                $cut,
                "mov r1, r11",
                "strh r2, [r1]",
                "strh r3, [r1, #2]",
                "adds r1, #4",
                "mov r11, r1",
                "cmp r1, r10",
                "beq 5f",
                "mov r1, r8",
                "movs r2, #0",
                "movs r3, #0",
                "bx r12",
                "5:",
                "ldr r1, [sp, #12]",
                "ldmia r1!, {{r4-r6}}",
                "str r1, [sp, #12]",
                "mov lr, r4",
                "mov r9, r5",
                "mov r10, r6",
                "mov r1, r8",
                "movs r2, #0",
                "movs r3, #0",
                "cmp r6, #0",
                "beq 6f",
                "bx r12",
                "6:",
                "add sp, #16",
                "pop {{r4-r7}}",
                "mov r8, r4",
                "mov r9, r5",
                "mov r10, r6",
                "mov r11, r7",
                "pop {{r4-r7, pc}}",
                $rare,
            )
        }
    };
}

score!(
    score,
    concat!(within_half!("20", "21", "r2", "r6"), within_half!("30", "31", "r3", "r6")),
    concat!(nearest_half!("20", "21", "r2", "r6"), nearest_half!("30", "31", "r3", "r6"))
);

// For scores that no query and no key takes beyond 16 bits.
score!(score_within, "", "");
