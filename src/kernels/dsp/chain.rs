//! Activations as the paired products want them, and the step that every loop over packed words is made of.
//!
//! For every four activations a word X = (x₃, x₁) and a word Z = (256·x₂ − x₃, 256·x₀ − x₁); with |x| ≤ 127 no half leaves
//! 16 bits.

/// Four activations in `$z` become X in `$x` and Z in `$z`; r12 is the mask of the odd bytes.
macro_rules! expand_four {
    ($x:literal, $z:literal) => {
        concat!(
            "sxtb16 ",
            $x,
            ", ",
            $z,
            ", ror #8\n",
            "and ",
            $z,
            ", r12, ",
            $z,
            ", lsl #8\n",
            "ssub16 ",
            $z,
            ", ",
            $z,
            ", ",
            $x,
            "\n",
        )
    };
}

/// The `$len` activations at `$from`, not 0, become X, Z, X, Z … at `$to`, which ends behind them. Uses r4–r12, lr.
macro_rules! expand_token {
    ($from:literal, $to:literal, $len:literal) => {
        concat!(
            "mov.w r12, #0xff00ff00\n",
            concat!("subs lr, ", $len, ", #16\n"),
            "blo 7f\n",
            "6:\n",
            concat!("ldmia.w ", $from, "!, {{r5, r7, r9, r11}}\n"),
            expand_four!("r4", "r5"),
            expand_four!("r6", "r7"),
            expand_four!("r8", "r9"),
            expand_four!("r10", "r11"),
            concat!("stmia.w ", $to, "!, {{r4-r11}}\n"),
            "subs lr, lr, #16\n",
            "bhs 6b\n",
            "7:\n",
            "adds lr, lr, #16\n",
            "bne 8f\n",
            "9:\n",
        )
    };
}

/// What is left behind the last whole 16 activations of [`expand_token`]: stands apart, and jumps back.
macro_rules! expand_rest {
    ($from:literal, $to:literal) => {
        concat!(
            "8:\n",
            concat!("ldr r5, [", $from, "], #4\n"),
            expand_four!("r4", "r5"),
            concat!("strd r4, r5, [", $to, "], #8\n"),
            "subs lr, lr, #4\n",
            "bne 8b\n",
            "b 9b\n",
        )
    };
}

/// Four columns of four rows: r2–r5 += r10–lr · (X in `$x`, Z in `$z`).
macro_rules! four_rows {
    ($x:literal, $z:literal) => {
        concat!(
            "ldmia.w r1!, {{r10-r12, lr}}\n",
            "smlad r2, r10, ",
            $x,
            ", r2\n",
            "smlad r3, r11, ",
            $x,
            ", r3\n",
            "smlad r4, r12, ",
            $x,
            ", r4\n",
            "smlad r5, lr, ",
            $x,
            ", r5\n",
            "sxtb16 r10, r10\n",
            "sxtb16 r11, r11\n",
            "sxtb16 r12, r12\n",
            "sxtb16 lr, lr\n",
            "smlad r2, r10, ",
            $z,
            ", r2\n",
            "smlad r3, r11, ",
            $z,
            ", r3\n",
            "smlad r4, r12, ",
            $z,
            ", r4\n",
            "smlad r5, lr, ",
            $z,
            ", r5\n",
        )
    };
}

/// Expands three tokens of `columns` activations side by side: X, X, X, Z, Z, Z for every four columns.
///
/// # Safety
/// `columns` is a multiple of 4, not 0; the tokens have as many bytes and start on words, `expanded` has three halves as
/// many words.
#[unsafe(naked)]
pub unsafe extern "C" fn expand_three(
    first: *const i8,
    second: *const i8,
    third: *const i8,
    expanded: *mut u32,
    columns: usize,
) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldr r4, [sp, #36]",
        "mov.w r12, #0xff00ff00",
        "2:",
        "ldr r9, [r0], #4",
        "ldr r10, [r1], #4",
        "ldr r11, [r2], #4",
        expand_four!("r6", "r9"),
        expand_four!("r7", "r10"),
        expand_four!("r8", "r11"),
        "stmia.w r3!, {{r6-r11}}",
        "subs r4, #4",
        "bne 2b",
        "pop {{r4-r11, pc}}",
    )
}

/// Sums r2–r7 of two rows (r11, r12) and three tokens (r8–r10).
macro_rules! two_rows {
    () => {
        "smlad r2, r11, r8, r2
         smlad r3, r12, r8, r3
         smlad r4, r11, r9, r4
         smlad r5, r12, r9, r5
         smlad r6, r11, r10, r6
         smlad r7, r12, r10, r7
         "
    };
}

/// Four columns of two rows and three tokens: 68 bytes.
macro_rules! two_rows_of_three {
    () => {
        concat!(
            "ldrd r11, r12, [r1], #16\n",
            "ldmia.w r0!, {{r8-r10}}\n",
            two_rows!(),
            "sxtb16 r11, r11\n",
            "sxtb16 r12, r12\n",
            "ldmia.w r0!, {{r8-r10}}\n",
            two_rows!(),
        )
    };
}

pub(super) use {expand_four, expand_rest, expand_token, four_rows, two_rows, two_rows_of_three};
