//! The parts of a model, from the whole down to one matrix.

use crate::{Bits, Layout, padded};

/// A whole model. One frame or token enters at each step; scores leave whenever a token is complete.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    pub name: &'a str,
    /// The order of the packed weights, which must be the one that the target's kernels eat.
    pub layout: Layout,
    /// What is added to the residual stream first.
    pub embed: Embed<'a>,
    /// `(context, width)` rows added to the stream by position, padded; empty where positions are relative or absent.
    pub positions: &'a [i16],
    /// Length of the residual stream, unpadded.
    pub width: usize,
    pub blocks: &'a [Block<'a>],
    /// The final norm, or the plain return to 8 bits.
    pub head_entry: Entry<'a>,
    pub head: Linear<'a>,
    pub pool: Pool,
    /// A score of 1 natural-logarithm unit is `1 << score_fraction_bits`.
    pub score_fraction_bits: u32,
    pub labels: &'a [&'a str],
}

/// How an input becomes a vector of the residual stream.
#[derive(Clone, Copy, Debug)]
pub enum Embed<'a> {
    /// The last `frames` frames, flattened oldest first, once every `stride` frames.
    Linear {
        features: usize,
        frames: usize,
        stride: usize,
        linear: Linear<'a>,
    },
    /// A row of `(vocabulary, padded width)` for each token.
    Table {
        rows: &'a [i16],
    },
    Convolution(Stem<'a>),
}

/// The causal two-dimensional convolution stem: convolution, depthwise convolution, projection.
#[derive(Clone, Copy, Debug)]
pub struct Stem<'a> {
    pub features: usize,
    /// Frames under the kernel, and new frames for each token.
    pub frames: usize,
    pub stride: usize,
    /// Values of one frame under the kernel, the step between two places, zeros before the first value.
    pub kernel: usize,
    pub hop: usize,
    pub padding: usize,
    /// Number of places of the convolution along a frame.
    pub places: usize,
    /// From one value of a frame to the next where all frames under the kernel stand side by side: their number, and as
    /// many zeros as it takes for every place to begin on a word.
    pub column: usize,
    /// `(channels, kernel · column)`, each value of a patch oldest frame first, followed by ReLU.
    pub convolution: Linear<'a>,
    /// Depthwise: tokens and places under the kernel, the step and zeros before the first place.
    pub depth_tokens: usize,
    pub depth_kernel: usize,
    pub depth_hop: usize,
    pub depth_padding: usize,
    pub depth_places: usize,
    /// Taps in the order (token, place), oldest first; ReLU by saturation, as [`Activation::Saturation`].
    pub depthwise: Depthwise<'a>,
    /// `(width, depth_places · channels)`, place-major.
    pub projection: Linear<'a>,
}

impl Stem<'_> {
    /// Channels of both convolutions, padded.
    #[must_use]
    pub const fn channels(&self) -> usize {
        self.convolution.rows
    }

    /// Length of one flattened patch, padded.
    #[must_use]
    pub const fn patch(&self) -> usize {
        self.convolution.columns
    }
}

/// One layer: attention, then a two-layer perceptron, each between its own entry and exit.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    pub attention_entry: Entry<'a>,
    pub attention: Attention<'a>,
    /// Present where the norm comes after the residual sum.
    pub attention_exit: Option<Norm<'a>>,
    pub mlp_entry: Entry<'a>,
    pub mlp: Mlp<'a>,
    pub mlp_exit: Option<Norm<'a>>,
}

/// From the 16-bit residual stream to the 8-bit input of a matrix.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    Norm(Norm<'a>),
    /// `requantize(x, multiplier)`, for models whose norms come after the residual sums.
    Rescale {
        multiplier: i32,
    },
}

/// LayerNorm, or RMSNorm where `centred` is false.
#[derive(Clone, Copy, Debug)]
pub struct Norm<'a> {
    /// Values that count; the rest is padding.
    pub len: usize,
    pub centred: bool,
    /// `len² · ε` in units of the squared stream.
    pub epsilon: u64,
    /// Fraction bits of the normalised value between the two multiplications.
    pub fraction_bits: u32,
    /// For each value `[multiplier, bias]`: the gain over the output's scale, and the bias in 1/256 with the rounding half.
    pub affine: &'a [[i32; 2]],
}

/// Causal multi-head attention over the last `window` tokens.
#[derive(Clone, Copy, Debug)]
pub struct Attention<'a> {
    pub heads: usize,
    /// Padded length of one head.
    pub head_len: usize,
    pub window: usize,
    /// Rows: all heads' queries, then keys, then values.
    pub query_key_value: Linear<'a>,
    /// From 256 · q·k to steps of the exponential table, 1/√d included.
    pub score_multiplier: i32,
    /// ALiBi: what one token of distance takes from 256 · q·k, for each head; empty without.
    pub slopes: &'a [i32],
    pub mixing: Mixing,
    pub output: Linear<'a>,
}

/// From the sum of weighted values to 8 bits: `ratio / 2³¹ · 2^exponent` is the values' scale over the output's.
#[derive(Clone, Copy, Debug)]
pub struct Mixing {
    /// In [2³⁰, 2³¹).
    pub ratio: u32,
    pub exponent: i32,
}

/// The two-layer perceptron of a block.
#[derive(Clone, Copy, Debug)]
pub struct Mlp<'a> {
    pub up: Linear<'a>,
    /// The causal convolution over time between the first layer and its activation, `taps` tokens long.
    pub convolution: Option<Depthwise<'a>>,
    pub activation: Activation<'a>,
    pub down: Linear<'a>,
}

/// The non-linearity between the two layers of a perceptron.
#[derive(Clone, Copy, Debug)]
pub enum Activation<'a> {
    /// ReLU: the layer before stores its zero as −127, so that its own saturation cuts off what is negative.
    Saturation,
    /// Indexed by the 8-bit input as an unsigned byte.
    Table(&'a [i8; 256]),
}

/// A matrix with one scale per row, its biases and its multipliers, in a [`crate::Layout`].
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a> {
    /// Both padded.
    pub rows: usize,
    pub columns: usize,
    pub bits: Bits,
    pub packed: &'a [u32],
}

/// One filter of `taps` values for each channel.
#[derive(Clone, Copy, Debug)]
pub struct Depthwise<'a> {
    /// Padded.
    pub channels: usize,
    pub taps: usize,
    /// `(taps, channels)`, oldest tap first.
    pub weights: &'a [i8],
    /// For each channel `[bias, multiplier]`.
    pub affine: &'a [[i32; 2]],
}

/// What becomes of the scores of each token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// The scores of the newest token, at every token.
    Each,
    /// The mean of the last `tokens` tokens' scores; of all since the start where `tokens` is 0.
    Mean { tokens: usize },
}

impl Model<'_> {
    /// Values in one input frame; 1 for a token model.
    #[must_use]
    pub const fn features(&self) -> usize {
        match &self.embed {
            Embed::Linear { features, .. } => *features,
            Embed::Table { .. } => 1,
            Embed::Convolution(stem) => stem.features,
        }
    }

    /// New frames for each token.
    #[must_use]
    pub const fn stride(&self) -> usize {
        match &self.embed {
            Embed::Linear { stride, .. } => *stride,
            Embed::Table { .. } => 1,
            Embed::Convolution(stem) => stem.stride,
        }
    }

    /// Entries of the token table; 0 for a model of features.
    #[must_use]
    pub const fn vocabulary(&self) -> usize {
        match &self.embed {
            Embed::Table { rows } => match rows.len().checked_div(padded(self.width)) {
                Some(entries) => entries,
                None => 0,
            },
            _ => 0,
        }
    }
}
