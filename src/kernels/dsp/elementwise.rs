//! Activations and the stream's return to 8 bits on the DSP extension.

use super::are_multiples_of_four;
use crate::kernels::portable;

/// Negative values become zero.
pub fn relu(values: &mut [i8]) {
    if values.is_empty() || !are_multiples_of_four(&[values.len(), values.as_ptr().addr()]) {
        return portable::relu(values);
    }
    let range = values.as_mut_ptr_range();
    // SAFETY: whole words, at least one.
    unsafe { relu_words(range.start, range.end) }
}

/// Looks every value up in a table of the activation.
pub fn activate(table: &[i8; 256], values: &mut [i8]) {
    let (fours, rest) = values.as_chunks_mut::<4>();
    portable::activate(table, rest);
    if !fours.is_empty() {
        let range = fours.as_flattened_mut().as_mut_ptr_range();
        // SAFETY: a multiple of four bytes, at least four; a byte indexes a table of 256.
        unsafe { look_up(range.start, range.end, table) }
    }
}

/// The residual stream in 8 bits.
pub fn rescale(multiplier: i32, stream: &[i16], output: &mut [i8]) {
    let fits = stream.len() == output.len()
        && are_multiples_of_four(&[stream.len(), stream.as_ptr().addr(), output.as_ptr().addr()]);
    debug_assert!(fits, "lengths of stream and output");
    if !fits || stream.is_empty() {
        return;
    }
    let range = output.as_mut_ptr_range();
    // SAFETY: as many values in the stream as bytes in the output, a multiple of four, both on words.
    unsafe { rescale_words(stream.as_ptr(), range.start, range.end, multiplier) }
}

/// # Safety
/// `values … end` are whole words, at least one.
#[unsafe(naked)]
unsafe extern "C" fn relu_words(values: *mut i8, end: *mut i8) {
    naked_asm!(
        "push {{r4, r5, r6, lr}}",
        "movs r6, #0",
        "subs r1, r1, r0",
        "subs r1, #16",
        "blo 3f",
        "2:",
        "ldm r0, {{r2-r5}}",
        // A byte that is not negative sets its flag, by which SEL keeps it.
        "ssub8 r12, r2, r6",
        "sel r2, r2, r6",
        "ssub8 r12, r3, r6",
        "sel r3, r3, r6",
        "ssub8 r12, r4, r6",
        "sel r4, r4, r6",
        "ssub8 r12, r5, r6",
        "sel r5, r5, r6",
        "stmia r0!, {{r2-r5}}",
        "subs r1, #16",
        "bhs 2b",
        "3:",
        "adds r1, #16",
        "beq 5f",
        "4:",
        "ldr r2, [r0]",
        "ssub8 r12, r2, r6",
        "sel r2, r2, r6",
        "str r2, [r0], #4",
        "subs r1, #4",
        "bne 4b",
        "5:",
        "pop {{r4, r5, r6, pc}}",
    )
}

/// # Safety
/// `values … end` is a multiple of four bytes, at least four.
#[unsafe(naked)]
unsafe extern "C" fn look_up(values: *mut i8, end: *mut i8, table: &[i8; 256]) {
    naked_asm!(
        "push {{r4-r6, lr}}",
        "2:",
        "ldrb r3, [r0]",
        "ldrb r4, [r0, #1]",
        "ldrb r5, [r0, #2]",
        "ldrb r6, [r0, #3]",
        "ldrb r3, [r2, r3]",
        "ldrb r4, [r2, r4]",
        "ldrb r5, [r2, r5]",
        "ldrb r6, [r2, r6]",
        "strb r4, [r0, #1]",
        "strb r5, [r0, #2]",
        "strb r6, [r0, #3]",
        "strb r3, [r0], #4",
        "cmp r0, r1",
        "bne 2b",
        "pop {{r4-r6, pc}}",
    )
}

/// # Safety
/// `output … end` is a multiple of four bytes, at least four, on a word; the stream has as many values, on a word.
#[unsafe(naked)]
unsafe extern "C" fn rescale_words(stream: *const i16, output: *mut i8, end: *mut i8, multiplier: i32) {
    naked_asm!(
        "push {{r4-r9, lr}}",
        "mvn r12, #0",
        "2:",
        "ldmia.w r0!, {{r5, r7}}",
        "sxth r4, r5",
        "asrs r5, r5, #16",
        "sxth r6, r7",
        "asrs r7, r7, #16",
        "smmlar r4, r4, r3, r12",
        "smmlar r5, r5, r3, r12",
        "smmlar r6, r6, r3, r12",
        "smmlar r7, r7, r3, r12",
        "ssat r4, #8, r4",
        "ssat r5, #8, r5",
        "ssat r6, #8, r6",
        "ssat r7, #8, r7",
        "bfi r4, r5, #8, #24",
        "bfi r6, r7, #8, #24",
        "pkhbt r4, r4, r6, lsl #16",
        "qsub8 r4, r4, r12",
        "str r4, [r1], #4",
        "cmp r1, r2",
        "bne 2b",
        "pop {{r4-r9, pc}}",
    )
}
