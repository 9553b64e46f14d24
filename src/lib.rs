//! Small causal transformers on Cortex-M microcontrollers: integers only, no heap, one token at a time for ever.

#![no_std]
#![deny(unsafe_code)]

pub mod arith;
pub mod decide;
pub mod generate;
pub mod kernels;
pub mod model;
pub mod pipeline;
pub mod signal;

pub use microformer_packed as packed;

/// Brings in the module that `microformer_bake::bake(PATH, NAME)` wrote in the build script: `MODEL`, `STATE_WORDS`, the
/// type `State` and the constant `STATE`.
///
/// ```ignore
/// mod keyword {
///     microformer::include_model!("keyword");
/// }
/// ```
#[macro_export]
macro_rules! include_model {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
