//! The loops under [`super::attention::store_key`] and [`super::attention::store_value`]: bytes become halfwords
//! `256 · odd + even`, the coding of [`microformer_packed::Layout::Paired`], and go to their places.

/// # Safety
/// `key` has `words` words, not 0, and starts on one; so many words, four apart, follow from `place`.
#[unsafe(naked)]
pub unsafe extern "C" fn place_key(place: *mut u32, key: *const i8, words: usize) {
    naked_asm!(
        "2:",
        "ldr r3, [r1], #4",
        "and r12, r3, #0xff00ff00",
        "sxtab16 r3, r12, r3",
        "str r3, [r0], #16",
        "subs r2, #1",
        "bne 2b",
        "bx lr",
    )
}

/// # Safety
/// `value` has `words` words, not 0, and starts on one; at `place`, and `block_bytes` further for each further word, two
/// halfwords, a word apart, belong to the slot.
#[unsafe(naked)]
pub unsafe extern "C" fn place_value(place: *mut u16, value: *const i8, words: usize, block_bytes: usize) {
    naked_asm!(
        "push {{r4, lr}}",
        "2:",
        "ldr r4, [r1], #4",
        "and r12, r4, #0xff00ff00",
        "sxtab16 r4, r12, r4",
        "strh r4, [r0]",
        "lsrs r4, r4, #16",
        "strh r4, [r0, #4]",
        "add r0, r3",
        "subs r2, #1",
        "bne 2b",
        "pop {{r4, pc}}",
    )
}
