//! Whether this image runs in QEMU, so that one image serves both: our runner writes a mark into RAM before the start.
//!
//! Semihosting without a debugger faults on hardware, and no identification register tells QEMU from silicon on every
//! Cortex-M. The mark lies in `.uninit`, which the start-up code leaves alone; after power-on RAM holds it by accident
//! once in 2⁶⁴.
#![allow(unsafe_code)]

use core::{cell::UnsafeCell, mem::MaybeUninit};

/// What runner/src/qemu.rs writes at the symbol `_EMULATOR_MARK`.
const MARK: u64 = u64::from_le_bytes(*b"in QEMU\n");

#[repr(transparent)]
struct Mark(UnsafeCell<MaybeUninit<u64>>);

// SAFETY: nothing in this image writes the cell, so sharing it is sharing a constant.
unsafe impl Sync for Mark {}

#[used]
#[unsafe(export_name = "_EMULATOR_MARK")]
#[unsafe(link_section = ".uninit.emulator")]
static PLACE: Mark = Mark(UnsafeCell::new(MaybeUninit::uninit()));

pub fn is_present() -> bool {
    // SAFETY: the address is that of a static, aligned; any bits are a valid u64, and RAM that nobody wrote still reads
    // as some bits, because the read is volatile.
    let found = unsafe { PLACE.0.get().cast::<u64>().read_volatile() };
    found == MARK
}
