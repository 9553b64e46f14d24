//! The float model in plain f64, written to be read.
