//! The loop under [`super::attention::mix`]: four lanes of all tokens at a time, two tokens in every product.
//!
//! A halfword of the ring is v = 256·v₁ + v₀ of two lanes. T = Σ w·v in 64 bits and S = Σ w·v₀ in 32 give the second lane
//! as (T − S) / 256: three instructions for four products, as in the matrices, though the weights have 16 bits.

/// All that the loop needs. The order is known to the assembly.
#[repr(C)]
pub struct Frame {
    pub row: *const i16,
    pub values: *const u32,
    /// End of the whole fours of weights.
    pub end: *const i16,
    pub multiplier: i32,
    /// The weights behind the whole fours, in `tail_pairs` words.
    pub tail: [u32; 2],
    pub tail_pairs: usize,
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
/// `row … end` starts on a word; each of `blocks` blocks, `block_bytes` apart, has two words for every two weights;
/// `output` has four bytes for each block and starts on a word.
#[unsafe(naked)]
pub unsafe extern "C" fn mix(frame: &mut Frame) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldm r0, {{r1-r10}}",
        // r11: where the chain of four is entered, 56 bytes for four tokens.
        "subs r11, r3, r1",
        "ubfx r11, r11, #3, #2",
        "adr.w r12, 4f",
        "movs r0, #56",
        "mls r11, r11, r0, r12",
        "orr r11, #1",
        // 0 row, 4 values, 8 end, 12 multiplier, 16 tail, 24 its pairs, 28 bytes of a block, 32 output, 36 blocks, 40 entry.
        "push {{r1-r11}}",
        "2:",
        "ldm sp, {{r0, r1}}",
        "movs r2, #0",
        "movs r3, #0",
        "movs r4, #0",
        "movs r5, #0",
        "movs r6, #0",
        "movs r7, #0",
        "ldr pc, [sp, #40]",
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
        "ldr r8, [sp, #24]",
        "cmp r8, #1",
        "blo 6f",
        "ldrd r8, r9, [sp, #16]",
        "bne 5f",
        "ldrd r10, r11, [r1]",
        two_tokens!("r8", "r10", "r11"),
        "b 6f",
        "5:",
        "ldm.w r1, {{r10-r12, lr}}",
        two_tokens!("r8", "r10", "r11"),
        two_tokens!("r9", "r12", "lr"),
        "6:",
        "subs r2, r2, r4",
        "sbc r3, r3, r4, asr #31",
        "subs r5, r5, r7",
        "sbc r6, r6, r7, asr #31",
        "lsrs r2, r2, #8",
        "orr r2, r2, r3, lsl #24",
        "lsrs r5, r5, #8",
        "orr r5, r5, r6, lsl #24",
        "ldr r8, [sp, #12]",
        "mvn r9, #0",
        "smmlar r4, r4, r8, r9",
        "smmlar r2, r2, r8, r9",
        "smmlar r7, r7, r8, r9",
        "smmlar r5, r5, r8, r9",
        "ssat r4, #8, r4",
        "ssat r2, #8, r2",
        "ssat r7, #8, r7",
        "ssat r5, #8, r5",
        "bfi r4, r2, #8, #24",
        "bfi r7, r5, #8, #24",
        "pkhbt r4, r4, r7, lsl #16",
        "qsub8 r4, r4, r9",
        "ldrd r10, r11, [sp, #28]",
        "ldr r12, [sp, #36]",
        "ldr r1, [sp, #4]",
        "str r4, [r11], #4",
        "add r1, r10",
        "str r1, [sp, #4]",
        "subs r12, r12, #1",
        "strd r11, r12, [sp, #32]",
        "bne 2b",
        "add sp, #44",
        "pop {{r4-r11, pc}}",
    )
}
