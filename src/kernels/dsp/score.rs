//! The loop under [`super::attention::scores`]: four keys at a time against the expanded query, like four rows of a matrix.

use super::chain::{expand_four, expand_token, four_rows};

/// Longest head that the unrolled chain takes.
pub const SHORT: usize = 64;

/// What the loop needs beside the query and the keys. The order is the one in which it loads the fields.
#[repr(C)]
pub struct Scan {
    /// Where the scores of whole groups go, up to `end`.
    pub row: *mut i16,
    /// What is added to 256 · q·k of the first key.
    pub bias: i32,
    pub end: *mut i16,
    pub multiplier: i32,
    /// By how much the bias grows from key to key.
    pub slope: i32,
    pub head_len: usize,
    /// Where the scores of one more group go; null if there is none.
    pub spare: *mut i16,
}

/// Expands the query and scores the keys.
///
/// # Safety
/// `head_len` is a multiple of 4, not 0, at most [`SHORT`]; `query` has as many bytes and starts on a word, `expanded` has
/// half as many words; `keys` has a group for every four places of the row and of the spare, of which there is at least
/// one.
#[unsafe(naked)]
pub unsafe extern "C" fn score(query: *const i8, expanded: *mut u32, keys: *const u32, scan: &Scan) {
    naked_asm!(
        "push {{r1, r4-r11, lr}}",
        "ldr lr, [r3, #20]",
        expand_token!(),
        "mov r1, r2",
        "pop {{r0}}",
        "ldm r3, {{r6-r12}}",
        // r4: where the chain is entered, 108 bytes for 8 values; r11: the same, or four values before.
        "lsrs r5, r11, #3",
        "movs r3, #108",
        "adr.w r4, 4f",
        "mls r4, r5, r3, r4",
        "orr r4, #1",
        "lsls r3, r11, #29",
        "mov r11, r4",
        "adr.w r3, 2f",
        "it mi",
        "orrmi r11, r3, #1",
        "push {{r4}}",
        // The frame: expanded, row, bias, end of the row, multiplier, slope, entry, spare, entry of the chain.
        "push {{r0, r6-r12}}",
        "mov r2, r7",
        "cmp r6, r8",
        "bne 6f",
        "b 5f",
        ".p2align 2",
        "2:",
        "ldrd r6, r7, [r0], #8",
        four_rows!("r6", "r7"),
        "ldr pc, [sp, #32]",
        ".rept 8",
        "ldmia.w r0!, {{r6-r9}}",
        four_rows!("r6", "r7"),
        four_rows!("r8", "r9"),
        ".endr",
        "4:",
        "ldm sp, {{r0, r6-r10}}",
        "smmulr r2, r2, r9",
        "smmulr r3, r3, r9",
        "smmulr r4, r4, r9",
        "smmulr r5, r5, r9",
        "ssat r2, #16, r2",
        "ssat r3, #16, r3",
        "ssat r4, #16, r4",
        "ssat r5, #16, r5",
        "pkhbt r3, r2, r3, lsl #16",
        "pkhbt r5, r4, r5, lsl #16",
        "add r2, r7, r10, lsl #2",
        // Two stores: a row may begin at an odd place, where one double store would fault.
        "str r3, [r6], #4",
        "str r5, [r6], #4",
        "cmp r6, r8",
        "beq 5f",
        "strd r6, r2, [sp, #4]",
        "6:",
        "add r3, r2, r10",
        "add r4, r2, r10, lsl #1",
        "add r5, r3, r10, lsl #1",
        "ldr pc, [sp, #24]",
        // The spare becomes the row, once.
        "5:",
        "ldr r6, [sp, #28]",
        "cbz r6, 7f",
        "adds r3, r6, #8",
        "strd r6, r2, [sp, #4]",
        "str r3, [sp, #12]",
        "movs r3, #0",
        "str r3, [sp, #28]",
        "b 6b",
        "7:",
        "add sp, #36",
        "pop {{r4-r11, pc}}",
    )
}
