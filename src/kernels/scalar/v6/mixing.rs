//! Weighted sums of values for ARMv6-M: eight lanes at a time, half of the sums in the upper registers.

use core::arch::naked_asm;

use super::super::mixing::{Blend, OFFSETS};
use super::requantize::{nearest_byte, requantize_small, requantize_split, within_byte};

/// Puts a value to its place: eight bytes, with 128 added to each, every `leap` bytes.
///
/// # Safety
/// `eights` is not 0; `value` has as many times eight bytes, and as many places of eight follow each other; all start on words.
#[unsafe(naked)]
pub unsafe extern "C" fn place_value(place: *mut u32, value: *const u32, eights: usize, leap: usize) {
    naked_asm!(
        "push {{r4-r6, lr}}",
        "ldr r6, 3f",
        "subs r3, #8",
        "2:",
        "ldmia r1!, {{r4, r5}}",
        "eors r4, r6",
        "eors r5, r6",
        "stmia r0!, {{r4, r5}}",
        "adds r0, r0, r3",
        "subs r2, #1",
        "bne 2b",
        "pop {{r4-r6, pc}}",
        ".p2align 2",
        "3:",
        ".word {offsets}",
        offsets = const OFFSETS,
    )
}

/// A lane: the weight r6 times its value.
macro_rules! lane {
    ($lane:literal, $sum:literal) => {
        concat!(concat!("ldrb r7, [r1, #", $lane, "]\n"), "muls r7, r6, r7\n", concat!("add ", $sum, ", r7\n"),)
    };
}

/// Four sums, requantised and cut to 8 bits, to the output, which advances. r1 is the upper half of the multiplier; the frame
/// begins with the lower half, and the output is behind both.
macro_rules! close_four {
    ($requantize:ident: $($sum:literal $rare:literal $back:literal),*) => {
        concat!(
            $(
                "ldr r0, [sp]\n",
                $requantize!($sum, "r0", "r1", "r6", "r7"),
                within_byte!($rare, $back, $sum, "r6"),
            )*
            "ldr r0, [sp, #8]\n",
            "strb r2, [r0]\n",
            "strb r3, [r0, #1]\n",
            "strb r4, [r0, #2]\n",
            "strb r5, [r0, #3]\n",
            "adds r0, #4\n",
            "str r0, [sp, #8]\n",
        )
    };
}

/// `$token` adds the values of a token to the sums; `$fours` makes of r5, the eights of lanes, how many fours they are.
macro_rules! mix {
    ($name:ident, $token:expr, $fours:literal) => {
        /// The weighted sums of the blend's lanes, in 8 bits: eights of lanes, or the four at its values.
        ///
        /// # Safety
        /// The blend's row is not empty; for each weight there are so many bytes of values, `stride` apart, and one of output
        /// for each lane.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(blend: *const Blend) {
            naked_asm!(
                "push {{r4-r7, lr}}",
                "mov r4, r8",
                "mov r5, r9",
                "mov r6, r10",
                "mov r7, r11",
                "push {{r4-r7}}",
                // r12: the end of the row; lr: the stride.
                "ldmia r0!, {{r1-r7}}",
                "mov r12, r2",
                "mov lr, r4",
                // The frame: halves of the multiplier, output, start, row, gap, fours of lanes, values of the next eight, and
                // whether sums are large.
                "sub sp, #36",
                "str r7, [sp, #8]",
                "str r5, [sp, #12]",
                "str r1, [sp, #16]",
                "ldmia r0!, {{r4, r5, r7}}",
                $fours,
                "str r7, [sp, #32]",
                "str r4, [sp, #20]",
                "str r5, [sp, #24]",
                "uxth r4, r6",
                "asrs r5, r6, #16",
                "str r4, [sp]",
                "str r5, [sp, #4]",
                "mov r0, r1",
                "mov r1, r3",
                "4:",
                "ldr r2, [sp, #12]",
                "movs r3, r2",
                "movs r4, r2",
                "movs r5, r2",
                "mov r8, r2",
                "mov r9, r2",
                "mov r10, r2",
                "mov r11, r2",
                // Two weights a turn: where their number is odd, the first turn is half a one.
                "mov r6, r12",
                "subs r6, r6, r0",
                "lsls r6, r6, #30",
                "beq 2f",
                "subs r0, #2",
                "b 3f",
                "2:",
                "ldrh r6, [r0]",
                $token,
                "3:",
                "ldrh r6, [r0, #2]",
                $token,
                "adds r0, #4",
                "cmp r0, r12",
                "bne 2b",
                "ldr r0, [sp, #20]",
                "adds r0, r0, r1",
                "str r0, [sp, #28]",
                "ldr r1, [sp, #4]",
                "5:",
                "ldr r0, [sp, #32]",
                "cmp r0, #0",
                "beq 8f",
                "b 9f",
                "8:",
                close_four!(requantize_small: "r2" "60" "61", "r3" "70" "71", "r4" "80" "81", "r5" "90" "91"),
                "10:",
                "ldr r0, [sp, #24]",
                "subs r0, #1",
                "beq 6f",
                "str r0, [sp, #24]",
                "lsrs r0, r0, #1",
                "bcs 7f",
                "ldr r0, [sp, #16]",
                "ldr r1, [sp, #28]",
                "b 4b",
                "7:",
                "mov r2, r8",
                "mov r3, r9",
                "mov r4, r10",
                "mov r5, r11",
                "b 5b",
                "6:",
                "add sp, #36",
                "pop {{r4-r7}}",
                "mov r8, r4",
                "mov r9, r5",
                "mov r10, r6",
                "mov r11, r7",
                "pop {{r4-r7, pc}}",
                nearest_byte!("60", "61", "r2", "r6"),
                nearest_byte!("70", "71", "r3", "r6"),
                nearest_byte!("80", "81", "r4", "r6"),
                nearest_byte!("90", "91", "r5", "r6"),
                "9:",
                close_four!(requantize_split: "r2" "20" "21", "r3" "30" "31", "r4" "40" "41", "r5" "50" "51"),
                "b 10b",
                nearest_byte!("20", "21", "r2", "r6"),
                nearest_byte!("30", "31", "r3", "r6"),
                nearest_byte!("40", "41", "r4", "r6"),
                nearest_byte!("50", "51", "r5", "r6"),
            )
        }
    };
}

mix!(
    mix_eights,
    concat!(
        lane!("0", "r2"),
        lane!("1", "r3"),
        lane!("2", "r4"),
        lane!("3", "r5"),
        lane!("4", "r8"),
        lane!("5", "r9"),
        lane!("6", "r10"),
        lane!("7", "r11"),
        "add r1, lr\n",
    ),
    "lsls r5, r5, #1"
);

mix!(
    mix_four,
    concat!(lane!("0", "r2"), lane!("1", "r3"), lane!("2", "r4"), lane!("3", "r5"), "add r1, lr\n"),
    "movs r5, #1"
);
