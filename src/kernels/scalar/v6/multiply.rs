//! The loops for ARMv6-M: two rows at a time, `MULS`, `ASRS` and `ADCS` for every two products.
//!
//! `ASRS #16` leaves the bit that rounds in the carry, where `ADCS` takes it from. A group in the stream is `[bias; 2]`, the
//! words, `[multiplier; 2]`. The chain of sixteen steps of four columns is entered in the middle.
//!
//! There is no multiplication that gives more than 32 bits. With s = 2¹⁶·s₁ + s₀ and m = 2¹⁶·m₁ + m₀ (s₁, m₁ signed)
//!
//!     (s·m + 2²³) >> 24 = 2⁸·s₁m₁ + ((s₁m₀ + s₀m₁ + (s₀m₀ >> 16) + 2⁷) >> 8)
//!
//! exactly, as 2²³ is a multiple of 2¹⁶. |s| < 2²³ and |m| < 127 · 2²⁴ (`bake` proves both) keep the middle inside 32 bits,
//! with the 2¹⁵ in 1/256 that is added for the sake of saturation:
//! 127·(2¹⁶ − 1) + (2¹⁶ − 1)·(127·2⁸ − 1) + 2¹⁶ + 2²³ + 2⁷ < 2³¹.

use core::arch::naked_asm;

use microformer_packed::Linear;

use super::super::linear::Rows;

/// Four activations become two words: r5 is the mask, r6 the offsets of bytes, r7 those of words.
macro_rules! expand_four {
    () => {
        "ldmia r0!, {{r4}}
         eors r4, r6
         movs r3, r4
         ands r3, r5
         subs r3, r3, r7
         lsrs r4, r4, #8
         ands r4, r5
         subs r4, r4, r7
         stmia r1!, {{r3, r4}}"
    };
}

/// X = x₀ + 2¹⁶·x₁ for every two of `len` activations that share a word.
///
/// # Safety
/// `len` is a multiple of 4, not 0; `token` has as many bytes and starts on a word, `expanded` has half as many words.
#[unsafe(naked)]
pub unsafe extern "C" fn expand_fours(token: *const i8, expanded: *mut u32, len: usize) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "ldr r5, 5f",
        "ldr r6, 6f",
        "ldr r7, 7f",
        // Sixteen a turn, after the fours that are too many.
        "b 3f",
        "2:",
        expand_four!(),
        "subs r2, #4",
        "3:",
        "lsls r3, r2, #28",
        "bne 2b",
        "cmp r2, #0",
        "beq 8f",
        "4:",
        expand_four!(),
        expand_four!(),
        expand_four!(),
        expand_four!(),
        "subs r2, #16",
        "bne 4b",
        "8:",
        "pop {{r4-r7, pc}}",
        ".p2align 2",
        "5:",
        ".word 0x00ff00ff",
        "6:",
        ".word 0x80808080",
        "7:",
        ".word 0x00800080",
    )
}

/// Two columns of rows r6 and r7 with X in `$x`, into the sums r2 and r3.
macro_rules! two_columns {
    ($x:literal) => {
        concat!(
            "ldmia r0!, {{r6, r7}}\n",
            "muls r6, ",
            $x,
            ", r6\n",
            "muls r7, ",
            $x,
            ", r7\n",
            "asrs r6, r6, #16\n",
            "adcs r2, r2, r6\n",
            "asrs r7, r7, #16\n",
            "adcs r3, r3, r7\n",
        )
    };
}

pub(super) use two_columns;

