//! The loops under [`super::attention::soften`]: the maximum of the row, two scores at a time, then the table.

/// r12 becomes the greater of `$score` and itself, in both halves.
macro_rules! greater {
    ($score:literal) => {
        concat!("ssub16 r2, ", $score, ", r12\n", "sel r12, ", $score, ", r12\n")
    };
}

/// Two scores become two weights, and their sum joins r12. r3: the maximum twice, r2: the table, r10: 1 twice.
macro_rules! look_up {
    ($scores:literal) => {
        concat!(
            "qsub16 ",
            $scores,
            ", r3, ",
            $scores,
            "\n",
            "usat16 ",
            $scores,
            ", #10, ",
            $scores,
            "\n",
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

/// Scores become weights; returns the sum.
///
/// # Safety
/// `row` has `len` values, at least one, and starts on a word; `table` has 1,024.
#[unsafe(naked)]
pub unsafe extern "C" fn soften(row: *mut i16, len: usize, table: *const i16) -> u32 {
    naked_asm!(
        "push {{r2, r4-r11, lr}}",
        // The last score opens the maximum: it is the one that a row of odd length has too many.
        "add lr, r0, r1, lsl #1",
        "ldrsh r12, [lr, #-2]",
        "pkhbt r12, r12, r12, lsl #16",
        "lsrs r3, r1, #1",
        "mov lr, r0",
        "subs r3, #8",
        "blo 4f",
        "2:",
        "ldmia.w lr!, {{r4-r11}}",
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
        "sub lr, lr, #32",
        "add lr, lr, r3, lsl #2",
        "movs r3, #0",
        "b 2b",
        "4:",
        "adds r3, #8",
        "beq 6f",
        "5:",
        "ldr r4, [lr], #4",
        greater!("r4"),
        "subs r3, #1",
        "bne 5b",
        "6:",
        "ror r3, r12, #16",
        "ssub16 r2, r3, r12",
        "sel r3, r3, r12",
        "pop {{r2}}",
        "mov.w r10, #0x00010001",
        "movs.w r12, #0",
        "lsrs r1, r1, #1",
        "bcc 7f",
        "add r11, r0, r1, lsl #2",
        "ldrsh r4, [r11]",
        "qsub16 r4, r3, r4",
        "usat16 r4, #10, r4",
        "uxth r4, r4",
        "ldrh r12, [r2, r4, lsl #1]",
        "strh r12, [r11]",
        "7:",
        "subs r1, #6",
        "blo 9f",
        "8:",
        "ldm r0, {{r4-r9}}",
        look_up!("r4"),
        look_up!("r5"),
        look_up!("r6"),
        look_up!("r7"),
        look_up!("r8"),
        look_up!("r9"),
        "stmia r0!, {{r4-r9}}",
        "subs r1, #6",
        "bhs 8b",
        "9:",
        "adds r1, #6",
        "beq 11f",
        "10:",
        "ldr r4, [r0]",
        look_up!("r4"),
        "str r4, [r0], #4",
        "subs r1, #1",
        "bne 10b",
        "11:",
        "mov r0, r12",
        "pop {{r4-r11, pc}}",
    )
}
