//! The loops: matrices, attention, norms, tables, the Fourier transform. They know lengths and multipliers, and no model at all.
//!
//! [`portable`] is the meaning of every kernel, in plain Rust, and runs everywhere. A chip with the DSP extension runs
//! `dsp` instead, which computes the same bits in fewer cycles. The names at this level are the ones that the target runs.
//!
//! Lengths are checked once at the door of a kernel. They follow from a baked model, so a wrong one is an error of this
//! crate: tests stop at it, and a release build computes only as far as all lengths reach.

#[cfg(dsp)]
pub mod dsp;
#[cfg(not(dsp))]
mod overlapping;
pub mod portable;

#[cfg(dsp)]
pub use dsp::{first_fours, first_twos, fours, linear_overlapping, untangle};
#[cfg(not(dsp))]
pub use overlapping::linear_overlapping;
#[cfg(not(dsp))]
pub use portable::{first_fours, first_twos, fours, untangle};

#[cfg(dsp)]
pub use dsp as fast;
#[cfg(not(dsp))]
pub use portable as fast;

pub use fast::{
    LAYOUT, activate, depthwise, linear, linear_add, mix, norm, norm_stream, relu, rescale, scores, soften,
};
pub use fast::{scores_three, store_key, store_value};

/// How one query of one head scores the keys of its ring.
#[derive(Clone, Copy, Debug)]
pub struct Scoring {
    /// From 256 · q·k to steps of the exponential table.
    pub multiplier: i32,
    /// What one token of distance takes from 256 · q·k.
    pub slope: i32,
    /// The slot of the query's own token, at distance 0. Slots before it are nearer than those after it, which hold what
    /// is left from the last time round.
    pub newest: usize,
    /// Slots that hold a key: all up to the newest, or, once the ring has gone round, all.
    pub filled: usize,
}
