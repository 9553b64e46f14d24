//! The second half of a norm for ARMv6-M: every value requantised twice, in one loop.

use core::arch::naked_asm;

use super::requantize::{nearest_byte, requantize_split, within_byte};
use crate::kernels::portable::Deviation;

/// What the loop loads, in this order.
#[repr(C)]
struct Walk {
    stream: *const i16,
    affine: *const [i32; 2],
    /// Where results go: as bytes, or back into the stream.
    output: *mut u8,
    end: *const i16,
    len: i32,
    bias: i32,
    right: i32,
    /// The halves of the inverse deviation.
    low: i32,
    high: i32,
}

impl Walk {
    fn new(deviation: &Deviation, affine: &[[i32; 2]], stream: &[i16], output: *mut u8) -> Self {
        let places = stream.as_ptr_range();
        let (len, bias, right) = deviation.line();
        let (low, high) = (deviation.inverse_q31 & 0xFFFF, deviation.inverse_q31 >> 16);
        Self { stream: places.start, affine: affine.as_ptr(), output, end: places.end, len, bias, right, low, high }
    }
}

/// Every value of a token, normalised to 8 bits.
pub fn normalize_to_bytes(deviation: &Deviation, affine: &[[i32; 2]], stream: &[i16], output: &mut [i8]) {
    if !stream.is_empty() && stream.len() == output.len() && stream.len() == affine.len() {
        let walk = Walk::new(deviation, affine, stream, output.as_mut_ptr().cast());
        // SAFETY: equal lengths, not none.
        unsafe { to_bytes(&walk) };
    }
}

/// Every value of a token, normalised in place.
pub fn normalize_stream(deviation: &Deviation, affine: &[[i32; 2]], stream: &mut [i16]) {
    if !stream.is_empty() && stream.len() == affine.len() {
        let output = stream.as_mut_ptr().cast();
        let walk = Walk::new(deviation, affine, stream, output);
        // SAFETY: equal lengths, not none; a value is read before its place is written.
        unsafe { to_stream(&walk) };
    }
}

/// `$store` takes the value r2 to the place r3, which it advances; `$rare` holds the part of it that is seldom needed.
macro_rules! normalize {
    ($name:ident, $cut:expr, $store:literal, $rare:expr) => {
        /// Every value of a token, normalised.
        ///
        /// # Safety
        /// The walk's stream, affine and output have as many values each, not none.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(walk: *const Walk) {
            naked_asm!(
                "push {{r4-r7, lr}}",
                "mov r4, r8",
                "mov r5, r9",
                "mov r6, r10",
                "mov r7, r11",
                "push {{r4-r7}}",
                "ldmia r0!, {{r1-r7}}",
                "mov r8, r3",
                "mov r12, r4",
                "mov r9, r5",
                "mov r10, r6",
                "mov r11, r7",
                "ldmia r0!, {{r3, r4}}",
                // lr and the stack: the halves of the inverse deviation.
                "mov lr, r3",
                "push {{r4}}",
                "mov r0, r1",
                "mov r1, r2",
                "2:",
                "ldrh r2, [r0]",
                "sxth r2, r2",
                "adds r0, #2",
                "mov r3, r9",
                "muls r2, r3, r2",
                "add r2, r10",
                "mov r3, r11",
                "asrs r2, r3",
                "mov r4, lr",
                "ldr r5, [sp]",
                requantize_split!("r2", "r4", "r5", "r6", "r7"),
                "ldmia r1!, {{r3, r4}}",
                "uxth r5, r3",
                "asrs r3, r3, #16",
                requantize_split!("r2", "r5", "r3", "r6", "r7"),
                "adds r2, r2, r4",
                "asrs r2, r2, #8",
                $cut,
                "mov r3, r8",
                $store,
                "mov r8, r3",
                "cmp r0, r12",
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
    to_bytes,
    within_byte!("3", "4", "r2", "r6"),
    "strb r2, [r3]
     adds r3, #1",
    nearest_byte!("3", "4", "r2", "r6")
);

normalize!(
    to_stream,
    "sxth r6, r2
     cmp r6, r2
     bne 3f
     4:",
    "strh r2, [r3]
     adds r3, #2",
    "3:
     asrs r2, r2, #31
     movs r6, #1
     lsls r6, r6, #15
     subs r6, #1
     eors r2, r6
     b 4b"
);
