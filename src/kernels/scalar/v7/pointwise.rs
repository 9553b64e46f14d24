//! Norms and depthwise convolutions for ARMv7-M.

use core::arch::naked_asm;

use super::super::depthwise::{Pair, Sweep};
use super::multiply::pack_bytes;
use crate::kernels::portable::Deviation;

/// What a norm's loop loads, in this order.
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
    inverse: i32,
}

impl Walk {
    fn new(deviation: &Deviation, affine: &[[i32; 2]], stream: &[i16], output: *mut u8) -> Self {
        let places = stream.as_ptr_range();
        let (len, bias, right) = deviation.line();
        let inverse = deviation.inverse_q31;
        Self { stream: places.start, affine: affine.as_ptr(), output, end: places.end, len, bias, right, inverse }
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

/// The second half of a norm: `$store` takes the value r5, in 1/256 with its rounding half, to the place r2, which it
/// advances.
macro_rules! normalize {
    ($name:ident, $store:literal) => {
        /// Every value of a token, normalised.
        ///
        /// # Safety
        /// The walk's stream, affine and output have as many values each, not none.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(walk: *const Walk) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "ldm r0, {{r0-r3, r6, r7, r9, r10}}",
                "2:",
                "ldrsh r4, [r0], #2",
                "ldrd r11, r12, [r1], #8",
                "mla r5, r4, r6, r7",
                "asr r5, r5, r9",
                "smull r4, r5, r5, r10",
                "add r5, r5, r4, lsr #31",
                "smull r4, r5, r5, r11",
                "add r5, r5, r4, lsr #31",
                "add r5, r12",
                $store,
                "cmp r0, r3",
                "bne 2b",
                "pop {{r4-r11, pc}}",
            )
        }
    };
}

normalize!(
    to_bytes,
    "ssat r5, #8, r5, asr #8
     cmn r5, #128
     it eq
     mvneq r5, #126
     strb r5, [r2], #1"
);

normalize!(
    to_stream,
    "ssat r5, #16, r5, asr #8
     strh r5, [r2], #2"
);

/// A tap of four channels with their weights, from r10 and r11 into the sums r6–r9; `$lane` is how far they are shifted.
macro_rules! channel {
    ($sum:literal, $shift:literal) => {
        concat!("sxtb r12, r10", $shift, "\n", "sxtb r5, r11", $shift, "\n", "mla ", $sum, ", r12, r5, ", $sum, "\n",)
    };
}

/// One sum, requantised by the multiplier at `$place` and cut to 8 bits.
macro_rules! close {
    ($sum:literal, $place:literal) => {
        concat!(
            "ldr r10, [r2, #",
            $place,
            "]\n",
            "smull r10, ",
            $sum,
            ", ",
            $sum,
            ", r10\n",
            "add ",
            $sum,
            ", ",
            $sum,
            ", r10, lsr #31\n",
            "ssat ",
            $sum,
            ", #8, ",
            $sum,
            "\n",
        )
    };
}

/// All channels of a depthwise convolution, four at a time.
///
/// # Safety
/// `pairs … end` is not empty, and all its taps and weights have the sweep's channels, a multiple of 4, not 0; so do affine
/// and output. All start on words.
#[unsafe(naked)]
pub unsafe extern "C" fn convolve(pairs: *const Pair, end: *const Pair, sweep: *const Sweep) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldm r2, {{r2, r3, r4}}",
        "push {{r4}}",
        "movs r4, #0",
        "2:",
        "ldr r6, [r2]",
        "ldr r7, [r2, #8]",
        "ldr r8, [r2, #16]",
        "ldr r9, [r2, #24]",
        "mov lr, r0",
        "3:",
        "ldmia lr!, {{r10, r11}}",
        "ldr r10, [r10, r4]",
        "ldr r11, [r11, r4]",
        channel!("r6", ""),
        channel!("r7", ", ror #8"),
        channel!("r8", ", ror #16"),
        channel!("r9", ", ror #24"),
        "cmp lr, r1",
        "bne 3b",
        close!("r6", "4"),
        close!("r7", "12"),
        close!("r8", "20"),
        close!("r9", "28"),
        pack_bytes!("r6", "r7", "r8", "r9"),
        "str r6, [r3, r4]",
        "adds r2, #32",
        "adds r4, #4",
        "ldr r5, [sp]",
        "cmp r4, r5",
        "bne 2b",
        "pop {{r0}}",
        "pop {{r4-r11, pc}}",
    )
}
