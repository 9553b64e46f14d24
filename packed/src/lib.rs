//! The packed form of a model: what `bake` writes, and what the engine reads.
//!
//! Plain data, borrowed from flash: shapes, integer weights in the order in which the kernels eat them, multipliers, tables.
//! Every vector of activations is padded to a multiple of [`LANES`] whose weights are zero, so that no kernel ever needs a
//! tail. Nothing here computes; `bake` has checked all of it before it was written.

#![no_std]
#![forbid(unsafe_code)]

pub mod decide;
mod layout;
mod memory;
mod model;
pub mod signal;

pub use decide::{Decide, MAX_SMOOTHING};
pub use layout::{Bits, FOUR_LIMIT, FOUR_OFFSET, GROUP, Layout, Place, Row, pack_four, pack_linear};
pub use memory::{MAX_TAPS, Memory, TOGETHER};
pub use model::*;

/// Activations come in groups of this many: one 32-bit word of 8-bit values.
pub const LANES: usize = 4;

/// `len` rounded up to whole words of [`LANES`] values.
#[must_use]
pub const fn padded(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

/// Fraction bits of a normalised value between the two multiplications of a norm over `len` values: a value reaches at
/// most √len deviations, and four times that in these units must stay inside 32 bits.
#[must_use]
pub const fn norm_fraction_bits(len: usize) -> u32 {
    28 - len.next_power_of_two().trailing_zeros().div_ceil(2)
}
