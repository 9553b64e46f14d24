//! The second half of a norm for ARMv7-M: every value requantised twice, four a turn.

use core::arch::naked_asm;

use super::multiply::pack_bytes;
use crate::kernels::portable::Deviation;

/// What a norm's loop loads, in this order.
#[repr(C)]
pub struct Walk {
    stream: *const i16,
    affine: *const [i32; 2],
    /// Where results go: as bytes, or back into the stream.
    output: *mut u8,
    end: *const i16,
    len: i32,
    bias: i32,
    inverse: i32,
}

impl Walk {
    /// `deviation` is shifted to the left.
    pub fn new(deviation: &Deviation, affine: &[[i32; 2]], stream: &[i16], output: *mut u8) -> Self {
        let places = stream.as_ptr_range();
        // Modulo 2³², what is shifted may be shifted before.
        let (len, bias) = (deviation.len << deviation.shift, deviation.sum.wrapping_neg() << deviation.shift);
        let inverse = deviation.inverse_q31;
        Self { stream: places.start, affine: affine.as_ptr(), output, end: places.end, len, bias, inverse }
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

/// The two values of `$word` are added to r3, their squares to r4 and r5.
macro_rules! two_squares {
    ($word:literal) => {
        concat!(
            concat!("sxth r8, ", $word, "\n"),
            concat!("add r3, r3, ", $word, ", asr #16\n"),
            concat!("asr ", $word, ", ", $word, ", #16\n"),
            "add r3, r8\n",
            "mul r8, r8, r8\n",
            concat!("mla r8, ", $word, ", ", $word, ", r8\n"),
            "adds r4, r4, r8\n",
            "adc r5, r5, #0\n",
        )
    };
}
/// The sum, and the sum of squares in two words; those of two values stay inside 32 bits, as 2 · 2³⁰ does.
///
/// # Safety
/// `stream … end` is whole fours of values, not none, and starts on a word.
#[unsafe(naked)]
unsafe extern "C" fn add_up(stream: *const i16, end: *const i16, sums: &mut [u32; 3]) {
    naked_asm!(
        "push {{r4-r8, lr}}",
        "movs r3, #0",
        "movs r4, #0",
        "movs r5, #0",
        "2:",
        "ldmia r0!, {{r6, r7}}",
        two_squares!("r6"),
        two_squares!("r7"),
        "cmp r0, r1",
        "bne 2b",
        "stm r2, {{r3-r5}}",
        "pop {{r4-r8, pc}}",
    )
}

/// A value of the stream becomes `$bias`, in 1/256 of the output's unit and with its rounding half. Uses r12 and lr.
macro_rules! normal {
    ($multiplier:literal, $bias:literal) => {
        concat!(
            "ldrsh r12, [r0], #2\n",
            "mla r12, r12, r6, r7\n",
            "smull lr, r12, r12, r10\n",
            "add r12, r12, lr, lsr #31\n",
            // The half that rounds, and the bias, are there before the product.
            "mov lr, #0x80000000\n",
            concat!("smlal lr, ", $bias, ", r12, ", $multiplier, "\n"),
        )
    };
}

/// `$store` takes the values r5, r9, r4 and r8 to the place r2, which it advances.
macro_rules! normalize {
    ($name:ident, $store:expr) => {
        /// Every value of a token, normalised.
        ///
        /// # Safety
        /// The walk's stream, affine and output have as many values each, a multiple of 4, not 0, and start on words.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(walk: *const Walk) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "ldm r0, {{r0-r3, r6, r7, r10}}",
                "2:",
                "ldmia.w r1!, {{r4, r5, r8, r9}}",
                normal!("r4", "r5"),
                normal!("r8", "r9"),
                "ldrd r11, r4, [r1], #8",
                normal!("r11", "r4"),
                "ldrd r11, r8, [r1], #8",
                normal!("r11", "r8"),
                $store,
                "cmp r0, r3",
                "bne 2b",
                "pop {{r4-r11, pc}}",
            )
        }
    };
}

normalize!(
    normalize_to_bytes,
    concat!(
        "ssat r4, #8, r4, asr #8\n",
        "ssat r5, #8, r5, asr #8\n",
        "ssat r8, #8, r8, asr #8\n",
        "ssat r9, #8, r9, asr #8\n",
        pack_bytes!("r5", "r9", "r4", "r8"),
        "str r5, [r2], #4",
    )
);

normalize!(
    normalize_stream,
    "ssat r4, #16, r4, asr #8
     ssat r5, #16, r5, asr #8
     ssat r8, #16, r8, asr #8
     ssat r9, #16, r9, asr #8
     bfi r5, r9, #16, #16
     bfi r4, r8, #16, #16
     strd r5, r4, [r2], #8"
);
