//! The loops for ARMv7-M: four rows at a time, `MLA` and `ADD … ASR #16` for every two products.
//!
//! A group in the stream is `[bias; 4]`, the words, `[multiplier; 4]`. A chain takes up to 64 columns, six at a time as far as that
//! goes, because there are registers for three words of activations. It is entered in the middle: a width that is no multiple
//! of 64 costs one or two jumps a group, not a loop for the rest.

use core::arch::naked_asm;

use microformer_packed::Linear;

use super::super::linear::Rows;

/// The four activations of `$word` become two words, of which the second takes its place; r12 is the mask.
macro_rules! expand_four {
    ($word:literal, $first:literal) => {
        concat!(
            concat!("eor ", $word, ", ", $word, ", #0x80808080\n"),
            concat!("and ", $first, ", r12, ", $word, "\n"),
            concat!("and ", $word, ", r12, ", $word, ", lsr #8\n"),
            concat!("sub ", $first, ", ", $first, ", #0x00800080\n"),
            concat!("sub ", $word, ", ", $word, ", #0x00800080\n"),
        )
    };
}

/// X = x₀ + 2¹⁶·x₁ for every two of `len` activations that share a word.
///
/// # Safety
/// `len` is a multiple of 4, not 0; `token` has as many bytes and starts on a word, `expanded` has half as many words.
#[unsafe(naked)]
pub unsafe extern "C" fn expand_fours(token: *const i8, expanded: *mut u32, len: usize) {
    naked_asm!(
        "push {{r4-r10, lr}}",
        "mov r12, #0x00ff00ff",
        // Sixteen a turn, after the fours that are too many.
        "ands r3, r2, #12",
        "beq 3f",
        "subs r2, r2, r3",
        "2:",
        "ldr r5, [r0], #4",
        expand_four!("r5", "r4"),
        "strd r4, r5, [r1], #8",
        "subs r3, #4",
        "bne 2b",
        "cbz r2, 4f",
        "3:",
        "ldm r0!, {{r4, r6, r8, r10}}",
        "subs r2, #16",
        expand_four!("r4", "r3"),
        expand_four!("r6", "r5"),
        expand_four!("r8", "r7"),
        expand_four!("r10", "r9"),
        "stm r1!, {{r3-r10}}",
        "bne 3b",
        "4:",
        "pop {{r4-r10, pc}}",
    )
}

/// Four products of rows r6–r9 with X in `$x`, into the sums r2–r5; lr is 2¹⁵.
macro_rules! two_columns {
    ($x:literal) => {
        concat!(
            "ldmia.w r1!, {{r6-r9}}\n",
            "mla r6, r6, ",
            $x,
            ", lr\n",
            "mla r7, r7, ",
            $x,
            ", lr\n",
            "mla r8, r8, ",
            $x,
            ", lr\n",
            "mla r9, r9, ",
            $x,
            ", lr\n",
            "add.w r2, r2, r6, asr #16\n",
            "add.w r3, r3, r7, asr #16\n",
            "add.w r4, r4, r8, asr #16\n",
            "add.w r5, r5, r9, asr #16\n",
        )
    };
}

/// Four columns.
macro_rules! two_pairs {
    () => {
        concat!("ldmia.w r0!, {{r10, r11}}\n", two_columns!("r10"), two_columns!("r11"))
    };
}

/// `requantize(sum, multiplier)` of the four sums r2–r5 with the multipliers, which are 256 times as large.
macro_rules! requantize_four {
    () => {
        "ldmia.w r1!, {{r6-r9}}
         smull r6, r2, r2, r6
         smull r7, r3, r3, r7
         smull r8, r4, r4, r8
         smull r9, r5, r5, r9
         add r2, r2, r6, lsr #31
         add r3, r3, r7, lsr #31
         add r4, r4, r8, lsr #31
         add r5, r5, r9, lsr #31
         "
    };
}

/// [`requantize_four`] with multipliers that are as large as they are, but for their highest bit.
macro_rules! requantize_large {
    () => {
        "ldmia.w r1!, {{r6-r9}}
         lsl.w r2, r2, #8
         lsl.w r3, r3, #8
         lsl.w r4, r4, #8
         lsl.w r5, r5, #8
         bic r6, r6, #0x80000000
         bic r7, r7, #0x80000000
         bic r8, r8, #0x80000000
         bic r9, r9, #0x80000000
         smull r6, r2, r2, r6
         smull r7, r3, r3, r7
         smull r8, r4, r4, r8
         smull r9, r5, r5, r9
         add r2, r2, r6, lsr #31
         add r3, r3, r7, lsr #31
         add r4, r4, r8, lsr #31
         add r5, r5, r9, lsr #31
         "
    };
}

/// Four values of 8 bits become the bytes of the first; −128 becomes −127. Uses the second.
macro_rules! pack_bytes {
    ($first:literal, $second:literal, $third:literal, $fourth:literal) => {
        concat!(
            concat!("bfi ", $first, ", ", $second, ", #8, #8\n"),
            concat!("bfi ", $third, ", ", $fourth, ", #8, #8\n"),
            concat!("bfi ", $first, ", ", $third, ", #16, #16\n"),
            concat!("and ", $second, ", ", $first, ", #0x7f7f7f7f\n"),
            concat!("add ", $second, ", ", $second, ", #0x7f7f7f7f\n"),
            concat!("bic ", $second, ", ", $first, ", ", $second, "\n"),
            concat!("and ", $second, ", ", $second, ", #0x80808080\n"),
            concat!("add ", $first, ", ", $first, ", ", $second, ", lsr #7\n"),
        )
    };
}
pub(super) use pack_bytes;