/// `requantize(256 · sum, multiplier)` in place of the sum, plus what lr has above 2⁷, in 1/256. The
/// multiplier's highest bit does not count. Uses r1, r6, r7.
macro_rules! requantize_one {
    ($sum:literal, $multiplier:literal) => {
        concat!(
            "uxth r6, ",
            $sum,
            "\n",
            "asrs ",
            $sum,
            ", ",
            $sum,
            ", #16\n",
            "uxth r7, ",
            $multiplier,
            "\n",
            "lsls ",
            $multiplier,
            ", ",
            $multiplier,
            ", #1\n",
            "lsrs ",
            $multiplier,
            ", ",
            $multiplier,
            ", #17\n",
            "movs r1, r6\n",
            "muls r1, ",
            $multiplier,
            ", r1\n",
            "muls r6, r7, r6\n",
            "muls r7, ",
            $sum,
            ", r7\n",
            "muls ",
            $multiplier,
            ", ",
            $sum,
            ", ",
            $multiplier,
            "\n",
            "lsrs r6, r6, #16\n",
            "adds r6, r6, r7\n",
            "adds r6, r6, r1\n",
            "add r6, lr\n",
            "asrs r6, r6, #8\n",
            "lsls ",
            $multiplier,
            ", ",
            $multiplier,
            ", #8\n",
            "adds ",
            $sum,
            ", r6, ",
            $multiplier,
            "\n",
        )
    };
}

/// [`requantize_one`] for a multiplier below 2¹⁶.
macro_rules! requantize_short {
    ($sum:literal, $multiplier:literal) => {
        concat!(
            "uxth r6, ",
            $sum,
            "\n",
            "asrs ",
            $sum,
            ", ",
            $sum,
            ", #16\n",
            "muls r6, ",
            $multiplier,
            ", r6\n",
            "muls ",
            $sum,
            ", ",
            $multiplier,
            ", ",
            $sum,
            "\n",
            "lsrs r6, r6, #16\n",
            "adds ",
            $sum,
            ", ",
            $sum,
            ", r6\n",
            "add ",
            $sum,
            ", lr\n",
            "asrs ",
            $sum,
            ", ",
            $sum,
            ", #8\n",
        )
    };
}

/// All rows of one token: `$store` takes the requantised sums r2 and r3, plus what `$rounding` has above 2⁷, to the place
/// r11, which it advances; `$rare` holds the parts of it that are seldom needed. `$again` goes to 8 where the chain must be run
/// again.
macro_rules! rows {
    ($name:ident, $output:ty, $again:literal, $rounding:literal, $store:expr, $rare:expr) => {
        /// All rows of one token. `end` is the end of `packed`.
        ///
        /// # Safety
        /// `columns` is a multiple of 4, not 0; `expanded` has half as many words; `packed … end` is a matrix of whole
        /// groups of `columns` columns, not empty; `output` has a value for each row and starts on a word. Where the chain is
        /// run once, there are at most 64 columns.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(
            expanded: *const u32,
            packed: *const u32,
            end: *const u32,
            output: *mut $output,
            columns: usize,
        ) {
            naked_asm!(
                "push {{r4-r7, lr}}",
                "mov r4, r8",
                "mov r5, r9",
                "mov r6, r10",
                "mov r7, r11",
                "push {{r4-r7}}",
                "ldr r4, [sp, #36]",
                "mov r8, r0",
                "mov r10, r2",
                "mov r11, r3",
                "lsls r5, r4, #1",
                "adds r5, r5, r0",
                "mov r9, r5",
                // r12: where the chain is entered first, 30 bytes for every four columns.
                "lsrs r4, r4, #2",
                "subs r4, #1",
                "lsls r4, r4, #28",
                "lsrs r4, r4, #28",
                "adds r4, #1",
                "movs r6, #30",
                "muls r4, r6, r4",
                "adr r5, 4f",
                "subs r5, r5, r4",
                "adds r5, #1",
                "mov r12, r5",
                $rounding,
                "mov lr, r4",
                "mov r0, r1",
                "mov r1, r8",
                "ldmia r0!, {{r2, r3}}",
                "bx r12",
                ".p2align 2",
                "3:",
                ".rept 16",
                "ldmia r1!, {{r4, r5}}",
                two_columns!("r4"),
                two_columns!("r5"),
                ".endr",
                ".p2align 2",
                "4:",
                $again,
                "ldmia r0!, {{r4, r5}}",
                // Most multipliers have no upper half, and half of the products are zero. Others have the highest bit.
                "adds r6, r4, r5",
                "bcs 7f",
                requantize_short!("r2", "r4"),
                requantize_short!("r3", "r5"),
                "6:",
                $store,
                "cmp r0, r10",
                "beq 5f",
                "mov r1, r8",
                "ldmia r0!, {{r2, r3}}",
                "bx r12",
                "5:",
                "pop {{r4-r7}}",
                "mov r8, r4",
                "mov r9, r5",
                "mov r10, r6",
                "mov r11, r7",
                "pop {{r4-r7, pc}}",
                "7:",
                requantize_one!("r2", "r4"),
                requantize_one!("r3", "r5"),
                "b 6b",
                "8:",
                "b 3b",
                $rare,
            )
        }
    };
}

