//! Lengths that follow from a configuration.

use super::{Config, Embed, Input};

/// One axis of a convolution along the values of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    pub kernel: usize,
    /// The step between two places.
    pub hop: usize,
    /// Zeros before the first value, and as many after the last.
    pub padding: usize,
    /// Number of places.
    pub places: usize,
}

/// The lengths of the convolution stem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StemShape {
    pub features: usize,
    pub channels: usize,
    /// Frames under the first kernel, and new frames for each token.
    pub frames: usize,
    pub stride: usize,
    /// The first convolution along a frame.
    pub wide: Axis,
    /// Tokens under the depthwise kernel.
    pub depth_tokens: usize,
    /// The depthwise convolution along the places of the first.
    pub depth: Axis,
}

impl Axis {
    /// A kernel over `len` values, with (kernel − 1) / 2 zeros at either end.
    #[must_use]
    pub const fn over(len: usize, kernel: usize, hop: usize) -> Self {
        let padding = (kernel - 1) / 2;
        let places = if len + 2 * padding < kernel { 0 } else { (len + 2 * padding - kernel) / hop + 1 };
        Self { kernel, hop, padding, places }
    }
}

impl Config {
    /// Length of one head.
    #[must_use]
    pub const fn head_len(&self) -> usize {
        self.width / self.heads
    }

    /// Values in one input frame; 1 for a model of tokens.
    #[must_use]
    pub const fn features(&self) -> usize {
        match self.input {
            Input::Features(features) => features,
            Input::Tokens(_) => 1,
        }
    }

    /// New frames for each token.
    #[must_use]
    pub const fn stride(&self) -> usize {
        match &self.embed {
            Embed::Linear { stride, .. } => *stride,
            Embed::Table {} => 1,
            Embed::Convolution { stride, .. } => stride[0],
        }
    }

    /// The stem's lengths, where the model has one.
    #[must_use]
    pub const fn stem(&self) -> Option<StemShape> {
        let Embed::Convolution { channels, kernel, stride, depthwise_kernel, depthwise_stride } = &self.embed else {
            return None;
        };
        let wide = Axis::over(self.features(), kernel[1], stride[1]);
        Some(StemShape {
            features: self.features(),
            channels: *channels,
            frames: kernel[0],
            stride: stride[0],
            wide,
            depth_tokens: depthwise_kernel[0],
            depth: Axis::over(wide.places, depthwise_kernel[1], depthwise_stride[1]),
        })
    }

    /// ALiBi: what one token of distance takes from the scores of a head (Press et al., 2022).
    #[must_use]
    pub fn slope(&self, head: usize) -> f64 {
        (-8.0 * (head + 1) as f64 / self.heads as f64).exp2()
    }
}
