//! Norms, softmax and depthwise convolutions for ARMv6-M.

use core::arch::naked_asm;

use super::super::depthwise::{Pair, Sweep};
use super::requantize;
use crate::arith::{EXPONENTIAL, saturate_i8, saturate_i16};
use crate::kernels::portable::Deviation;

/// Every value of a token, normalised to 8 bits.
pub fn normalize_to_bytes(deviation: &Deviation, affine: &[[i32; 2]], stream: &[i16], output: &mut [i8]) {
    for ((&value, &affine), result) in stream.iter().zip(affine).zip(output) {
        *result = saturate_i8(normalize(deviation, value, affine));
    }
}

/// Every value of a token, normalised in place.
pub fn normalize_stream(deviation: &Deviation, affine: &[[i32; 2]], stream: &mut [i16]) {
    for (value, &affine) in stream.iter_mut().zip(affine) {
        *value = saturate_i16(normalize(deviation, *value, affine));
    }
}

#[inline(always)]
fn normalize(deviation: &Deviation, value: i16, [multiplier, bias]: [i32; 2]) -> i32 {
    let scaled = deviation.scale(value);
    (requantize(requantize(scaled, deviation.inverse_q31), multiplier).wrapping_add(bias)) >> 8
}

/// Scores become weights, in place; returns their sum.
pub fn soften(row: &mut [i16]) -> u32 {
    let maximum = row.iter().fold(i32::from(i16::MIN), |maximum, &score| maximum.max(i32::from(score)));
    let mut sum = 0;
    for score in row {
        let distance = (maximum - i32::from(*score)) as usize;
        *score = EXPONENTIAL[distance.min(EXPONENTIAL.len() - 1)];
        sum += *score as u32;
    }
    sum
}

/// The sum r7, requantised by the multiplier at `$place` of the channel's affine (r11), cut to 8 bits and stored at the
/// offset `$offset` of the output (r12). `$rare` is where a value beyond 8 bits goes, `$back` where it returns.
macro_rules! close {
    ($place:literal, $offset:literal, $rare:literal, $back:literal) => {
        concat!(
            "mov r4, r11\n",
            "ldr r4, [r4, #",
            $place,
            "]\n",
            "uxth r0, r7\n",
            "asrs r7, r7, #16\n",
            "uxth r1, r4\n",
            "asrs r4, r4, #16\n",
            "movs r2, r0\n",
            "muls r2, r1, r2\n",
            "lsrs r2, r2, #16\n",
            "muls r1, r7, r1\n",
            "adds r2, r2, r1\n",
            "muls r0, r4, r0\n",
            "muls r7, r4, r7\n",
            "uxth r1, r2\n",
            "asrs r2, r2, #16\n",
            "adds r0, r0, r1\n",
            "adds r7, r7, r2\n",
            "asrs r0, r0, #15\n",
            "adds r0, #1\n",
            "asrs r0, r0, #1\n",
            "adds r7, r7, r0\n",
            "movs r0, r7\n",
            "adds r0, #127\n",
            "cmp r0, #254\n",
            "bhi ",
            $rare,
            "f\n",
            $back,
            ":\n",
            "mov r0, r12\n",
            "strb r7, [r0, ",
            $offset,
            "]\n",
        )
    };
}

/// r7 is beyond 8 bits: −127 or 127.
macro_rules! nearest {
    ($here:literal, $back:literal) => {
        concat!(
            $here,
            ":\n",
            "asrs r7, r7, #31\n",
            "movs r0, #127\n",
            "eors r7, r0\n",
            // −128 where it was negative.
            "adds r0, r7, #1\n",
            "asrs r0, r0, #31\n",
            "subs r7, r7, r0\n",
            "b ",
            $back,
            "b\n",
        )
    };
}

/// All channels of a depthwise convolution, two at a time.
///
/// # Safety
/// `pairs … end` is not empty, and all its taps and weights have the sweep's channels, an even number, not 0; so do affine
/// and output.
#[unsafe(naked)]
pub unsafe extern "C" fn convolve(pairs: *const Pair, end: *const Pair, sweep: *const Sweep) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "push {{r4-r7}}",
        "mov r9, r0",
        "mov r10, r1",
        "ldmia r2!, {{r3, r4, r5}}",
        "mov r11, r3",
        "mov r12, r4",
        "mov lr, r5",
        "movs r5, #0",
        "2:",
        "mov r0, r9",
        "mov r3, r11",
        "ldr r7, [r3]",
        "ldr r4, [r3, #8]",
        "mov r8, r4",
        "adds r6, r5, #1",
        "3:",
        "ldmia r0!, {{r1, r2}}",
        "ldrsb r3, [r1, r5]",
        "ldrsb r4, [r2, r5]",
        "muls r3, r4, r3",
        "adds r7, r7, r3",
        "ldrsb r3, [r1, r6]",
        "ldrsb r4, [r2, r6]",
        "muls r3, r4, r3",
        "add r8, r3",
        "cmp r0, r10",
        "bne 3b",
        close!("4", "r5", "20", "21"),
        "mov r7, r8",
        close!("12", "r6", "30", "31"),
        "mov r3, r11",
        "adds r3, #16",
        "mov r11, r3",
        "adds r5, #2",
        "cmp r5, lr",
        "bne 2b",
        "pop {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        "pop {{r4-r7, pc}}",
        nearest!("20", "21"),
        nearest!("30", "31"),
    )
}
