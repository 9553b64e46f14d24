//! Activations as the paired products want them: for every four, a word X = (x₃, x₁) and a word
//! Z = (256·x₂ − x₃, 256·x₀ − x₁). With |x| ≤ 127 no half leaves 16 bits.

use core::arch::naked_asm;

/// Expands `columns` activations of one token: X, Z, X, Z …
///
/// # Safety
/// `columns` is a multiple of 4; `input` has as many bytes and starts on a word, `expanded` has half as many words.
#[unsafe(naked)]
pub unsafe extern "C" fn expand(input: *const i8, expanded: *mut u32, columns: usize) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "mov.w r12, #0xff00ff00",
        "subs r2, #16",
        "blo 3f",
        "2:",
        "ldmia r0!, {{r5, r7, r9, r11}}",
        "sxtb16 r4, r5, ror #8",
        "sxtb16 r6, r7, ror #8",
        "sxtb16 r8, r9, ror #8",
        "sxtb16 r10, r11, ror #8",
        "and r5, r12, r5, lsl #8",
        "and r7, r12, r7, lsl #8",
        "and r9, r12, r9, lsl #8",
        "and r11, r12, r11, lsl #8",
        "ssub16 r5, r5, r4",
        "ssub16 r7, r7, r6",
        "ssub16 r9, r9, r8",
        "ssub16 r11, r11, r10",
        "stmia r1!, {{r4-r11}}",
        "subs r2, #16",
        "bhs 2b",
        "3:",
        "adds r2, #16",
        "beq 5f",
        "4:",
        "ldr r5, [r0], #4",
        "sxtb16 r4, r5, ror #8",
        "and r5, r12, r5, lsl #8",
        "ssub16 r5, r5, r4",
        "strd r4, r5, [r1], #8",
        "subs r2, #4",
        "bne 4b",
        "5:",
        "pop {{r4-r11, pc}}",
    )
}

/// Expands three tokens of `columns` activations side by side: X, X, X, Z, Z, Z for every four columns.
///
/// # Safety
/// `columns` is a multiple of 4 and not 0; `input` has three times as many bytes and starts on a word, `expanded` has
/// three halves as many words.
#[unsafe(naked)]
pub unsafe extern "C" fn expand_three(input: *const i8, columns: usize, expanded: *mut u32) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "mov.w r12, #0xff00ff00",
        "adds r3, r0, r1",
        "adds r4, r3, r1",
        "2:",
        "ldr r9, [r0], #4",
        "ldr r10, [r3], #4",
        "ldr r11, [r4], #4",
        "sxtb16 r6, r9, ror #8",
        "sxtb16 r7, r10, ror #8",
        "sxtb16 r8, r11, ror #8",
        "and r9, r12, r9, lsl #8",
        "and r10, r12, r10, lsl #8",
        "and r11, r12, r11, lsl #8",
        "ssub16 r9, r9, r6",
        "ssub16 r10, r10, r7",
        "ssub16 r11, r11, r8",
        "stmia r2!, {{r6-r11}}",
        "subs r1, #4",
        "bne 2b",
        "pop {{r4-r11, pc}}",
    )
}
