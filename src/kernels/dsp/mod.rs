//! The kernels on the DSP extension (Cortex-M4, M7, M33): the bits of [`super::portable`] in a fraction of its cycles.
//!
//! Each file is a safe door, which checks lengths once, over loops in assembly, each a naked function: with one `asm!`
//! for each instruction the compiler moves registers about for half as long again (docs/measurements.md).
#![allow(unsafe_code)]

/// `core::arch::naked_asm!`, for a processor with the DSP extension. Rust assembles naked functions for the target's
/// bare architecture, whatever `target-cpu` says, and ARMv8-M has the extension only by name.
#[cfg(armv8m)]
macro_rules! naked_asm {
    ($($part:tt)*) => { core::arch::naked_asm!(".cpu cortex-m33", $($part)*) };
}
#[cfg(not(armv8m))]
macro_rules! naked_asm {
    ($($part:tt)*) => { core::arch::naked_asm!($($part)*) };
}

mod attention;
mod chain;
mod depthwise;
mod elementwise;
mod linear;
mod mixing;
mod multiply;
mod nibbles;
mod norm;
mod normalize;
mod score;
mod softening;
mod storing;
mod transform;

pub use attention::{mix, scores, scores_three, soften, store_key, store_value};
pub use depthwise::depthwise;
pub use elementwise::{activate, relu, rescale};
pub use linear::{LAYOUT, linear, linear_add, linear_overlapping};
pub(super) use nibbles::{linear_add_of_four, linear_of_four};
pub use norm::{norm, norm_stream};
pub use transform::{first_fours, first_twos, fours, untangle};

/// For lengths, and for addresses: words are loaded several at a time, which no Cortex-M does across a word's border.
#[inline(always)]
fn are_multiples_of_four(numbers: &[usize]) -> bool {
    numbers.iter().fold(0, |bits, number| bits | number) % 4 == 0
}
