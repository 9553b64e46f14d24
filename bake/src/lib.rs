//! Build-script library: reads a quantised model file, checks it, packs it for the kernels, writes a Rust module.

#![forbid(unsafe_code)]

pub mod config;
mod error;
pub mod float;
mod matrix;
pub mod signal;

pub use config::Config;
pub use error::Error;
pub use float::FloatModel;
pub use matrix::Matrix;
