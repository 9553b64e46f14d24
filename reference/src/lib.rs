//! The float model in plain f64, written to be read.
//!
//! A whole sequence enters, the scores of every token leave, and each intermediate tensor can be watched on the way. This
//! is the meaning of a model: the integer engine is judged against it, and it against PyTorch.

#![forbid(unsafe_code)]

pub mod attention;
pub mod embed;
pub mod linear;
pub mod mlp;
pub mod model;
pub mod norm;

pub use model::{Input, Observer, forward, pool};
