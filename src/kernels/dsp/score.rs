//! The loop under [`super::attention::scores`]: four keys at a time against the expanded query, like four rows of a matrix.

use super::chain::{expand_four, expand_rest, expand_token, four_rows, two_rows, two_rows_of_three};

/// Longest head that one chain takes: those of [`score_short`].
pub const SHORT: usize = 64;

/// Whole groups of keys in whose order distance falls by one from key to key.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Phase {
    /// What is added to 256 · q·k of the first four keys.
    pub biases: [i32; 4],
    /// Where their scores end in the row; null behind the last phase.
    pub end: *const i16,
}

impl Phase {
    pub const NONE: Self = Self { biases: [0; 4], end: core::ptr::null() };
}

/// What the loop needs beside the query and the keys. The order is the one in which it loads the fields.
#[repr(C)]
pub struct Scan {
    pub row: *mut i16,
    pub multiplier: i32,
    /// By how much the bias grows from key to key.
    pub slope: i32,
    pub head_len: usize,
    pub phases: *const Phase,
}

/// One query, expanded and multiplied with the keys. `$keep` saves the end of the expanded query in r8; of r5 units of 8
/// values `$first` leaves those of the first chain; `$more` goes back to 3 while values are left after a chain.
macro_rules! one_query {
    ($name:ident, $keep:expr, $first:expr, $more:expr) => {
        /// Expands the query and scores the keys.
        ///
        /// # Safety
        /// `head_len` is a multiple of 4, not 0; `query` has as many bytes and starts on a word, `expanded` has half as
        /// many words; `row` starts on a word and is whole groups long up to the end of the last phase, `keys` has as
        /// many groups; there is at least one phase, none is empty, and [`Phase::NONE`] follows the last.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(query: *const i8, expanded: *mut u32, keys: *const u32, scan: &Scan) {
            naked_asm!(
                "push {{r1, r4-r11, lr}}",
                "ldr lr, [r3, #12]",
                expand_token!("r0", "r1", "lr"),
                $keep,
                "mov r1, r2",
                "pop {{r0}}",
                "ldm r3, {{r6, r9-r12}}",
                // r4: where the chain is entered, 108 bytes for 8 values; r11: the same, or four values before.
                "lsrs r5, r11, #3",
                $first,
                "movs r3, #108",
                "adr.w r4, 4f",
                "mls r4, r5, r3, r4",
                "orr r4, #1",
                "lsls r3, r11, #29",
                "mov r11, r4",
                "adr.w r3, 2f",
                "it mi",
                "orrmi r11, r3, #1",
                "push {{r4, r8}}",
                // The frame: expanded, row, bias, end of the phase, multiplier, slope, entry, next phase, entry of the
                // chain, end of expanded.
                "push {{r0, r6-r12}}",
                "b 5f",
                ".p2align 2",
                "2:",
                "ldrd r6, r7, [r0], #8",
                four_rows!("r6", "r7"),
                "ldr pc, [sp, #32]",
                "3:",
                ".rept 8",
                "ldmia.w r0!, {{r6-r9}}",
                four_rows!("r6", "r7"),
                four_rows!("r8", "r9"),
                ".endr",
                "4:",
                $more,
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
                "strd r3, r5, [r6], #8",
                "cmp r6, r8",
                "beq 5f",
                "strd r6, r2, [sp, #4]",
                "add r3, r2, r10",
                "add r4, r2, r10, lsl #1",
                "add r5, r3, r10, lsl #1",
                "ldr pc, [sp, #24]",
                "5:",
                "ldr r7, [sp, #28]",
                "ldmia.w r7!, {{r2-r5, r8}}",
                "str r7, [sp, #28]",
                "strd r6, r2, [sp, #4]",
                "str r8, [sp, #12]",
                "cmp r8, #0",
                "it ne",
                "ldrne pc, [sp, #24]",
                "add sp, #40",
                "pop {{r4-r11, pc}}",
                expand_rest!("r0", "r1"),
            )
        }
    };
}

one_query!(score_short, "", "", "");
one_query!(
    score_long,
    "mov r8, r1",
    "subs r5, #1
     and r5, #7
     adds r5, #1",
    "ldr r6, [sp, #36]
     cmp r0, r6
     bne 3b"
);

