//! The loops under [`super::attention::soften`]: the maximum of the row, two scores at a time, then the table.

use crate::arith::EXPONENTIAL;

/// r12 becomes the greater of `$score` and itself, in both halves.
macro_rules! greater {
    ($score:literal) => {
        concat!("ssub16 r2, ", $score, ", r12\n", "sel r12, ", $score, ", r12\n")
    };
}

/// Two scores become two weights, and their sum joins r12. r2: the table, r10: 1 twice.
///
/// `$index` takes `$scores` to 2¹⁵ + 1023 − (maximum − score), but never below 2¹⁵, in both halves.
macro_rules! look_up {
    ($index:ident, $scores:literal) => {
        concat!(
            $index!($scores),
            "uxth lr, ",
            $scores,
            "\n",
            "lsr ",
            $scores,
            ", ",
            $scores,
            ", #16\n",
            "ldrh lr, [r2, lr, lsl #1]\n",
            "ldrh ",
            $scores,
            ", [r2, ",
            $scores,
            ", lsl #1]\n",
            "pkhbt ",
            $scores,
            ", lr, ",
            $scores,
            ", lsl #16\n",
            "smlad r12, ",
            $scores,
            ", r10, r12\n",
        )
    };
}

/// Where no score is above 1023: r3 is 1023 − 2¹⁵ − maximum, and the sum saturates exactly where the table ends.
macro_rules! low {
    ($scores:literal) => {
        concat!("qadd16 ", $scores, ", ", $scores, ", r3\n")
    };
}

/// Anywhere: r3 is the maximum, r11 2¹⁵ + 1023.
macro_rules! any {
    ($scores:literal) => {
        concat!(
            "qsub16 ", $scores, ", r3, ", $scores, "\n", "usat16 ", $scores, ", #10, ", $scores, "\n", "ssub16 ",
            $scores, ", r11, ", $scores, "\n",
        )
    };
}

/// The r1 scores before r0, backwards; where their number is odd, one more at r0.
macro_rules! look_up_all {
    ($index:ident) => {
        concat!(
            "lsrs r1, r1, #1\n",
            "bcs 6f\n",
            "mov.w r12, #0\n",
            "b 7f\n",
            "6:\n",
            "ldrsh r4, [r0]\n",
            $index!("r4"),
            "uxth r4, r4\n",
            "ldrh r12, [r2, r4, lsl #1]\n",
            "strh r12, [r0]\n",
            "7:\n",
            "subs r1, #6\n",
            "blo 9f\n",
            "8:\n",
            "ldmdb r0!, {{r4-r9}}\n",
            look_up!($index, "r4"),
            look_up!($index, "r5"),
            look_up!($index, "r6"),
            look_up!($index, "r7"),
            look_up!($index, "r8"),
            look_up!($index, "r9"),
            "stm r0, {{r4-r9}}\n",
            "subs r1, #6\n",
            "bhs 8b\n",
            "9:\n",
            "adds r1, #6\n",
            "beq 11f\n",
            "10:\n",
            "ldr r4, [r0, #-4]!\n",
            look_up!($index, "r4"),
            "str r4, [r0]\n",
            "subs r1, #1\n",
            "bne 10b\n",
            "11:\n",
            "mov r0, r12\n",
            "pop {{r4-r11, pc}}\n",
        )
    };
}

/// The exponential backwards, as [`soften`] counts: the last entry belongs to the maximum.
static BACKWARDS: [i16; 1024] = {
    let mut table = [0; 1024];
    let mut index = 0;
    while index < table.len() {
        table[index] = EXPONENTIAL[table.len() - 1 - index];
        index += 1;
    }
    table
};

/// Scores become weights; returns the sum.
///
/// # Safety
/// `row` has `len` values, at least one, and starts on a word.
#[unsafe(naked)]
pub unsafe extern "C" fn soften(row: *mut i16, len: usize) -> u32 {
    naked_asm!(
        "push {{r4-r11, lr}}",
        // The last score opens the maximum: it is the one that a row of odd length has too many.
        "add lr, r0, r1, lsl #1",
        "ldrsh r12, [lr, #-2]",
        "lsrs r3, r1, #1",
        "pkhbt r12, r12, r12, lsl #16",
        "subs r3, #8",
        "blo 4f",
        "2:",
        "ldmia.w r0!, {{r4-r11}}",
        greater!("r4"),
        greater!("r5"),
        greater!("r6"),
        greater!("r7"),
        greater!("r8"),
        greater!("r9"),
        greater!("r10"),
        greater!("r11"),
        "subs r3, #8",
        "bhs 2b",
        // What is left is looked at together with as many scores before it as make a whole run: they do no harm.
        "adds r3, #8",
        "beq 6f",
        "subs r0, #32",
        "add r0, r0, r3, lsl #2",
        "movs r3, #0",
        "b 2b",
        "4:",
        "adds r3, #8",
        "beq 6f",
        "5:",
        "ldr r4, [r0], #4",
        greater!("r4"),
        "subs r3, #1",
        "bne 5b",
        "6:",
        "ror r3, r12, #16",
        "ssub16 r2, r3, r12",
        "sel r3, r3, r12",
        "ldr r2, 13f",
        "ldr r11, 14f",
        "mov.w r10, #0x00010001",
        "cmp.w r3, #0x04000000",
        "bge 12f",
        "ssub16 r3, r11, r3",
        look_up_all!(low),
        "12:",
        look_up_all!(any),
        ".p2align 2",
        // Where the table would begin if its index counted from 0 and not from 2¹⁵.
        "13:",
        ".word {table} - 0x10000",
        // 1023 − 2¹⁵, which is 1023 + 2¹⁵ too, twice.
        "14:",
        ".word 0x83ff83ff",
        table = sym BACKWARDS,
    )
}
