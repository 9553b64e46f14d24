//! Build-script library: reads a quantised model file, checks it, packs it for the kernels, writes a Rust module.

pub mod signal;
