//! The loops under [`super::linear`]: four rows of one token, or two rows of three tokens, over the packed stream.
//!
//! A group in the stream is `[bias; 4]`, the words, `[multiplier; 4]`. All fourteen registers are in use, so what a loop
//! needs once a group waits on the stack, and comes in one load. The unrolled chains are entered in the middle: a width
//! that is no multiple of a chain's costs one jump a group, not a loop for the rest.
//!
//! Saturation to [−127, 127]: SMMLAR adds −1, SSAT cuts to [−128, 127], QSUB8 takes four times −1 away, saturating.

use super::chain::{expand_four, expand_rest, expand_token, four_rows, two_rows, two_rows_of_three};

/// One token, expanded and multiplied: `$store` takes the sums r2–r5 and multipliers r10–lr to the place r6, which it
/// advances; r9 is −1. An output value has 2 to the power of `$scale` bytes. Of r5 units of 8 columns `$first` leaves
/// those of the first chain; `$more` goes back to 3 while columns are left after a chain.
macro_rules! one_token {
    ($name:ident, $output:ty, $scale:literal, $first:expr, $more:expr, $store:expr) => {
        /// All rows of one token. Most parameters stand where those of the door stand, which ends in a jump.
        ///
        /// # Safety
        /// `columns` is a multiple of 4, not 0; `input` has as many bytes and starts on a word, `expanded` has half as
        /// many words; `packed` is a matrix of whole groups of `columns` columns; `output` has a value for each row, a
        /// multiple of 4, not 0, and starts on a word.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(
            packed: *const u32,
            input: *const i8,
            columns: usize,
            expanded: *mut u32,
            output: *mut $output,
            rows: usize,
        ) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                expand_token!("r1", "r3", "r2"),
                "ldrd r6, r7, [sp, #36]",
                "mov r1, r0",
                "sub r0, r3, r2, lsl #1",
                concat!("add r7, r6, r7, lsl #", $scale),
                // r8: where the chain of eight is entered, 108 bytes for 8 columns. Carry: whether four columns are left.
                "lsrs r5, r2, #3",
                $first,
                "movs r4, #108",
                "adr.w r8, 4f",
                "mls r8, r5, r4, r8",
                "mvn r9, #0",
                "bcs 6f",
                "1:",
                // The frame: expanded, output, its end, entry, −1, end of expanded, entry of the chain.
                "push {{r0, r6-r11}}",
                "ldmia.w r1!, {{r2-r5}}",
                "mov pc, r8",
                "6:",
                // Four columns come before the chain.
                "orr r11, r8, #1",
                "adr.w r8, 2f",
                "b 1b",
                ".p2align 2",
                "2:",
                "ldrd r6, r7, [r0], #8",
                four_rows!("r6", "r7"),
                "ldr pc, [sp, #24]",
                "3:",
                ".rept 8",
                "ldmia.w r0!, {{r6-r9}}",
                four_rows!("r6", "r7"),
                four_rows!("r8", "r9"),
                ".endr",
                "4:",
                $more,
                "ldmia.w r1!, {{r10-r12, lr}}",
                "ldm sp, {{r0, r6-r9}}",
                $store,
                "cmp r6, r7",
                "beq 5f",
                "str r6, [sp, #4]",
                "ldmia.w r1!, {{r2-r5}}",
                "mov pc, r8",
                "5:",
                "add sp, #28",
                "pop {{r4-r11, pc}}",
                expand_rest!("r1", "r3"),
            )
        }
    };
}

macro_rules! what_is_no_whole_chain {
    () => {
        "mov r10, r3
         ittt ne
         subne r5, #1
         andne r5, #7
         addne r5, #1"
    };
}

macro_rules! while_columns_are_left {
    () => {
        "ldr r10, [sp, #20]
         cmp r0, r10
         bne 3b"
    };
}

macro_rules! to_bytes {
    () => {
        "smmlar r2, r2, r10, r9
         smmlar r3, r3, r11, r9
         smmlar r4, r4, r12, r9
         smmlar r5, r5, lr, r9
         ssat r2, #8, r2
         ssat r3, #8, r3
         ssat r4, #8, r4
         ssat r5, #8, r5
         bfi r2, r3, #8, #24
         bfi r4, r5, #8, #24
         pkhbt r2, r2, r4, lsl #16
         qsub8 r2, r2, r9
         str r2, [r6], #4"
    };
}

macro_rules! to_stream {
    () => {
        "smmulr r2, r2, r10
         smmulr r3, r3, r11
         smmulr r4, r4, r12
         smmulr r5, r5, lr
         ldrd r10, r11, [r6]
         ssat r2, #16, r2
         ssat r3, #16, r3
         ssat r4, #16, r4
         ssat r5, #16, r5
         pkhbt r2, r2, r3, lsl #16
         pkhbt r4, r4, r5, lsl #16
         qadd16 r2, r2, r10
         qadd16 r4, r4, r11
         strd r2, r4, [r6], #8"
    };
}

pub(super) use {to_bytes, to_stream};

