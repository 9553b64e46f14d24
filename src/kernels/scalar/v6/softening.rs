//! Softmax for ARMv6-M: eight scores a turn, two to a word.

use core::arch::naked_asm;

use crate::arith::EXPONENTIAL;
use crate::kernels::portable;

/// Scores become weights, in place; returns their sum.
pub fn soften(row: &mut [i16]) -> u32 {
    const { assert!(EXPONENTIAL.len() == 1 << 10) };
    if !row.as_ptr().addr().is_multiple_of(4) {
        return portable::soften(row);
    }
    let places = row.as_mut_ptr_range();
    // SAFETY: a row that starts on a word, and the table.
    unsafe { soften_all(places.start, places.end, EXPONENTIAL.as_ptr()) }
}

/// The larger of `$maximum` and the score in the upper half of `$score`, whatever the lower half holds.
macro_rules! raise {
    ($maximum:literal, $score:literal, $skip:literal) => {
        concat!(
            concat!("cmp ", $score, ", ", $maximum, "\n"),
            concat!("ble ", $skip, "f\n"),
            concat!("mov ", $maximum, ", ", $score, "\n"),
            concat!($skip, ":\n"),
        )
    };
}

/// The scores of `$word` among the maxima r6 and r7; uses `$word`.
macro_rules! raise_both {
    ($word:literal) => {
        concat!(raise!("r6", $word, "20"), "lsls ", $word, ", ", $word, ", #16\n", raise!("r7", $word, "21"))
    };
}

/// The weight of the score `$score`, added to the sum r7: r3 is the maximum, r6 the last index of the table r2.
macro_rules! look_up {
    ($score:literal, $rare:literal, $back:literal) => {
        concat!(
            concat!("subs ", $score, ", r3, ", $score, "\n"),
            concat!("cmp ", $score, ", r6\n"),
            concat!("bhi ", $rare, "f\n"),
            concat!($back, ":\n"),
            concat!("lsls ", $score, ", ", $score, ", #1\n"),
            concat!("ldrh ", $score, ", [r2, ", $score, "]\n"),
            concat!("adds r7, r7, ", $score, "\n"),
        )
    };
}

/// Both scores of the word at r0, which advances.
macro_rules! look_up_two {
    ($rare:literal, $back:literal, $other:literal, $there:literal) => {
        concat!(
            "ldr r4, [r0]\n",
            "sxth r5, r4\n",
            "asrs r4, r4, #16\n",
            look_up!("r5", $rare, $back),
            look_up!("r4", $other, $there),
            "lsls r4, r4, #16\n",
            "orrs r4, r5\n",
            "stmia r0!, {{r4}}\n",
        )
    };
}

/// Beyond the table is its last entry.
macro_rules! last {
    ($here:literal, $back:literal, $score:literal) => {
        concat!($here, ":\n", "movs ", $score, ", r6\n", "b ", $back, "b\n")
    };
}

/// # Safety
/// `row … end` starts on a word; `table` has 2¹⁰ entries.
#[unsafe(naked)]
unsafe extern "C" fn soften_all(row: *mut i16, end: *mut i16, table: *const i16) -> u32 {
    naked_asm!(
        "push {{r4-r7, lr}}",
        // r12: the end of the whole turns. r6 and r7: the maxima of odd and of even scores, in upper halves.
        "subs r3, r1, r0",
        "lsrs r3, r3, #4",
        "lsls r3, r3, #4",
        "adds r3, r3, r0",
        "mov r12, r3",
        "movs r3, r0",
        "movs r6, #1",
        "lsls r6, r6, #31",
        "movs r7, r6",
        "b 3f",
        "2:",
        "ldmia r3!, {{r4, r5}}",
        raise_both!("r4"),
        raise_both!("r5"),
        "ldmia r3!, {{r4, r5}}",
        raise_both!("r4"),
        raise_both!("r5"),
        "3:",
        "cmp r3, r12",
        "bne 2b",
        "b 5f",
        "4:",
        "ldrh r4, [r3]",
        "adds r3, #2",
        "lsls r4, r4, #16",
        raise!("r7", "r4", "20"),
        "5:",
        "cmp r3, r1",
        "bne 4b",
        "asrs r3, r6, #16",
        "asrs r7, r7, #16",
        raise!("r3", "r7", "20"),
        "movs r7, #0",
        "ldr r6, 10f",
        "b 7f",
        "6:",
        look_up_two!("30", "31", "32", "33"),
        look_up_two!("34", "35", "36", "37"),
        look_up_two!("40", "41", "42", "43"),
        look_up_two!("44", "45", "46", "47"),
        "7:",
        "cmp r0, r12",
        "bne 6b",
        "b 9f",
        "8:",
        "ldrh r4, [r0]",
        "sxth r4, r4",
        look_up!("r4", "38", "39"),
        "strh r4, [r0]",
        "adds r0, #2",
        "9:",
        "cmp r0, r1",
        "bne 8b",
        "movs r0, r7",
        "pop {{r4-r7, pc}}",
        last!("30", "31", "r5"),
        last!("32", "33", "r4"),
        last!("34", "35", "r5"),
        last!("36", "37", "r4"),
        last!("38", "39", "r4"),
        last!("40", "41", "r5"),
        last!("42", "43", "r4"),
        last!("44", "45", "r5"),
        last!("46", "47", "r4"),
        ".p2align 2",
        "10:",
        ".word 1023",
    )
}
