//! [`crate::arith::requantize`] where no multiplication gives more than 32 bits.

use core::arch::naked_asm;

/// `(sum · multiplier + 2³¹) >> 32`, of four products of 16 bits.
#[inline(always)]
pub fn requantize(sum: i32, multiplier: i32) -> i32 {
    // SAFETY: any two numbers.
    unsafe { multiply_high(sum, multiplier) }
}

/// With both split as 2¹⁶·a₁ + a₀ (a₁ signed), carries go from the lowest product upwards; no sum leaves 32 bits, as
/// |a₁·b₀| + 2¹⁶ ≤ 2¹⁵ · (2¹⁶ − 1) + 2¹⁶ − 1 < 2³¹. A function of its own, as it takes all the registers that a caller
/// does not keep.
///
/// # Safety
/// None needed: it touches no memory.
#[unsafe(naked)]
unsafe extern "C" fn multiply_high(sum: i32, multiplier: i32) -> i32 {
    naked_asm!(
        "uxth r2, r0",
        "asrs r0, r0, #16",
        "uxth r3, r1",
        "asrs r1, r1, #16",
        "mov r12, r2",
        "muls r2, r3, r2",
        "lsrs r2, r2, #16",
        "muls r3, r0, r3",
        "adds r3, r3, r2",
        "mov r2, r12",
        "muls r2, r1, r2",
        "muls r0, r1, r0",
        "uxth r1, r3",
        "asrs r3, r3, #16",
        "adds r2, r2, r1",
        "adds r0, r0, r3",
        // Rounds at bit 16 without a sum that could leave 32 bits.
        "asrs r2, r2, #15",
        "adds r2, #1",
        "asrs r2, r2, #1",
        "adds r0, r0, r2",
        "bx lr",
    )
}
