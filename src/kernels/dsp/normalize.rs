//! The loops under [`super::norm`].

/// Sums over one token.
#[repr(C)]
pub struct Moments {
    pub squares: u64,
    pub sum: i32,
}

/// What the normalising loop needs. The order is the one in which it loads the fields.
#[repr(C)]
pub struct Pass<T> {
    pub stream: *const i16,
    pub output: *mut T,
    /// For each value `[multiplier, bias]`.
    pub affine: *const [i32; 2],
    pub len: i32,
    pub negative_sum: i32,
    pub shift: u32,
    pub inverse_q31: i32,
    pub end: *mut T,
}

/// # Safety
/// `stream` has `len` values, a multiple of 4, not 0, and starts on a word.
#[unsafe(naked)]
pub unsafe extern "C" fn moments(stream: *const i16, len: usize, sums: &mut Moments) {
    naked_asm!(
        "push {{r4-r8, lr}}",
        "mov.w r12, #0x00010001",
        "movs r3, #0",
        "movs r4, #0",
        "movs r5, #0",
        // Eight values a turn; four more where their number is odd in fours.
        "lsrs r1, r1, #3",
        "bcc 3f",
        "ldmia r0!, {{r6, r7}}",
        "smlad r5, r6, r12, r5",
        "smlad r5, r7, r12, r5",
        "smlald r3, r4, r6, r6",
        "smlald r3, r4, r7, r7",
        "3:",
        "cbz r1, 5f",
        "4:",
        "ldmia.w r0!, {{r6-r8, lr}}",
        "smlad r5, r6, r12, r5",
        "smlad r5, r7, r12, r5",
        "smlad r5, r8, r12, r5",
        "smlad r5, lr, r12, r5",
        "smlald r3, r4, r6, r6",
        "smlald r3, r4, r7, r7",
        "smlald r3, r4, r8, r8",
        "smlald r3, r4, lr, lr",
        "subs r1, #1",
        "bne 4b",
        "5:",
        "stmia r2!, {{r3, r4, r5}}",
        "pop {{r4-r8, pc}}",
    )
}

/// Two values at r0 with their multipliers and biases at r2 become r8 and r10, in 1/256 of the output.
macro_rules! two_values {
    ($shift:literal) => {
        concat!(
            "ldr r7, [r0], #4\n",
            "ldmia.w r2!, {{r8-r11}}\n",
            "smlabb lr, r7, r3, r4\n",
            "smlatb r7, r7, r3, r4\n",
            $shift,
            " lr, lr, r5\n",
            $shift,
            " r7, r7, r5\n",
            "smmulr lr, lr, r6\n",
            "smmulr r7, r7, r6\n",
            "smmlar r8, lr, r8, r9\n",
            "smmlar r10, r7, r10, r11\n",
        )
    };
}

macro_rules! to_bytes {
    ($name:ident, $shift:literal) => {
        /// # Safety
        /// `output … end` is a multiple of four bytes, not 0; stream and affine have as many values; all start on words.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(pass: &Pass<i8>) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "ldr r1, [r0, #28]",
                "push {{r1}}",
                "ldm r0, {{r0-r6}}",
                "2:",
                two_values!($shift),
                "ssat r12, #8, r8, asr #8",
                "ssat r10, #8, r10, asr #8",
                "bfi r12, r10, #8, #24",
                two_values!($shift),
                "ssat r8, #8, r8, asr #8",
                "ssat r10, #8, r10, asr #8",
                "bfi r8, r10, #8, #24",
                "mov.w r9, #0x01010101",
                "pkhbt r12, r12, r8, lsl #16",
                // Down and up again: −128 becomes −127.
                "qsub8 r12, r12, r9",
                "qadd8 r12, r12, r9",
                "ldr r9, [sp]",
                "str r12, [r1], #4",
                "cmp r1, r9",
                "bne 2b",
                "pop {{r0, r4-r11, pc}}",
            )
        }
    };
}

macro_rules! to_stream {
    ($name:ident, $shift:literal) => {
        /// # Safety
        /// `output … end` is a multiple of two values, not 0; stream and affine have as many; all start on words.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(pass: &Pass<i16>) {
            naked_asm!(
                "push {{r4-r11, lr}}",
                "ldr r12, [r0, #28]",
                "ldm r0, {{r0-r6}}",
                "2:",
                two_values!($shift),
                "ssat r8, #16, r8, asr #8",
                "ssat r10, #16, r10, asr #8",
                "pkhbt r8, r8, r10, lsl #16",
                "str r8, [r1], #4",
                "cmp r1, r12",
                "bne 2b",
                "pop {{r4-r11, pc}}",
            )
        }
    };
}

to_bytes!(left_to_bytes, "lsl");
to_bytes!(right_to_bytes, "asr");
to_stream!(left_to_stream, "lsl");
to_stream!(right_to_stream, "asr");
