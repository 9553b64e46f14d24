//! The loops: matrices, attention, norms, tables, the Fourier transform. They know lengths and multipliers, and no model at all.
//!
//! [`portable`] is the meaning of every kernel, in plain Rust, and runs everywhere. A chip with the DSP extension runs
//! `dsp` instead, other Cortex-M chips run `scalar`: the same bits in fewer cycles. The names at this level are the ones
//! that the target runs.
//!
//! Lengths are checked once at the door of a kernel. They follow from a baked model, so a wrong one is an error of this
//! crate: tests stop at it, and a release build computes only as far as all lengths reach.

#[cfg(dsp)]
pub mod dsp;
mod four;
mod overlapping;
pub mod portable;
#[cfg(scalar)]
pub mod scalar;

#[cfg(dsp)]
pub use dsp::{first_fours, first_twos, fours, untangle};
#[cfg(not(dsp))]
pub use portable::{first_fours, first_twos, fours, untangle};

#[cfg(dsp)]
pub use dsp as fast;
#[cfg(not(any(dsp, scalar)))]
pub use portable as fast;
#[cfg(scalar)]
pub use scalar as fast;

pub use fast::{LAYOUT, activate, depthwise, mix, norm, norm_stream, relu, rescale, scores, soften};
pub use fast::{scores_three, store_key, store_value};
pub use four::{linear, linear_add};
pub use overlapping::linear_overlapping;

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

/// How a row of weights mixes the values of its ring.
#[derive(Clone, Copy, Debug)]
pub struct Mixture {
    /// Slots that hold a value.
    pub filled: usize,
    /// Sum of the weights in these slots: what [`soften`] returned.
    pub sum: u32,
    /// From the weighted sum to 8 bits: see [`crate::arith::reciprocal`].
    pub multiplier: i32,
}
