//! [`crate::arith::requantize`] where no multiplication gives more than 32 bits.

use core::arch::naked_asm;

/// `$sum` becomes `(sum · multiplier + 2³¹) >> 32`. The multiplier is 2¹⁶ · `$high` + `$low`; uses `$low`, `$a` and `$b`.
///
/// With both split as 2¹⁶·a₁ + a₀ (a₁ signed), carries go from the lowest product upwards; no sum leaves 32 bits, as
/// |a₁·b₀| + 2¹⁶ ≤ 2¹⁵ · (2¹⁶ − 1) + 2¹⁶ − 1 < 2³¹. `ASRS` leaves the bit that rounds in the carry.
macro_rules! requantize_split {
    ($sum:literal, $low:literal, $high:literal, $a:literal, $b:literal) => {
        concat!(
            concat!("uxth ", $a, ", ", $sum, "\n"),
            concat!("asrs ", $sum, ", ", $sum, ", #16\n"),
            concat!("movs ", $b, ", ", $a, "\n"),
            concat!("muls ", $b, ", ", $low, ", ", $b, "\n"),
            concat!("lsrs ", $b, ", ", $b, ", #16\n"),
            concat!("muls ", $low, ", ", $sum, ", ", $low, "\n"),
            concat!("adds ", $b, ", ", $b, ", ", $low, "\n"),
            concat!("muls ", $a, ", ", $high, ", ", $a, "\n"),
            concat!("muls ", $sum, ", ", $high, ", ", $sum, "\n"),
            concat!("uxth ", $low, ", ", $b, "\n"),
            concat!("asrs ", $b, ", ", $b, ", #16\n"),
            concat!("adds ", $a, ", ", $a, ", ", $low, "\n"),
            concat!("adds ", $sum, ", ", $sum, ", ", $b, "\n"),
            concat!("asrs ", $a, ", ", $a, ", #16\n"),
            concat!("adcs ", $sum, ", ", $a, "\n"),
        )
    };
}

/// [`requantize_split`] where the two products in the middle have room for each other: |`$sum`| < 2³⁰ and a multiplier below
/// 2²⁸ give 2¹⁴ · 2¹⁶ + 2¹⁶ · 2¹² + 2¹⁶ < 2³¹, |`$sum`| < 2²⁹ and one below 2³⁰ give 2¹³ · 2¹⁶ + 2¹⁶ · 2¹⁴ + 2¹⁶ < 2³¹.
macro_rules! requantize_small {
    ($sum:literal, $low:literal, $high:literal, $a:literal, $b:literal) => {
        concat!(
            concat!("uxth ", $a, ", ", $sum, "\n"),
            concat!("asrs ", $sum, ", ", $sum, ", #16\n"),
            concat!("movs ", $b, ", ", $a, "\n"),
            concat!("muls ", $b, ", ", $low, ", ", $b, "\n"),
            concat!("lsrs ", $b, ", ", $b, ", #16\n"),
            concat!("muls ", $low, ", ", $sum, ", ", $low, "\n"),
            concat!("adds ", $b, ", ", $b, ", ", $low, "\n"),
            concat!("muls ", $a, ", ", $high, ", ", $a, "\n"),
            concat!("adds ", $b, ", ", $b, ", ", $a, "\n"),
            concat!("muls ", $sum, ", ", $high, ", ", $sum, "\n"),
            concat!("asrs ", $b, ", ", $b, ", #16\n"),
            concat!("adcs ", $sum, ", ", $b, "\n"),
        )
    };
}

/// `$value` beyond 8 bits becomes −127 or 127. Uses `$spare`; goes on at `$back`.
macro_rules! nearest_byte {
    ($here:literal, $back:literal, $value:literal, $spare:literal) => {
        concat!(
            $here,
            ":\n",
            concat!("asrs ", $value, ", ", $value, ", #31\n"),
            concat!("movs ", $spare, ", #127\n"),
            concat!("eors ", $value, ", ", $spare, "\n"),
            // −128 where it was negative.
            concat!("adds ", $spare, ", ", $value, ", #1\n"),
            concat!("asrs ", $spare, ", ", $spare, ", #31\n"),
            concat!("subs ", $value, ", ", $value, ", ", $spare, "\n"),
            "b ",
            $back,
            "b\n",
        )
    };
}

/// Is `$value` beyond 8 bits? Uses `$spare`.
macro_rules! within_byte {
    ($rare:literal, $back:literal, $value:literal, $spare:literal) => {
        concat!(
            concat!("movs ", $spare, ", ", $value, "\n"),
            concat!("adds ", $spare, ", #127\n"),
            concat!("cmp ", $spare, ", #254\n"),
            "bhi ",
            $rare,
            "f\n",
            $back,
            ":\n",
        )
    };
}

/// `$value` beyond 16 bits becomes the nearest value inside. Uses `$spare`; goes on at `$back`.
macro_rules! nearest_half {
    ($here:literal, $back:literal, $value:literal, $spare:literal) => {
        concat!(
            $here,
            ":\n",
            concat!("asrs ", $value, ", ", $value, ", #31\n"),
            concat!("movs ", $spare, ", #1\n"),
            concat!("lsls ", $spare, ", ", $spare, ", #15\n"),
            concat!("subs ", $spare, ", #1\n"),
            concat!("eors ", $value, ", ", $spare, "\n"),
            "b ",
            $back,
            "b\n",
        )
    };
}

/// Is `$value` beyond 16 bits? Uses `$spare`.
macro_rules! within_half {
    ($rare:literal, $back:literal, $value:literal, $spare:literal) => {
        concat!(
            concat!("sxth ", $spare, ", ", $value, "\n"),
            concat!("cmp ", $spare, ", ", $value, "\n"),
            "bne ",
            $rare,
            "f\n",
            $back,
            ":\n",
        )
    };
}

pub(super) use {nearest_byte, nearest_half, requantize_small, requantize_split, within_byte, within_half};

/// `(sum · multiplier + 2³¹) >> 32`, of four products of 16 bits.
#[inline(always)]
pub fn requantize(sum: i32, multiplier: i32) -> i32 {
    // SAFETY: any two numbers.
    unsafe { multiply_high(sum, multiplier) }
}

/// A function of its own, as it takes all the registers that a caller does not keep, and one more.
///
/// # Safety
/// None needed: it touches no memory.
#[unsafe(naked)]
unsafe extern "C" fn multiply_high(sum: i32, multiplier: i32) -> i32 {
    naked_asm!(
        "mov r12, r4",
        "uxth r2, r1",
        "asrs r1, r1, #16",
        requantize_split!("r0", "r2", "r1", "r3", "r4"),
        "mov r4, r12",
        "bx lr",
    )
}