/// All rows of one token, in a chain of `$threes` times six columns and four more: `$store` takes the requantised sums r2–r5 to the place r12, which it advances.
macro_rules! rows {
    ($name:ident, $output:ty, $threes:literal, $requantize:expr, $store:expr) => {
        /// All rows of one token. `end` is the end of `packed`.
        ///
        /// # Safety
        /// `columns` is a multiple of 4, not 0; `expanded` has half as many words; `packed … end` is a matrix of whole
        /// groups of `columns` columns, not empty; `output` has a value for each row and starts on a word.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(
            expanded: *const u32,
            packed: *const u32,
            end: *const u32,
            output: *mut $output,
            columns: usize,
        ) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "ldr r4, [sp, #36]",
                "movw lr, #0x8000",
                "add r5, r0, r4, lsl #1",
                // Pairs of columns in the first run of the chain.
                "lsrs r4, r4, #1",
                "subs r4, #1",
                "and r4, r4, #{last}",
                "adds r4, #1",
                // They are threes, of 112 bytes, behind twos of which there are 0, 2 or 1.
                "movs r6, #3",
                "udiv r7, r4, r6",
                "mls r8, r7, r6, r4",
                "cmp r8, #1",
                "it eq",
                "subeq r7, #1",
                "movs r6, #112",
                "adr.w r9, 4f",
                "mls r9, r7, r6, r9",
                "orr r9, r9, #1",
                // r10: where a group begins.
                "mov r10, r9",
                "cmp r8, #0",
                "beq 9f",
                "adr.w r10, 8f",
                "cmp r8, #1",
                "it ne",
                "addne r10, #76",
                "cmp r4, #{pairs}",
                "it eq",
                "adreq.w r10, 3f",
                "orr r10, r10, #1",
                "9:",
                // The frame: expanded, end of packed, entry, output, end of expanded, entry of the threes.
                "sub sp, #24",
                "strd r0, r2, [sp]",
                "strd r10, r3, [sp, #8]",
                "strd r5, r9, [sp, #16]",
                // The carry says for all groups whether the chain must be run again; nothing below changes it.
                "subs r5, r5, r0",
                "cmp r5, #{bytes} + 1",
                "ldmia.w r1!, {{r2-r5}}",
                "bx r10",
                ".p2align 2",
                "8:",
                two_pairs!(),
                two_pairs!(),
                "ldr pc, [sp, #20]",
                ".p2align 2",
                "3:",
                two_pairs!(),
                ".rept {threes}",
                "ldmia.w r0!, {{r10-r12}}",
                two_columns!("r10"),
                two_columns!("r11"),
                two_columns!("r12"),
                ".endr",
                "4:",
                "bcs 6f",
                "7:",
                $requantize,
                "ldm sp, {{r0, r10-r12}}",
                $store,
                "str r12, [sp, #12]",
                "teq r1, r10",
                "beq 5f",
                "ldmia.w r1!, {{r2-r5}}",
                "bx r11",
                "5:",
                "add sp, #24",
                "pop {{r4-r11, pc}}",
                "6:",
                "ldr r10, [sp, #16]",
                "teq r0, r10",
                "bne.w 3b",
                "b 7b",
                threes = const $threes,
                pairs = const 2 + 3 * $threes,
                last = const 1 + 3 * $threes,
                bytes = const 4 * (2 + 3 * $threes),
            )
        }
    };
}

/// r2–r5 in 8 bits, to the place r12, which advances.
macro_rules! store_bytes {
    () => {
        concat!(
            "ssat r2, #8, r2\n",
            "ssat r3, #8, r3\n",
            "ssat r4, #8, r4\n",
            "ssat r5, #8, r5\n",
            pack_bytes!("r2", "r3", "r4", "r5"),
            "str r2, [r12], #4\n",
        )
    };
}

/// r2–r5 in 16 bits, added to the stream at r12, which advances.
macro_rules! store_stream {
    () => {
        "ssat r2, #16, r2
         ssat r3, #16, r3
         ssat r4, #16, r4
         ssat r5, #16, r5
         ldrd r6, r7, [r12]
         sxth r8, r6
         sxth r9, r7
         add r2, r2, r8
         add r3, r3, r6, asr #16
         add r4, r4, r9
         add r5, r5, r7, asr #16
         ssat r2, #16, r2
         ssat r3, #16, r3
         ssat r4, #16, r4
         ssat r5, #16, r5
         bfi r2, r3, #16, #16
         bfi r4, r5, #16, #16
         strd r2, r4, [r12], #8"
    };
}
pub(super) use {requantize_four, store_bytes, store_stream, two_columns};

rows!(rows_to_bytes, i8, 10, requantize_four!(), store_bytes!());
rows!(rows_to_stream, i16, 10, requantize_four!(), store_stream!());

// Few matrices have outputs as fine as this, and those are small: a short chain does.
rows!(rows_to_bytes_of_large, i8, 2, requantize_large!(), store_bytes!());
rows!(rows_to_stream_of_large, i16, 2, requantize_large!(), store_stream!());

/// The loop for a matrix.
pub fn to_bytes(matrix: &Linear) -> Rows<i8> {
    if is_large(matrix) { rows_to_bytes_of_large } else { rows_to_bytes }
}

/// Likewise, into the stream.
pub fn to_stream(matrix: &Linear) -> Rows<i16> {
    if is_large(matrix) { rows_to_stream_of_large } else { rows_to_stream }
}

/// Does a matrix have multipliers too large to be 256 times as large? Packing says so in the highest bit of all.
pub fn is_large(matrix: &Linear) -> bool {
    matrix.packed.last().is_some_and(|&multiplier| (multiplier as i32) < 0)
}
