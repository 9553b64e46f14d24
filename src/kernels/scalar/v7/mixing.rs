//! Weighted sums of values for ARMv7-M: four lanes from one word without unpacking each.
//!
//! With a word W of four bytes u₀ … u₃ and a weight w, the loop sums w·W, w·(W >> 8), w·(W >> 16) and w·(W >> 24), modulo 2³².
//! Each less 256 times the next is the sum of w·u of one lane, which has 32 bits and so is exact.

use core::arch::naked_asm;

use super::super::mixing::{Blend, OFFSETS};
use super::multiply::pack_bytes;

/// The weight r12 times the word `$word`, for its four lanes.
macro_rules! word {
    ($word:literal, $first:literal, $second:literal, $third:literal, $fourth:literal) => {
        concat!(
            concat!("mla ", $first, ", ", $word, ", r12, ", $first, "\n"),
            concat!("lsr.w ", $word, ", ", $word, ", #8\n"),
            concat!("mla ", $second, ", ", $word, ", r12, ", $second, "\n"),
            concat!("lsr.w ", $word, ", ", $word, ", #8\n"),
            concat!("mla ", $third, ", ", $word, ", r12, ", $third, "\n"),
            concat!("lsr.w ", $word, ", ", $word, ", #8\n"),
            concat!("mla ", $fourth, ", ", $word, ", r12, ", $fourth, "\n"),
        )
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

/// The four sums of a word's lanes, in 8 bits, to the place r12, which advances.
macro_rules! store_four {
    ($first:literal, $second:literal, $third:literal, $fourth:literal) => {
        concat!(
            concat!("sub ", $first, ", ", $first, ", ", $second, ", lsl #8\n"),
            concat!("sub ", $second, ", ", $second, ", ", $third, ", lsl #8\n"),
            concat!("sub ", $third, ", ", $third, ", ", $fourth, ", lsl #8\n"),
            close!($first),
            close!($second),
            close!($third),
            close!($fourth),
            pack_bytes!($first, $second, $third, $fourth),
            concat!("str ", $first, ", [r12], #4\n"),
        )
    };
}

/// Puts a value to its place: eight bytes, with 128 added to each, every `leap` bytes.
///
/// # Safety
/// `eights` is not 0; `value` has as many times eight bytes, and as many places of eight follow each other; all start on words.
#[unsafe(naked)]
pub unsafe extern "C" fn place_value(place: *mut u32, value: *const u32, eights: usize, leap: usize) {
    naked_asm!(
        "push {{r4, lr}}",
        "2:",
        "ldrd r4, r12, [r1], #8",
        "subs r2, #1",
        "eor r4, r4, #{offsets}",
        "eor r12, r12, #{offsets}",
        "strd r4, r12, [r0]",
        "add r0, r3",
        "bne 2b",
        "pop {{r4, pc}}",
        offsets = const OFFSETS,
    )
}

/// `$bytes` of code for each token, `$token`; `$store` takes the sums to the place r12.
macro_rules! mix {
    ($name:ident, $bytes:literal, $token:expr, $store:expr, $next:literal) => {
        /// The weighted sums of the blend's lanes, in 8 bits: eights of lanes, or the four at its values.
        ///
        /// # Safety
        /// The blend's row is not empty; for each weight there is a byte of values in each lane, token behind token from a
        /// word on, and one of output, which starts on a word.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(blend: *const Blend) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "ldm r0, {{r0-r2, r4, r5, r7-r10}}",
                "mov lr, r1",
                "mov r1, r2",
                // Eight tokens a turn; r6: where the first turn begins.
                "sub r3, lr, r0",
                "subs r3, #2",
                "and r3, r3, #14",
                "adds r3, #2",
                "movs r4, #{half}",
                "adr.w r6, 3f",
                "mls r6, r3, r4, r6",
                "orr r6, r6, #1",
                // The sums of whole words begin with what their lanes begin with.
                "add r4, r5, r5, lsl #8",
                "add r3, r5, r4, lsl #8",
                "add r2, r5, r3, lsl #8",
                // The frame: four sums, entry, multiplier, output, gap, how many eights, row.
                "sub sp, #40",
                "stm sp, {{r2-r10}}",
                "str r0, [sp, #36]",
                "4:",
                "ldm sp, {{r2-r6}}",
                "mov r10, r6",
                "mov r6, r2",
                "mov r7, r3",
                "mov r8, r4",
                "mov r9, r5",
                "bx r10",
                ".p2align 2",
                "2:",
                ".rept 8",
                "ldrh.w r12, [r0], #2",
                $token,
                ".endr",
                "3:",
                "cmp r0, lr",
                "bne.w 2b",
                "ldrd r10, r12, [sp, #20]",
                $store,
                $next,
                "add sp, #40",
                "pop {{r4-r11, pc}}",
                half = const $bytes / 2,
            )
        }
    };
}

mix!(
    mix_eights,
    64,
    concat!("ldmia.w r1!, {{r10, r11}}\n", word!("r10", "r2", "r3", "r4", "r5"), word!("r11", "r6", "r7", "r8", "r9")),
    concat!(store_four!("r2", "r3", "r4", "r5"), store_four!("r6", "r7", "r8", "r9")),
    "add r2, sp, #28
     ldm r2, {{r2, r3, r4}}
     mov r0, r4
     add r1, r2
     str r12, [sp, #24]
     subs r3, #1
     str r3, [sp, #32]
     bne.w 4b"
);

mix!(
    mix_four,
    36,
    concat!("ldr.w r10, [r1], #4\n", word!("r10", "r2", "r3", "r4", "r5")),
    store_four!("r2", "r3", "r4", "r5"),
    ""
);