// Bytes are stored after a comparison of value + 127 with 254, both unsigned; the 127 came with the rounding.
macro_rules! rows_to_bytes {
    ($name:ident, $again:literal) => {
        rows!(
            $name,
            i8,
            $again,
            "movs r4, #255
             lsls r4, r4, #7",
            "cmp r2, #254
             bhi 20f
             21:
             cmp r3, #254
             bhi 30f
             31:
             subs r2, #127
             subs r3, #127
             mov r1, r11
             strb r2, [r1]
             strb r3, [r1, #1]
             adds r1, #2
             mov r11, r1",
            "20:
             mvns r2, r2
             asrs r2, r2, #31
             lsls r2, r2, #1
             uxtb r2, r2
             b 21b
             30:
             mvns r3, r3
             asrs r3, r3, #31
             lsls r3, r3, #1
             uxtb r3, r3
             b 31b"
        );
    };
}

rows_to_bytes!(rows_to_bytes, "");
rows_to_bytes!(rows_to_bytes_of_many, "cmp r1, r9\nbne 8f");

/// `$value` beyond 16 bits without a sign becomes the nearest of them. Uses r7.
macro_rules! nearest {
    ($value:literal) => {
        concat!(
            concat!("lsrs r7, ", $value, ", #16\n"),
            "beq 9f\n",
            concat!("mvns ", $value, ", ", $value, "\n"),
            concat!("asrs ", $value, ", ", $value, ", #31\n"),
            concat!("uxth ", $value, ", ", $value, "\n"),
            "9:\n",
        )
    };
}

/// Is r2 or r3 beyond 16 bits without a sign?
macro_rules! within {
    ($rare:literal, $back:literal) => {
        concat!("movs r7, r2\n", "orrs r7, r3\n", "lsrs r7, r7, #16\n", "bne ", $rare, "f\n", $back, ":\n")
    };
}

// Values have 2¹⁵ too much, which came with the rounding, until both are in one word.
macro_rules! rows_to_stream {
    ($name:ident, $again:literal) => {
        rows!(
            $name,
            i16,
            $again,
            "ldr r4, 99f",
            concat!(
                "mov r1, r11\n",
                "ldr r4, [r1]\n",
                "sxth r5, r4\n",
                "asrs r4, r4, #16\n",
                within!("20", "21"),
                "adds r2, r2, r5\n",
                "adds r3, r3, r4\n",
                within!("30", "31"),
                "lsls r3, r3, #16\n",
                "orrs r2, r3\n",
                "mov r4, lr\n",
                "lsls r4, r4, #8\n",
                "eors r2, r4\n",
                "stmia r1!, {{r2}}\n",
                "mov r11, r1\n",
            ),
            concat!(
                "20:\n",
                nearest!("r2"),
                nearest!("r3"),
                "b 21b\n",
                "30:\n",
                nearest!("r2"),
                nearest!("r3"),
                "b 31b\n",
                ".p2align 2\n",
                // 2¹⁵ in 1/256, and the half that rounds. Shifted by 8 it is the sign bit of both halves of a word.
                "99:\n",
                ".word 0x00800080\n",
            )
        );
    };
}

rows_to_stream!(rows_to_stream, "");
rows_to_stream!(rows_to_stream_of_many, "cmp r1, r9\nbne 8f");

/// The longest row whose chain is run once.
const SHORT: usize = 64;

/// The loop for a matrix.
pub fn to_bytes(matrix: &Linear) -> Rows<i8> {
    if matrix.columns <= SHORT { rows_to_bytes } else { rows_to_bytes_of_many }
}

/// Likewise, into the stream.
pub fn to_stream(matrix: &Linear) -> Rows<i16> {
    if matrix.columns <= SHORT { rows_to_stream } else { rows_to_stream_of_many }
}
