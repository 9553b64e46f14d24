//! The second half of a norm for ARMv6-M: every value requantised twice, in one loop.
//!
//! The first time is a line, t = (A·x + B) >> 32 with A and B of 64 bits, modulo 2³², for a value x of 16 bits. With A and B
//! in pieces of 32, 16 and 16 bits,
//!
//!     t = x·a₂ + b₂ + ((x·a₁ + b₁ + ((x·a₀ + b₀) >> 16)) >> 16)
//!
//! where no sum but the last leaves 32 bits: |x·a| ≤ 2¹⁵·(2¹⁶ − 1), plus 2¹⁶ − 1, plus 2¹⁵ − 1 is 2³¹ − 1 for a positive x;
//! −2¹⁵·(2¹⁶ − 1) − 2¹⁵ is −2³¹.

use core::arch::naked_asm;

use super::requantize::{nearest_byte, nearest_half, requantize_small, requantize_split, within_byte, within_half};
use crate::arith::wide;
use crate::kernels::portable::Deviation;

/// What the loop loads, in this order.
#[repr(C)]
pub struct Walk {
    end: *const i16,
    affine: *const [i32; 2],
    /// The pieces of A, each with the piece of B.
    line: [u32; 6],
    /// Less than nothing: bytes from the end of the stream to its start.
    start: i32,
    /// The end of the results.
    output: *mut u8,
}

impl Walk {
    /// `deviation` is shifted to the left.
    pub fn new(deviation: &Deviation, affine: &[[i32; 2]], stream: &[i16], output: *mut u8) -> Self {
        let inverse = deviation.inverse_q31 as u32;
        let a = wide(deviation.len as u32, inverse) << deviation.shift;
        let centre = wide(deviation.sum.unsigned_abs(), inverse) << deviation.shift;
        // The half that rounds is in it.
        let b = (1u64 << 31).wrapping_add(if deviation.sum < 0 { centre } else { centre.wrapping_neg() });
        let pieces = |line: u64| [line as u32 & 0xFFFF, line as u32 >> 16, (line >> 32) as u32];
        let ([a0, a1, a2], [b0, b1, b2]) = (pieces(a), pieces(b));
        Self {
            end: stream.as_ptr_range().end,
            affine: affine.as_ptr(),
            line: [a0, b0, a1, b1, a2, b2],
            start: -(size_of_val(stream) as i32),
            output: output.wrapping_add(stream.len()),
        }
    }
}

/// Sum and sum of squares of a stream, whose length is a multiple of 4, not 0, and which starts on a word.
pub fn sums(stream: &[i16]) -> (i32, u64) {
    let mut sums = [0; 3];
    let places = stream.as_ptr_range();
    if stream.len().is_multiple_of(4) && !stream.is_empty() && places.start.addr().is_multiple_of(4) {
        // SAFETY: just checked.
        unsafe { add_up(places.start, places.end, &mut sums) };
    }
    let [sum, low, high] = sums;
    (sum as i32, u64::from(high) << 32 | u64::from(low))
}

/// The two values of the word at r0, which advances, are added to r3, their squares to r4 and r5; r7 is zero.
macro_rules! two_squares {
    () => {
        "ldmia r0!, {{r6}}
         sxth r2, r6
         asrs r6, r6, #16
         adds r3, r3, r2
         adds r3, r3, r6
         muls r2, r2, r2
         muls r6, r6, r6
         adds r2, r2, r6
         adds r4, r4, r2
         adcs r5, r7
"
    };
}

/// The sum, and the sum of squares in two words; those of two values stay inside 32 bits, as 2 · 2³⁰ does.
///
/// # Safety
/// `stream … end` is whole fours of values, not none, and starts on a word.
#[unsafe(naked)]
unsafe extern "C" fn add_up(stream: *const i16, end: *const i16, sums: &mut [u32; 3]) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r12, r2",
        "movs r3, #0",
        "movs r4, #0",
        "movs r5, #0",
        "movs r7, #0",
        "2:",
        two_squares!(),
        two_squares!(),
        "cmp r0, r1",
        "bne 2b",
        "mov r2, r12",
        "stmia r2!, {{r3-r5}}",
        "pop {{r4-r7, pc}}",
    )
}

/// `$requantize` does it the second time: |t| < 2²⁹ (docs/numerics.md), and `bake` has proved that the multipliers of a norm
/// that ends in bytes are below 2³⁰. `$store` takes the value r2 to its place; `$rare` holds the part of it that is seldom needed.
macro_rules! normalize {
    ($name:ident, $requantize:expr, $cut:expr, $store:literal, $rare:expr) => {
        /// Every value of a token, normalised.
        ///
        /// # Safety
        /// The walk's stream, affine and output have as many values each, not none.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(walk: *const Walk) {
            naked_asm!(
                "push {{r4-r7, lr}}",
                "mov r4, r8",
                "mov r5, r9",
                "mov r6, r10",
                "mov r7, r11",
                "push {{r4-r7}}",
                "ldmia r0!, {{r1-r7}}",
                "mov r8, r3",
                "mov r9, r4",
                "mov r10, r5",
                "mov r11, r6",
                "mov r12, r7",
                "ldmia r0!, {{r3-r5}}",
                "mov lr, r3",
                "push {{r5}}",
                // r0: from the end of the stream, r1; r6: affine.
                "movs r0, r4",
                "movs r6, r2",
                "2:",
                "ldrsh r2, [r1, r0]",
                "mov r3, r8",
                "muls r3, r2, r3",
                "add r3, r9",
                "asrs r3, r3, #16",
                "mov r4, r10",
                "muls r4, r2, r4",
                "adds r4, r4, r3",
                "add r4, r11",
                "asrs r4, r4, #16",
                "mov r5, r12",
                "muls r2, r5, r2",
                "adds r2, r2, r4",
                "add r2, lr",
                "ldr r3, [r6]",
                "uxth r4, r3",
                "asrs r3, r3, #16",
                $requantize,
                "ldr r3, [r6, #4]",
                "adds r6, #8",
                "adds r2, r2, r3",
                "asrs r2, r2, #8",
                $cut,
                $store,
                "adds r0, #2",
                "bne 2b",
                "pop {{r3-r7}}",
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

normalize!(
    normalize_to_bytes,
    requantize_small!("r2", "r4", "r3", "r5", "r7"),
    within_byte!("3", "4", "r2", "r3"),
    "ldr r4, [sp]
     asrs r3, r0, #1
     strb r2, [r4, r3]",
    nearest_byte!("3", "4", "r2", "r3")
);

normalize!(
    normalize_stream,
    requantize_split!("r2", "r4", "r3", "r5", "r7"),
    within_half!("3", "4", "r2", "r3"),
    "strh r2, [r1, r0]",
    nearest_half!("3", "4", "r2", "r3")
);