/// Longest head that the unrolled chain of [`score_three`] takes.
pub const SHORT_OF_THREE: usize = 32;

/// What [`score_three`] needs beside queries and keys. The order is the one in which it loads the fields.
#[repr(C)]
pub struct ScanOfThree {
    pub multiplier: i32,
    pub slope: i32,
    /// What is added to 256 · q·k of the first query and the first key.
    pub bias: i32,
    /// From one query's row to the next.
    pub row_bytes: usize,
    pub end: *mut i16,
    pub head_len: usize,
    /// Keys, row and bias of the third key.
    pub second_keys: *const u32,
    pub second_row: *mut i16,
    pub second_bias: i32,
}

/// Scores keys 0 and 1 of every group for three queries, each one token after the one before; then keys 2 and 3.
///
/// # Safety
/// `head_len` is a multiple of 4, not 0, at most [`SHORT_OF_THREE`]; `expanded` holds the three queries side by side;
/// `keys` has a group for every four places of `row … end`, not 0; two more rows follow, `row_bytes` apart.
#[unsafe(naked)]
pub unsafe extern "C" fn score_three(expanded: *const u32, keys: *const u32, row: *mut i16, scan: &ScanOfThree) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "mov lr, r2",
        "ldm r3, {{r8-r12}}",
        // r7: where the chain is entered after the first four values, 68 bytes for each four.
        "ldr r7, [r3, #20]",
        "lsrs r7, r7, #2",
        "subs r7, #1",
        "movs r6, #68",
        "adr.w r5, 4f",
        "mls r7, r7, r6, r5",
        "orr r7, #1",
        "mov r2, r10",
        "add r6, r3, #24",
        "mov r3, r7",
        "ldm r6, {{r4-r6}}",
        // The frame: expanded, multiplier, slope, bias, bytes of a row, end, entry; keys, row, bias of the second half.
        "push {{r3-r6}}",
        "push {{r0, r8-r12}}",
        "2:",
        "add r3, r2, r9",
        "sub r4, r2, r9",
        "sub r6, r4, r9",
        "ldrd r11, r12, [r1], #16",
        "ldmia.w r0!, {{r8-r10}}",
        // The second key is nearer by one token, a later query further by one: four biases serve six sums.
        "smlad r5, r12, r9, r2",
        "smlad r7, r12, r10, r4",
        "smlad r4, r11, r9, r4",
        "smlad r6, r11, r10, r6",
        "smlad r2, r11, r8, r2",
        "smlad r3, r12, r8, r3",
        "sxtb16 r11, r11",
        "sxtb16 r12, r12",
        "ldmia.w r0!, {{r8-r10}}",
        two_rows!(),
        "ldr pc, [sp, #24]",
        ".p2align 2",
        ".rept 7",
        two_rows_of_three!(),
        ".endr",
        "4:",
        "ldm sp, {{r0, r8-r12}}",
        "smmulr r2, r2, r8",
        "smmulr r3, r3, r8",
        "smmulr r4, r4, r8",
        "smmulr r5, r5, r8",
        "smmulr r6, r6, r8",
        "smmulr r7, r7, r8",
        "ssat r2, #16, r2",
        "ssat r3, #16, r3",
        "ssat r4, #16, r4",
        "ssat r5, #16, r5",
        "ssat r6, #16, r6",
        "ssat r7, #16, r7",
        "pkhbt r2, r2, r3, lsl #16",
        "pkhbt r4, r4, r5, lsl #16",
        "pkhbt r6, r6, r7, lsl #16",
        "str r4, [lr, r11]",
        "str r6, [lr, r11, lsl #1]",
        "str r2, [lr], #8",
        "add r2, r10, r9, lsl #2",
        "str r2, [sp, #12]",
        "cmp lr, r12",
        "bne 2b",
        // The second half begins once.
        "add r4, sp, #28",
        "ldm r4, {{r1-r3}}",
        "cbz r1, 5f",
        "mov lr, r2",
        "mov r2, r3",
        "movs r3, #0",
        "str r3, [r4]",
        "str r2, [sp, #12]",
        "adds r12, #4",
        "str r12, [sp, #20]",
        "b 2b",
        "5:",
        "add sp, #40",
        "pop {{r4-r11, pc}}",
    )
}
