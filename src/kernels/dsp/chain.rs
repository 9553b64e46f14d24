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

/// The lr activations at r0, not 0, become X, Z, X, Z … at r1, which ends behind them. Uses r4–r12.
macro_rules! expand_token {
    () => {
        concat!(
            "mov.w r12, #0xff00ff00\n",
            "subs lr, lr, #16\n",
            "blo 7f\n",
            "6:\n",
            "ldmia.w r0!, {{r5, r7, r9, r11}}\n",
            expand_four!("r4", "r5"),
            expand_four!("r6", "r7"),
            expand_four!("r8", "r9"),
            expand_four!("r10", "r11"),
            "stmia.w r1!, {{r4-r11}}\n",
            "subs lr, lr, #16\n",
            "bhs 6b\n",
            "7:\n",
            "adds lr, lr, #16\n",
            "beq 9f\n",
            "8:\n",
            "ldr r5, [r0], #4\n",
            expand_four!("r4", "r5"),
            "strd r4, r5, [r1], #8\n",
            "subs lr, lr, #4\n",
            "bne 8b\n",
            "9:\n",
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

pub(super) use {expand_four, expand_token, four_rows};

/// Expands three tokens of `columns` activations side by side: X, X, X, Z, Z, Z for every four columns.
///
/// # Safety
/// `columns` is a multiple of 4 and not 0; `input` has three times as many bytes and starts on a word, `expanded` has
/// three halves as many words.
#[unsafe(naked)]
pub unsafe extern "C" fn expand_three(input: *const i8, columns: usize, expanded: *mut u32) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "mov.w r12, #0xff00ff00",
        "adds r3, r0, r1",
        "adds r4, r3, r1",
        "2:",
        "ldr r9, [r0], #4",
        "ldr r10, [r3], #4",
        "ldr r11, [r4], #4",
        "sxtb16 r6, r9, ror #8",
        "sxtb16 r7, r10, ror #8",
        "sxtb16 r8, r11, ror #8",
        "and r9, r12, r9, lsl #8",
        "and r10, r12, r10, lsl #8",
        "and r11, r12, r11, lsl #8",
        "ssub16 r9, r9, r6",
        "ssub16 r10, r10, r7",
        "ssub16 r11, r11, r8",
        "stmia r2!, {{r6-r11}}",
        "subs r1, #4",
        "bne 2b",
        "pop {{r4-r11, pc}}",
    )
}
