//! Single instructions that the compiler does not find by itself, for code outside of the loops.

use core::arch::asm;

/// Four signed bytes as two halfwords `256 · odd + even`: the coding of [`microformer_packed::Layout::Paired`].
#[inline(always)]
pub fn pair(bytes: u32) -> u32 {
    let paired;
    // SAFETY: SXTAB16 works on registers and changes no flag.
    unsafe {
        asm!(
            "sxtab16 {paired}, {odd}, {even}",
            paired = lateout(reg) paired,
            odd = in(reg) bytes & 0xFF00_FF00,
            even = in(reg) bytes,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    paired
}
