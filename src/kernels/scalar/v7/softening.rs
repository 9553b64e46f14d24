//! Softmax for ARMv7-M: eight scores a turn, two to a word.

use core::arch::naked_asm;

use crate::arith::EXPONENTIAL;
use crate::kernels::portable;

/// Scores become weights, in place; returns their sum.
pub fn soften(row: &mut [i16]) -> u32 {
    // 10 bits are an index of the table, and cutting to them saturates where it ends.
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
    ($maximum:literal, $score:literal) => {
        concat!(
            concat!("cmp ", $score, ", ", $maximum, "\n"),
            "it gt\n",
            concat!("movgt ", $maximum, ", ", $score, "\n"),
        )
    };
}

/// The weights of the two scores of `$word`: upper ones in `$upper`, lower ones in `$word`. r12 is the maximum, r2 the table.
macro_rules! look_up {
    ($word:literal, $upper:literal) => {
        concat!(
            concat!("sub ", $upper, ", r12, ", $word, ", asr #16\n"),
            concat!("sxth ", $word, ", ", $word, "\n"),
            concat!("sub ", $word, ", r12, ", $word, "\n"),
            concat!("usat ", $upper, ", #10, ", $upper, "\n"),
            concat!("usat ", $word, ", #10, ", $word, "\n"),
            concat!("ldrh ", $upper, ", [r2, ", $upper, ", lsl #1]\n"),
            concat!("ldrh ", $word, ", [r2, ", $word, ", lsl #1]\n"),
        )
    };
}

/// The scores of `$word` among the maxima r12 and r6; uses `$word`.
macro_rules! raise_both {
    ($word:literal) => {
        concat!(raise!("r12", $word), "lsls ", $word, ", ", $word, ", #16\n", raise!("r6", $word))
    };
}

/// Four scores from r0 on, which advances.
macro_rules! look_up_four {
    () => {
        concat!(
            "ldrd r4, r5, [r0]\n",
            look_up!("r4", "r3"),
            look_up!("r5", "r8"),
            "orr r4, r4, r3, lsl #16\n",
            "orr r5, r5, r8, lsl #16\n",
            "adds r3, r4, r5\n",
            "adds r6, r6, r3\n",
            "add lr, lr, r3, lsr #16\n",
            "strd r4, r5, [r0], #8\n",
        )
    };
}

/// # Safety
/// `row … end` starts on a word; `table` has 2¹⁰ entries.
#[unsafe(naked)]
unsafe extern "C" fn soften_all(row: *mut i16, end: *mut i16, table: *const i16) -> u32 {
    naked_asm!(
        "push {{r4-r8, lr}}",
        // r7: the end of the whole turns. r12 and r6: the maxima of odd and of even scores, in upper halves.
        "subs r3, r1, r0",
        "bic r3, r3, #15",
        "adds r7, r0, r3",
        "mov r3, r0",
        "mov r12, #0x80000000",
        "mov r6, r12",
        "b 3f",
        "2:",
        "ldmia r3!, {{r4, r5}}",
        raise_both!("r4"),
        raise_both!("r5"),
        "ldmia r3!, {{r4, r5}}",
        raise_both!("r4"),
        raise_both!("r5"),
        "3:",
        "cmp r3, r7",
        "bne 2b",
        "b 5f",
        "4:",
        "ldrsh r4, [r3], #2",
        "lsls r4, r4, #16",
        raise!("r6", "r4"),
        "5:",
        "cmp r3, r1",
        "bne 4b",
        "asr r12, r12, #16",
        "asrs r6, r6, #16",
        raise!("r12", "r6"),
        // Two words of weights add up to fields of 16 bits. lr: the sum of upper fields; r6: that of words, modulo 2³².
        "movs r6, #0",
        "mov lr, r6",
        "b 7f",
        "6:",
        look_up_four!(),
        look_up_four!(),
        "7:",
        "cmp r0, r7",
        "bne 6b",
        "b 9f",
        "8:",
        "ldrsh r4, [r0]",
        "sub r4, r12, r4",
        "usat r4, #10, r4",
        "ldrh r4, [r2, r4, lsl #1]",
        "adds r6, r6, r4",
        "strh r4, [r0], #2",
        "9:",
        "cmp r0, r1",
        "bne 8b",
        "sub r6, r6, lr, lsl #16",
        "add r0, r6, lr",
        "pop {{r4-r8, pc}}",
    )
}
