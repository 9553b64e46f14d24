//! The kernels on chips without the DSP extension (Cortex-M0, M0+, M3): the bits of [`super::portable`] in a third of its
//! instructions.
//!
//! Matrices lie in flash with two weights to a word, so that one 32-bit multiplication does two products (see [`linear`]).
//! What differs between the two instruction sets stands in `v6` and `v7`; all else is plain Rust, blocked so that loads
//! are shared.
#![allow(unsafe_code)]

mod depthwise;
mod elementwise;
mod linear;
mod mixing;
#[cfg(not(armv6m))]
mod nibbles;
mod norm;
mod scoring;
#[cfg(armv6m)]
mod v6;
#[cfg(armv6m)]
use v6 as chip;
#[cfg(not(armv6m))]
mod v7;
#[cfg(not(armv6m))]
use v7 as chip;

pub use super::portable::relu;
pub use chip::soften;
pub use depthwise::depthwise;
pub use elementwise::activate;
pub use linear::{LAYOUT, linear, linear_add};
pub use mixing::{mix, store_value};
#[cfg(not(armv6m))]
pub(super) use nibbles::{linear_add_of_four, linear_of_four};
pub use norm::{norm, norm_stream, rescale};
pub use scoring::{scores, scores_three, store_key};
