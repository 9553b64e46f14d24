//! The packed form of a model: what `bake` writes, and what the engine reads.
//!
//! Plain data, borrowed from flash: shapes, integer weights in the order in which the kernels eat them, multipliers, tables.
//! Every vector of activations is padded to a multiple of [`LANES`] and its padding is always zero, so that no kernel ever
//! needs a tail. Nothing here computes; `bake` has checked all of it before it was written.

#![no_std]
#![forbid(unsafe_code)]

mod layout;
mod memory;
mod model;
pub mod signal;

pub use layout::{GROUP, GROUP_HEAD, Layout, Row, linear_words, pack_linear, pack_word};
pub use memory::{MAX_TAPS, Memory};
pub use model::*;

/// Activations come in groups of this many: one 32-bit word of 8-bit values.
pub const LANES: usize = 4;

/// `len` rounded up to whole words of [`LANES`] values.
#[must_use]
pub const fn padded(len: usize) -> usize {
    len.next_multiple_of(LANES)
}
