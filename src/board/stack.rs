//! The stack: where it lies, and how much of it was ever used. The start-up code paints it; what lost its paint was used.
#![allow(unsafe_code)]

use cortex_m_rt::STACK_PAINT_VALUE;

unsafe extern "C" {
    // Set by boards/stack.x: the lowest word of the stack, and the first word above it.
    static _stack_end: u32;
    static _stack_start: u32;
}

/// Address of the lowest word.
pub fn lowest() -> usize {
    (&raw const _stack_end) as usize
}

pub fn bytes() -> usize {
    (&raw const _stack_start) as usize - lowest()
}

/// Most bytes that were in use at any time since the start.
pub fn high_water() -> usize {
    let words = bytes() / size_of::<u32>();
    let lowest = &raw const _stack_end;
    let painted = (0..words).take_while(|&index| {
        // SAFETY: index < words, so the place is inside the stack region.
        let place = unsafe { lowest.add(index) };
        // SAFETY: aligned RAM of the stack; volatile, since the compiler knows no object there.
        let word = unsafe { place.read_volatile() };
        word == STACK_PAINT_VALUE
    });
    bytes() - painted.count() * size_of::<u32>()
}
