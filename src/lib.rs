//! Small causal transformers on Cortex-M microcontrollers: integers only, no heap, one token at a time for ever.

#![no_std]
#![deny(unsafe_code)]

pub mod arith;
pub mod kernels;
pub mod model;
pub mod signal;

pub use microformer_packed as packed;
