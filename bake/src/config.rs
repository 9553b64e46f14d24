//! The configuration of a model: the JSON under the key `microformer` of a model file's metadata.
//!
//! What leaves [`Config::from_json`] is complete and within the engine's limits: every later stage may rely on it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::signal::Settings;

mod check;
mod shape;

pub use check::{MAX_COLUMNS, MAX_WIDTH, MAX_WINDOW};
pub use shape::{Axis, StemShape};

/// The version of the configuration that this crate reads.
pub const FORMAT: u32 = 1;

/// The key of a safetensors file's metadata that holds the configuration.
pub const METADATA_KEY: &str = "microformer";

/// A whole model but for its tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub format: u32,
    /// Letters, digits, `-` and `_`.
    pub name: String,
    pub input: Input,
    pub embed: Embed,
    /// Length of the residual stream.
    pub width: usize,
    pub blocks: usize,
    pub heads: usize,
    /// Length of the perceptron's hidden layer.
    pub hidden: usize,
    /// A token attends to itself and to the `window − 1` tokens before it.
    pub window: usize,
    pub positions: Positions,
    /// Rows of the position table; 0 where there is none.
    #[serde(default)]
    pub context: usize,
    pub norm: NormKind,
    /// Norms before attention and perceptron (true), or after the residual sums (false).
    pub norm_first: bool,
    #[serde(default = "default_epsilon")]
    pub norm_epsilon: f64,
    /// A norm between the last block and the head.
    #[serde(default = "default_final_norm")]
    pub final_norm: bool,
    pub activation: Activation,
    /// Taps of the causal depthwise convolution in the perceptron; 0 for none.
    #[serde(default)]
    pub convolution: usize,
    pub pool: Pool,
    /// One for each score, in the order of the head's rows.
    pub labels: Vec<String>,
    /// Settings of the front end that makes features from sound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Settings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalize: Option<Normalize>,
    /// When scores become events, for models that listen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decide: Option<Decide>,
}

/// What enters at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// A frame of so many values.
    Features(usize),
    /// A token of a vocabulary of so many.
    Tokens(usize),
}

/// How an input becomes a vector of the residual stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Embed {
    /// A matrix over the last `frames` frames, once every `stride` frames.
    Linear {
        #[serde(default = "one")]
        frames: usize,
        #[serde(default = "one")]
        stride: usize,
    },
    /// A row for each token.
    Table {},
    /// Convolution, depthwise convolution, projection; sizes are `[time, frequency]`.
    Convolution {
        channels: usize,
        kernel: [usize; 2],
        stride: [usize; 2],
        depthwise_kernel: [usize; 2],
        depthwise_stride: [usize; 2],
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Positions {
    None,
    Alibi,
    Learned,
    Sinusoidal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NormKind {
    Layer,
    Rms,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    Relu,
    Gelu,
    Silu,
}

/// Which scores are the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Pool {
    /// The mean of the last `tokens` tokens' scores; of all since the start where it is 0.
    Mean {
        #[serde(default)]
        tokens: usize,
    },
    /// The scores of the last token of a sequence.
    Last {},
    /// The scores of every token.
    Each {},
}

/// A feature enters the model as (value − mean) / std.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalize {
    pub mean: PerFeature,
    pub std: PerFeature,
}

/// When a word counts as heard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// Time over which posteriors are averaged; never more than [`MAX_SMOOTHING`](microformer_packed::MAX_SMOOTHING) tokens.
    #[serde(default = "default_smoothing")]
    pub smoothing_ms: u32,
    /// Time after a word in which no other is heard.
    #[serde(default = "default_hold_off")]
    pub hold_off_ms: u32,
    /// The posterior at which a word is heard, where `thresholds` does not name it.
    #[serde(default = "default_threshold")]
    pub threshold: f64,
    /// By label. A label that begins with `_` is no word and is never heard.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub thresholds: BTreeMap<String, f64>,
}

impl Default for Decide {
    fn default() -> Self {
        Self {
            smoothing_ms: default_smoothing(),
            hold_off_ms: default_hold_off(),
            threshold: default_threshold(),
            thresholds: BTreeMap::new(),
        }
    }
}

/// One number for all features, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "serde_json::Value")]
pub enum PerFeature {
    All(f64),
    Each(Vec<f64>),
}

fn default_epsilon() -> f64 {
    1e-5
}

fn default_final_norm() -> bool {
    true
}

/// Measured with the keyword models: longer means cost a word's length, shorter ones false alarms.
fn default_smoothing() -> u32 {
    480
}

fn default_hold_off() -> u32 {
    800
}

fn default_threshold() -> f64 {
    0.8
}

fn one() -> usize {
    1
}

impl Config {
    /// Reads and checks a configuration.
    ///
    /// # Errors
    /// One sentence that names the field.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let config: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            let at = if path == "." { String::new() } else { format!(" at `{path}`") };
            Error::new(format!("the configuration in the metadata is wrong{at}: {}", error.inner()))
        })?;
        reader
            .end()
            .map_err(|error| Error::new(format!("the configuration in the metadata goes on after its end: {error}")))?;
        config.check()?;
        Ok(config)
    }

    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| unreachable!("a configuration is plain JSON"))
    }
}

impl Normalize {
    /// Takes one frame as the sensor gives it to the frame that the model was trained on.
    pub fn apply(&self, frame: &mut [f64]) {
        for (index, value) in frame.iter_mut().enumerate() {
            *value = (*value - self.mean.at(index)) / self.std.at(index);
        }
    }
}

/// By way of a JSON value: serde's own untagged enums lose numbers where any crate of the build turns on serde_json's
/// `arbitrary_precision`.
impl TryFrom<serde_json::Value> for PerFeature {
    type Error = &'static str;

    fn try_from(value: serde_json::Value) -> Result<Self, Self::Error> {
        let read = match &value {
            serde_json::Value::Array(values) => {
                values.iter().map(serde_json::Value::as_f64).collect::<Option<_>>().map(Self::Each)
            }
            value => value.as_f64().map(Self::All),
        };
        read.ok_or("a number, or a list with one number for each feature")
    }
}

impl PerFeature {
    /// The number for one feature.
    #[must_use]
    pub fn at(&self, feature: usize) -> f64 {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values[feature],
        }
    }
}

#[cfg(test)]
mod tests;
