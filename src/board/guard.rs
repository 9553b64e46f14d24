//! A guard below the stack, by the memory protection unit of ARMv6-M and ARMv7-M: an overflow faults at its first word.
//!
//! boards/stack.x puts the stack at the beginning of RAM, where most chips have nothing below it and fault anyway. Some
//! buses swallow such writes without a word (Stellaris LM3S6965 and MPS2, as QEMU emulates them); the guard does not.
//! ARMv8-M has its own limit register, which cortex-m-rt sets; a chip without the unit relies on the bus.
#![allow(unsafe_code)]

use super::stack;
use cortex_m::peripheral::MPU;

/// Larger than any function's frame, so that no push can leap over it.
const GUARD_BYTES_LOG2: u32 = 16;

/// Region 0, the size as the exponent less one, no access for anybody (AP = 0), never executed, shareable normal memory.
const REGION: u32 = 0;
const NO_ACCESS: u32 = 1 << 28 | 1 << 18 | 1 << 17 | (GUARD_BYTES_LOG2 - 1) << 1 | 1;
/// On, off inside HardFault (so that its handler can always work), with the usual memory map around the guard.
const ON_WITH_DEFAULT_MAP: u32 = 1 << 2 | 1;

pub fn below_stack() {
    let top = stack::lowest() as u32;
    // SAFETY: called once at the start, before anything else uses the unit.
    let unit = unsafe { &*MPU::PTR };
    let regions = unit._type.read() >> 8 & 0xff;
    if regions == 0 || !top.is_multiple_of(1 << GUARD_BYTES_LOG2) {
        return;
    }
    // SAFETY: chooses which region the next two writes describe.
    unsafe { unit.rnr.write(REGION) };
    // SAFETY: the guard lies wholly below the stack, where this image has no memory.
    unsafe { unit.rbar.write(top - (1 << GUARD_BYTES_LOG2)) };
    // SAFETY: as above.
    unsafe { unit.rasr.write(NO_ACCESS) };
    // SAFETY: everything outside the guard keeps the default map.
    unsafe { unit.ctrl.write(ON_WITH_DEFAULT_MAP) };
    cortex_m::asm::dsb();
    cortex_m::asm::isb();
}
