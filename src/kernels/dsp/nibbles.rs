//! Matrix × vectors with 4-bit weights on the DSP extension: they are unpacked in the loop, and half of them not at all.
//!
//! A byte of a word holds two rows, B = 16·m + n, with 8 added to every n, and to m in even columns. The paired products
//! of [`super::linear`] over whole bytes give P = 256·Σ B·x, and over n alone N = 256·Σ n·x, so that
//! P − N = 16 · 256·Σ m·x: seven instructions for eight products. What the sums have too much by the added 8 is the same for
//! every row, 2048·Σ x and 32768·Σ x over even columns, and is taken away beforehand. |P − N| ≤ 4096 · 7 · 127 · 512 < 2³¹
//! then; all else may wrap.

use microformer_packed::{Bits, Linear};

use super::are_multiples_of_four;
use super::chain::{expand_four, expand_rest, expand_token};
use super::linear::LAYOUT;
use super::multiply::{to_bytes, to_stream};

/// The most columns of which no difference leaves 32 bits.
const LONGEST: usize = 512;

/// [`crate::kernels::linear`] with 4-bit weights. Does nothing, and returns false, where there are too many columns.
pub fn linear_of_four(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [i8]) -> bool {
    run(matrix, input, expanded, output, four_to_bytes)
}

/// [`crate::kernels::linear_add`] with 4-bit weights, likewise.
pub fn linear_add_of_four(matrix: &Linear, input: &[i8], expanded: &mut [u32], stream: &mut [i16]) -> bool {
    run(matrix, input, expanded, stream, four_to_stream)
}

type One<T> = unsafe extern "C" fn(*const u32, *const i8, usize, *mut u32, *mut T, usize);

#[inline(always)]
fn run<T>(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [T], one: One<T>) -> bool {
    let (rows, columns) = (matrix.rows, matrix.columns);
    let fits = are_multiples_of_four(&[rows, columns, input.as_ptr().addr(), output.as_ptr().addr()])
        && rows > 0
        && (1..=LONGEST).contains(&columns)
        && matrix.packed.len() == LAYOUT.stored_words(Bits::Four, rows, columns)
        && expanded.len() >= columns / 2;
    if !fits {
        return false;
    }
    let mut done = 0;
    while let (Some(token), Some(results)) =
        (input.get(done * columns..(done + 1) * columns), output.get_mut(done * rows..(done + 1) * rows))
    {
        let (packed, room, place) = (matrix.packed.as_ptr(), expanded.as_mut_ptr(), results.as_mut_ptr());
        // SAFETY: a token of `columns` bytes enters, `columns / 2` words have room, the matrix has `LAYOUT.stored_words`
        // words, `results` are `rows` values: all checked above.
        unsafe { one(packed, token.as_ptr(), columns, room, place, rows) };
        done += 1;
    }
    true
}

/// Four columns of four rows: N and P of rows 0 and 1 in r2 and r3, of rows 2 and 3 in r4 and r5; X in `$x`, Z in `$z`.
/// 60 bytes.
macro_rules! four_rows {
    ($x:literal, $z:literal) => {
        concat!(
            "ldmia.w r1!, {{r10, r11}}\n",
            concat!("smlad r3, r10, ", $x, ", r3\n"),
            concat!("smlad r5, r11, ", $x, ", r5\n"),
            "and r12, r10, #0x0f0f0f0f\n",
            "and lr, r11, #0x0f0f0f0f\n",
            concat!("smlad r2, r12, ", $x, ", r2\n"),
            concat!("smlad r4, lr, ", $x, ", r4\n"),
            "uxtb16 r10, r10\n",
            "uxtb16 r11, r11\n",
            concat!("smlad r3, r10, ", $z, ", r3\n"),
            concat!("smlad r5, r11, ", $z, ", r5\n"),
            "and r12, r12, #0x000f000f\n",
            "and lr, lr, #0x000f000f\n",
            concat!("smlad r2, r12, ", $z, ", r2\n"),
            concat!("smlad r4, lr, ", $z, ", r4\n"),
        )
    };
}

