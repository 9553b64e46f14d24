//! A look at every layer while it runs: digests, costs and pictures are made from it. `()` looks at nothing, for nothing.

use core::fmt;

/// Sees what every layer has just written. The time since the call before is the layer's own.
pub trait Probe {
    fn layer(&mut self, _layer: Layer, _output: Output<'_>) {}

    /// The unnormalised weights of one head over the slots of its ring, and their sum.
    fn weights(&mut self, _block: usize, _head: usize, _weights: &[i16], _sum: u32) {}
}

impl Probe for () {}

/// What a layer wrote.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    Bytes(&'a [i8]),
    Halves(&'a [i16]),
}

/// One step of the way from frame to scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Absent before the first block and after the last.
    pub block: Option<usize>,
    pub part: Part,
}

/// What a layer does, in the order of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Embed,
    AttentionEntry,
    QueryKeyValue,
    Mix,
    AttentionOutput,
    AttentionExit,
    MlpEntry,
    Up,
    Convolution,
    Activation,
    Down,
    MlpExit,
    HeadEntry,
    Head,
    Pool,
}

impl Part {
    /// The name in tables, digests and model files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Embed => "embed",
            Self::AttentionEntry => "attention_norm",
            Self::QueryKeyValue => "attention.query_key_value",
            Self::Mix => "attention.mix",
            Self::AttentionOutput => "attention.output",
            Self::AttentionExit => "attention.exit",
            Self::MlpEntry => "mlp_norm",
            Self::Up => "mlp.up",
            Self::Convolution => "mlp.convolution",
            Self::Activation => "mlp.activation",
            Self::Down => "mlp.down",
            Self::MlpExit => "mlp.exit",
            Self::HeadEntry => "norm",
            Self::Head => "head",
            Self::Pool => "pool",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.block {
            Some(block) => write!(formatter, "blocks.{block}.{}", self.part.name()),
            None => formatter.write_str(self.part.name()),
        }
    }
}
