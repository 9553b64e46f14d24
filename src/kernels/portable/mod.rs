//! Every kernel in plain Rust: the meaning that faster ones must reproduce bit for bit.

mod attention;
mod depthwise;
mod elementwise;
mod linear;
mod norm;
mod transform;

pub use attention::{mix, scores, scores_three, soften, store_key, store_value};
pub use depthwise::depthwise;
pub use elementwise::{activate, relu, rescale};
pub use linear::{LAYOUT, linear, linear_add};
#[cfg(any(dsp, scalar))]
pub(in crate::kernels) use norm::Deviation;
pub use norm::{norm, norm_stream};
pub use transform::{first_fours, first_twos, fours, halve, untangle, untangle_bins};