/// Columns that one chain takes.
pub const SHORT: usize = 64;

one_token!(short_to_bytes, i8, 0, "", "", to_bytes!());
one_token!(short_to_stream, i16, 1, "", "", to_stream!());
one_token!(long_to_bytes, i8, 0, what_is_no_whole_chain!(), while_columns_are_left!(), to_bytes!());
one_token!(long_to_stream, i16, 1, what_is_no_whole_chain!(), while_columns_are_left!(), to_stream!());

/// Three tokens: `$store` takes the sums r2–r7 (two rows of each token) and the multipliers r8, r9 to the place r10, which
/// it advances by a group; r11 is the length of an output token in bytes, r12 is −1.
macro_rules! three_tokens {
    ($name:ident, $output:ty, $scale:literal, $store:expr) => {
        /// Rows 0 and 1 of every group, for three tokens; rows 2 and 3 with all pointers two rows further.
        ///
        /// # Safety
        /// As for one token, with three tokens side by side in `expanded` and three of `rows` values in `output`.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(
            expanded: *const u32,
            packed: *const u32,
            end: *const u32,
            output: *mut $output,
            columns: usize,
            rows: usize,
        ) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "ldrd r4, r11, [sp, #36]",
                "mov r10, r3",
                concat!("lsl r11, r11, #", $scale),
                "mvn r12, #0",
                // lr: the end of the expanded tokens, 6 bytes a column.
                "add lr, r4, r4, lsl #1",
                "add lr, r0, lr, lsl #1",
                // r4: where the chain is entered after the first four columns, 68 bytes for each four.
                "lsrs r4, r4, #2",
                "subs r4, #1",
                "and r4, #7",
                "movs r5, #68",
                "adr.w r6, 4f",
                "mls r4, r4, r5, r6",
                "orr r4, #1",
                // The frame: expanded, output, bytes of a token, −1; end of packed, entry.
                "push {{r2, r4}}",
                "push {{r0, r10-r12}}",
                "2:",
                "ldrd r2, r3, [r1], #16",
                "ldrd r11, r12, [r1], #16",
                "ldmia.w r0!, {{r8-r10}}",
                // The first products take the biases into the sums of the second and third token.
                "smlad r4, r11, r9, r2",
                "smlad r5, r12, r9, r3",
                "smlad r6, r11, r10, r2",
                "smlad r7, r12, r10, r3",
                "smlad r2, r11, r8, r2",
                "smlad r3, r12, r8, r3",
                "sxtb16 r11, r11",
                "sxtb16 r12, r12",
                "ldmia.w r0!, {{r8-r10}}",
                two_rows!(),
                "ldr pc, [sp, #20]",
                ".p2align 2",
                "3:",
                ".rept 8",
                two_rows_of_three!(),
                ".endr",
                "4:",
                "cmp r0, lr",
                "bne 3b",
                "ldrd r8, r9, [r1], #16",
                "ldm sp, {{r0, r10-r12}}",
                $store,
                "str r10, [sp, #4]",
                "ldr r8, [sp, #16]",
                "cmp r1, r8",
                "bne 2b",
                "add sp, #24",
                "pop {{r4-r11, pc}}",
            )
        }
    };
}

three_tokens!(
    three_to_bytes,
    i8,
    0,
    "smmlar r2, r2, r8, r12
     smmlar r3, r3, r9, r12
     smmlar r4, r4, r8, r12
     smmlar r5, r5, r9, r12
     smmlar r6, r6, r8, r12
     smmlar r7, r7, r9, r12
     ssat r2, #8, r2
     ssat r3, #8, r3
     ssat r4, #8, r4
     ssat r5, #8, r5
     ssat r6, #8, r6
     ssat r7, #8, r7
     bfi r2, r3, #8, #8
     bfi r4, r5, #8, #8
     bfi r6, r7, #8, #8
     qsub8 r2, r2, r12
     qsub8 r4, r4, r12
     qsub8 r6, r6, r12
     strh r4, [r10, r11]
     strh.w r6, [r10, r11, lsl #1]
     strh r2, [r10], #4"
);

three_tokens!(
    three_to_stream,
    i16,
    1,
    "smmulr r2, r2, r8
     smmulr r3, r3, r9
     smmulr r4, r4, r8
     smmulr r5, r5, r9
     smmulr r6, r6, r8
     smmulr r7, r7, r9
     ssat r2, #16, r2
     ssat r3, #16, r3
     ssat r4, #16, r4
     ssat r5, #16, r5
     ssat r6, #16, r6
     ssat r7, #16, r7
     pkhbt r2, r2, r3, lsl #16
     pkhbt r4, r4, r5, lsl #16
     pkhbt r6, r6, r7, lsl #16
     ldr r3, [r10]
     ldr r5, [r10, r11]
     ldr r7, [r10, r11, lsl #1]
     qadd16 r2, r2, r3
     qadd16 r4, r4, r5
     qadd16 r6, r6, r7
     str r4, [r10, r11]
     str r6, [r10, r11, lsl #1]
     str r2, [r10], #8"
);
