//! Attention for ARMv6-M: keys are rows of two columns to a word, values are bytes with 128 added, which `LDRB` reads.

use core::arch::naked_asm;

use super::super::attention::Scan;

/// Scores of all keys of a scan.
///
/// # Safety
/// The scan's head length is a multiple of 4, not 0; `expanded` has half as many words, `keys` as many for each score of
/// the row, which is not empty.
#[unsafe(naked)]
pub unsafe extern "C" fn score(expanded: *const u32, keys: *const u32, scan: *const Scan) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "push {{r4-r7}}",
        "mov r8, r0",
        "ldmia r2!, {{r3, r4, r5, r6, r7}}",
        "ldr r2, [r2]",
        // lr: the bias. On the stack: slope, lower and upper half of the multiplier.
        "mov lr, r3",
        "mov r11, r6",
        "mov r10, r7",
        "uxth r6, r5",
        "asrs r7, r5, #16",
        "mov r5, r6",
        "mov r6, r7",
        "push {{r4-r6}}",
        "lsls r3, r2, #1",
        "adds r3, r3, r0",
        "mov r9, r3",
        // r12: where the chain is entered first, 16 bytes for every four columns.
        "lsrs r2, r2, #2",
        "subs r2, #1",
        "lsls r2, r2, #29",
        "lsrs r2, r2, #29",
        "adds r2, #1",
        "lsls r2, r2, #4",
        "adr r4, 4f",
        "subs r4, r4, r2",
        "adds r4, #1",
        "mov r12, r4",
        "mov r0, r1",
        "mov r1, r8",
        "movs r2, #0",
        "bx r12",
        ".p2align 2",
        "3:",
        ".rept 8",
        "ldmia r1!, {{r4, r5}}",
        "ldmia r0!, {{r6, r7}}",
        "muls r6, r4, r6",
        "asrs r6, r6, #16",
        "adcs r2, r2, r6",
        "muls r7, r5, r7",
        "asrs r7, r7, #16",
        "adcs r2, r2, r7",
        ".endr",
        ".p2align 2",
        "4:",
        "cmp r1, r9",
        "bne 3b",
        "lsls r2, r2, #8",
        "add r2, lr",
        "ldr r3, [sp]",
        "ldr r4, [sp, #4]",
        "ldr r5, [sp, #8]",
        "add lr, r3",
        // As in requantize.rs: r2 = s1, r6 = s0, r4 = m0, r5 = m1.
        "uxth r6, r2",
        "asrs r2, r2, #16",
        "movs r7, r6",
        "muls r7, r4, r7",
        "lsrs r7, r7, #16",
        "muls r4, r2, r4",
        "adds r7, r7, r4",
        "muls r6, r5, r6",
        "muls r2, r5, r2",
        "uxth r4, r7",
        "asrs r7, r7, #16",
        "adds r6, r6, r4",
        "adds r2, r2, r7",
        "asrs r6, r6, #15",
        "adds r6, #1",
        "asrs r6, r6, #1",
        "adds r2, r2, r6",
        "sxth r6, r2",
        "cmp r6, r2",
        "bne 6f",
        "5:",
        "mov r3, r11",
        "strh r2, [r3]",
        "adds r3, #2",
        "mov r11, r3",
        "mov r1, r8",
        "movs r2, #0",
        "cmp r3, r10",
        "beq 7f",
        "bx r12",
        "6:",
        "asrs r2, r2, #31",
        "movs r6, #1",
        "lsls r6, r6, #15",
        "subs r6, #1",
        "eors r2, r6",
        "b 5b",
        "7:",
        "add sp, #12",
        "pop {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        "pop {{r4-r7, pc}}",
    )
}

/// The weighted sums of eight lanes.
///
/// # Safety
/// That of [`mix_four`], with eight bytes for each weight.
pub unsafe fn mix_eight(row: *const i16, end: *const i16, values: *const i8, stride: usize, sums: &mut [i32; 8]) {
    for (half, sums) in sums.as_chunks_mut().0.iter_mut().enumerate() {
        // SAFETY: the caller's, of which each half has four.
        unsafe { mix_four(row, end, values.wrapping_add(4 * half), stride, sums) };
    }
}

/// One token: the weight at `$place` of the row with four values.
macro_rules! one_token {
    ($place:literal) => {
        concat!(
            "ldrh r6, [r0, #",
            $place,
            "]\n",
            "add r8, r6\n",
            "ldrb r7, [r1]\n",
            "muls r7, r6, r7\n",
            "adds r2, r2, r7\n",
            "ldrb r7, [r1, #1]\n",
            "muls r7, r6, r7\n",
            "adds r3, r3, r7\n",
            "ldrb r7, [r1, #2]\n",
            "muls r7, r6, r7\n",
            "adds r4, r4, r7\n",
            "ldrb r7, [r1, #3]\n",
            "muls r7, r6, r7\n",
            "adds r5, r5, r7\n",
            "add r1, r9\n",
        )
    };
}

/// The weighted sums of four lanes.
///
/// The values are 128 too large, so 128 · Σ weight is taken away in the end; all of it modulo 2³².
///
/// # Safety
/// `row … end` are weights, an even number and not empty; `values` has four bytes for each, `stride` bytes apart.
#[unsafe(naked)]
pub unsafe extern "C" fn mix_four(
    row: *const i16,
    end: *const i16,
    values: *const i8,
    stride: usize,
    sums: *mut [i32; 4],
) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "push {{r4-r6}}",
        "mov r10, r1",
        "mov r9, r3",
        "mov r1, r2",
        "movs r2, #0",
        "movs r3, #0",
        "movs r4, #0",
        "movs r5, #0",
        "mov r8, r2",
        "2:",
        one_token!("0"),
        one_token!("2"),
        "adds r0, #4",
        "cmp r0, r10",
        "bne 2b",
        "mov r7, r8",
        "lsls r7, r7, #7",
        "subs r2, r2, r7",
        "subs r3, r3, r7",
        "subs r4, r4, r7",
        "subs r5, r5, r7",
        "ldr r0, [sp, #32]",
        "stmia r0!, {{r2-r5}}",
        "pop {{r4-r6}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "pop {{r4-r7, pc}}",
    )
}
