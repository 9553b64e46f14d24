//! The loop under [`super::attention::mix`]: four lanes of all tokens at a time, two tokens in every product.
//!
//! A halfword of the ring is v = 256·v₁ + v₀ of two lanes. T = Σ w·v in 64 bits and S = Σ w·v₀ in 32 give the second lane
//! as (T − S) / 256: three instructions for four products, as in the matrices, though the weights have 16 bits.

/// All that the loop needs. The order is known to the assembly.
#[repr(C)]
pub struct Frame {
    pub row: *const i16,
    pub values: *const u32,
    pub end: *const i16,
    pub multiplier: i32,
    pub block_bytes: usize,
    pub output: *mut i8,
    /// Blocks of four lanes, not 0.
    pub blocks: usize,
}

/// Two tokens of weight `$w`: the sums of lanes (0, 1) from `$a`, of lanes (2, 3) from `$b`.
macro_rules! two_tokens {
    ($w:literal, $a:literal, $b:literal) => {
        concat!(
            "smlald r2, r3, ",
            $a,
            ", ",
            $w,
            "\n",
            "smlald r5, r6, ",
            $b,
            ", ",
            $w,
            "\n",
            "sxtb16 ",
            $a,
            ", ",
            $a,
            "\n",
            "sxtb16 ",
            $b,
            ", ",
            $b,
            "\n",
            "smlad r4, ",
            $a,
            ", ",
            $w,
            ", r4\n",
            "smlad r7, ",
            $b,
            ", ",
            $w,
            ", r7\n",
        )
    };
}

/// # Safety
/// `row … end` starts on a word and is a multiple of four weights, not 0; each of `blocks` blocks, `block_bytes` apart, has
/// two words for every two weights; `output` has four bytes for each block and starts on a word.
#[unsafe(naked)]
pub unsafe extern "C" fn mix(frame: &mut Frame) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldm r0, {{r1-r7}}",
        // r8: where the chain of four is entered, 56 bytes for four tokens.
        "subs r8, r3, r1",
        "ubfx r8, r8, #3, #2",
        "adr.w r12, 4f",
        "movs r0, #56",
        "mls r8, r8, r0, r12",
        "orr r8, #1",
        // The frame: row, values, end, multiplier, bytes of a block, output, blocks, entry.
        "push {{r1-r8}}",
        "mov r0, r1",
        "mov r1, r2",
        "2:",
        "movs r2, #0",
        "movs r3, #0",
        "movs r4, #0",
        "movs r5, #0",
        "movs r6, #0",
        "movs r7, #0",
        "ldr pc, [sp, #28]",
        ".p2align 2",
        "3:",
        ".rept 4",
        "ldmia.w r0!, {{r8, r9}}",
        "ldmia.w r1!, {{r10-r12, lr}}",
        two_tokens!("r8", "r10", "r11"),
        two_tokens!("r9", "r12", "lr"),
        ".endr",
        "4:",
        "ldr r8, [sp, #8]",
        "cmp r0, r8",
        "bne 3b",
        "subs r2, r2, r4",
        "sbc r3, r3, r4, asr #31",
        "subs r5, r5, r7",
        "sbc r6, r6, r7, asr #31",
        "lsrs r2, r2, #8",
        "orr r2, r2, r3, lsl #24",
        "lsrs r5, r5, #8",
        "orr r5, r5, r6, lsl #24",
        "ldm.w sp, {{r0, r1, r8-r12}}",
        "mvn r8, #0",
        "smmlar r4, r4, r9, r8",
        "smmlar r2, r2, r9, r8",
        "smmlar r7, r7, r9, r8",
        "smmlar r5, r5, r9, r8",
        "ssat r4, #8, r4",
        "ssat r2, #8, r2",
        "ssat r7, #8, r7",
        "ssat r5, #8, r5",
        "bfi r4, r2, #8, #24",
        "bfi r7, r5, #8, #24",
        "pkhbt r4, r4, r7, lsl #16",
        "qsub8 r4, r4, r8",
        "add r1, r10",
        "str r4, [r11], #4",
        "str r1, [sp, #4]",
        "subs r12, r12, #1",
        "strd r11, r12, [sp, #20]",
        "bne 2b",
        "add sp, #32",
        "pop {{r4-r11, pc}}",
    )
}
