//! Marks in the instruction stream, between which counter/ counts what QEMU executes. To a chip they are no-ops.
#![allow(unsafe_code)]

#[cfg(target_os = "none")]
use core::arch::asm;

/// Begins a region. Regions nest.
#[inline(always)]
pub fn begin() {
    // SAFETY: a hint (`DBG #1`), or a register copied to itself, changes nothing. Not `nomem`: the work that is counted
    // must stay between the marks.
    #[cfg(all(target_os = "none", not(armv6m)))]
    unsafe {
        asm!(".inst.w 0xf3af80f1", options(nostack, preserves_flags))
    };
    // SAFETY: as above.
    #[cfg(all(target_os = "none", armv6m))]
    unsafe {
        asm!("mov r10, r10", options(nostack, preserves_flags))
    };
}

/// Ends the region that began last.
#[inline(always)]
pub fn end() {
    // SAFETY: as in `begin`, `DBG #2`.
    #[cfg(all(target_os = "none", not(armv6m)))]
    unsafe {
        asm!(".inst.w 0xf3af80f2", options(nostack, preserves_flags))
    };
    // SAFETY: as in `begin`.
    #[cfg(all(target_os = "none", armv6m))]
    unsafe {
        asm!("mov r11, r11", options(nostack, preserves_flags))
    };
}