/// One token: `$store` takes the sums r2–r5 and multipliers r10–lr to the place r6, which it advances; r9 is −1. An output
/// value has 2 to the power of `$scale` bytes.
macro_rules! one_token {
    ($name:ident, $output:ty, $scale:literal, $store:expr) => {
        /// All rows of one token.
        ///
        /// # Safety
        /// `columns` is a multiple of 4 from 4 to [`LONGEST`]; `input` has as many bytes and starts on a word, `expanded`
        /// has half as many words; `packed` is a matrix of whole groups of `columns` columns; `output` has a value for
        /// each row, a multiple of 4, not 0, and starts on a word.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(
            packed: *const u32,
            input: *const i8,
            columns: usize,
            expanded: *mut u32,
            output: *mut $output,
            rows: usize,
        ) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                // Activations of even and odd columns, each in two sums of at most 128: a halfword is enough.
                "mov r4, r1",
                "add r5, r1, r2",
                "movs r7, #0",
                "mov r12, r7",
                "1:",
                "ldr r6, [r4], #4",
                "sxtab16 r12, r12, r6",
                "sxtab16 r7, r7, r6, ror #8",
                "cmp r4, r5",
                "bne 1b",
                "sxth r4, r12",
                "add r12, r4, r12, asr #16",
                "sxth r4, r7",
                "add r7, r4, r7, asr #16",
                "add r7, r12",
                "lsl r7, r7, #11",
                "rsb r7, r7, #0",
                "lsl r12, r12, #15",
                "rsb r12, r12, #0",
                "push {{r7, r12}}",
                expand_token!("r1", "r3", "r2"),
                "ldrd r6, r7, [sp, #44]",
                "mov r1, r0",
                "sub r0, r3, r2, lsl #1",
                concat!("add r7, r6, r7, lsl #", $scale),
                // r8: where the chain of four is entered, 124 bytes for 8 columns. Carry: whether four columns are left.
                "mov r10, r3",
                "lsrs r5, r2, #3",
                "ittt ne",
                "subne r5, #1",
                "andne r5, #3",
                "addne r5, #1",
                "movs r4, #124",
                "adr.w r8, 4f",
                "mls r8, r5, r4, r8",
                "mvn r9, #0",
                "orr r11, r8, #1",
                "adr.w r12, 2f",
                "it cs",
                "movcs r8, r12",
                // The frame: expanded, output, its end, entry, −1, end of expanded, entry of the chain; two biases; what is
                // taken from all sums, and from P besides.
                "sub sp, #8",
                "push {{r0, r6-r11}}",
                "1:",
                "ldmia.w r1!, {{r2-r5}}",
                "strd r3, r5, [sp, #28]",
                "ldrd r6, r7, [sp, #36]",
                "add r2, r6",
                "add r4, r6",
                "add r3, r2, r7",
                "add r5, r4, r7",
                "mov pc, r8",
                ".p2align 2",
                "2:",
                "ldrd r6, r7, [r0], #8",
                four_rows!("r6", "r7"),
                "ldr pc, [sp, #24]",
                "3:",
                ".rept 4",
                "ldmia.w r0!, {{r6-r9}}",
                four_rows!("r6", "r7"),
                four_rows!("r8", "r9"),
                ".endr",
                "4:",
                "ldr r10, [sp, #20]",
                "cmp r0, r10",
                "bne 3b",
                "ldrd r6, r7, [sp, #28]",
                "sub r3, r3, r2",
                "sub r5, r5, r4",
                "add r3, r6, r3, asr #4",
                "add r5, r7, r5, asr #4",
                "ldmia.w r1!, {{r10-r12, lr}}",
                "ldm sp, {{r0, r6-r9}}",
                $store,
                "str r6, [sp, #4]",
                "cmp r6, r7",
                "bne 1b",
                "add sp, #44",
                "pop {{r4-r11, pc}}",
                expand_rest!("r1", "r3"),
            )
        }
    };
}

one_token!(four_to_bytes, i8, 0, to_bytes!());
one_token!(four_to_stream, i16, 1, to_stream!());
