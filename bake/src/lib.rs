//! Build-script library: reads a quantised model file, checks it, packs it for the kernels, writes a Rust module.

#![forbid(unsafe_code)]

pub mod assemble;
pub mod build;
pub mod config;
mod emit;
mod error;
pub mod float;
mod matrix;
pub mod quantized;
pub mod signal;

pub use assemble::Assembled;
pub use build::{bake, target_has_dsp, target_layout};
pub use config::Config;
pub use error::Error;
pub use float::FloatModel;
pub use matrix::Matrix;
pub use quantized::{Quantized, Tensor, Values};
