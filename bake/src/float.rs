//! The float model file: a safetensors file as training wrote it, checked, and held in f64.
//!
//! A model that leaves [`FloatModel::read`] is complete: every tensor of its configuration is there, in the right shape,
//! finite, and the file holds no tensor besides.

use std::path::Path;

use crate::config::{Config, Embed as EmbedConfig, Input, NormKind, Positions};
use crate::{Error, Matrix};

mod tensors;

use tensors::Tensors;

/// A model as it was trained.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatModel {
    pub config: Config,
    pub embed: Embed,
    /// `(context, width)`, added to the embedded tokens.
    pub positions: Option<Matrix>,
    pub blocks: Vec<Block>,
    /// The norm before the head.
    pub norm: Option<Norm>,
    /// `(labels, width)`.
    pub head: Linear,
}

/// How an input becomes a vector of the residual stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Embed {
    /// `(width, frames · features)`, oldest frame first.
    Linear(Linear),
    /// `(vocabulary, width)`.
    Table(Matrix),
    Convolution(Stem),
}

/// The causal convolution stem.
#[derive(Clone, Debug, PartialEq)]
pub struct Stem {
    /// `(channels, frames · kernel)`, oldest frame first.
    pub convolution: Linear,
    /// `(channels, tokens · kernel)`, oldest token first.
    pub depthwise: Linear,
    /// `(width, places · channels)`, place-major.
    pub projection: Linear,
}

/// One layer. Its norms stand before attention and perceptron, or after the sums, as the configuration says.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub attention_norm: Norm,
    /// All four `(width, width)`; rows of the first three are heads, one after the other.
    pub query: Linear,
    pub key: Linear,
    pub value: Linear,
    pub output: Linear,
    pub mlp_norm: Norm,
    /// `(hidden, width)`.
    pub up: Linear,
    /// `(hidden, taps)`, oldest tap first.
    pub convolution: Option<Linear>,
    /// `(width, hidden)`.
    pub down: Linear,
}

/// A matrix and the bias of each of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    pub weight: Matrix,
    pub bias: Vec<f64>,
}

/// Gain and bias for each value; an RMSNorm's bias is zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Norm {
    pub weight: Vec<f64>,
    pub bias: Vec<f64>,
}

impl FloatModel {
    /// Reads a model file.
    ///
    /// # Errors
    /// One sentence that names the file, the tensor, what was expected and what came.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Error::new(error.to_string()).in_file(&file))?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(&file))
    }

    /// Reads a model from the bytes of a file.
    ///
    /// # Errors
    /// As [`FloatModel::read`], without the file's name.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut tensors = Tensors::open(bytes)?;
        let config = Config::from_json(tensors.config()?)?;
        let model = Self {
            embed: read_embed(&mut tensors, &config)?,
            positions: read_positions(&mut tensors, &config)?,
            blocks: (0..config.blocks)
                .map(|index| Block::read(&mut tensors, &config, index))
                .collect::<Result<_, _>>()?,
            norm: config.final_norm.then(|| read_norm(&mut tensors, &config, "norm")).transpose()?,
            head: tensors.linear("head", &[config.labels.len(), config.width]).map_err(|error| {
                Error::new(format!("{error} (the configuration has {} labels)", config.labels.len()))
            })?,
            config,
        };
        tensors.finish()?;
        Ok(model)
    }
}

impl Block {
    fn read(tensors: &mut Tensors, config: &Config, index: usize) -> Result<Self, Error> {
        let (width, hidden, taps) = (config.width, config.hidden, config.convolution);
        let name = |part: &str| format!("blocks.{index}.{part}");
        Ok(Self {
            attention_norm: read_norm(tensors, config, &name("attention_norm"))?,
            query: tensors.linear(&name("attention.query"), &[width, width])?,
            key: tensors.linear(&name("attention.key"), &[width, width])?,
            value: tensors.linear(&name("attention.value"), &[width, width])?,
            output: tensors.linear(&name("attention.output"), &[width, width])?,
            mlp_norm: read_norm(tensors, config, &name("mlp_norm"))?,
            up: tensors.linear(&name("mlp.up"), &[hidden, width])?,
            convolution: match taps {
                0 => None,
                _ => Some(tensors.linear(&name("mlp.convolution"), &[hidden, taps])?),
            },
            down: tensors.linear(&name("mlp.down"), &[width, hidden])?,
        })
    }
}

fn read_embed(tensors: &mut Tensors, config: &Config) -> Result<Embed, Error> {
    let (features, width) = (config.features(), config.width);
    Ok(match config.embed {
        EmbedConfig::Linear { frames, .. } => Embed::Linear(tensors.linear("embed", &[width, frames * features])?),
        EmbedConfig::Table {} => {
            let Input::Tokens(vocabulary) = config.input else { unreachable!("the configuration was checked") };
            Embed::Table(tensors.matrix("embed.weight", &[vocabulary, width])?)
        }
        EmbedConfig::Convolution { channels, kernel, depthwise_kernel, .. } => {
            let Some(shape) = config.stem() else { unreachable!("the configuration has a stem") };
            Embed::Convolution(Stem {
                convolution: tensors.linear("embed.convolution", &[channels, 1, kernel[0], kernel[1]])?,
                depthwise: tensors
                    .linear("embed.depthwise", &[channels, 1, depthwise_kernel[0], depthwise_kernel[1]])?,
                projection: tensors.linear("embed.projection", &[width, shape.depth.places * channels])?,
            })
        }
    })
}

fn read_positions(tensors: &mut Tensors, config: &Config) -> Result<Option<Matrix>, Error> {
    let shape = [config.context, config.width];
    match config.positions {
        Positions::None | Positions::Alibi => Ok(None),
        Positions::Sinusoidal if !tensors.has("positions.weight") => Ok(Some(sinusoids(config.context, config.width))),
        Positions::Learned | Positions::Sinusoidal => tensors.matrix("positions.weight", &shape).map(Some),
    }
}

/// Sines in even columns, cosines in odd ones (Vaswani et al., 2017, section 3.5).
#[must_use]
pub fn sinusoids(context: usize, width: usize) -> Matrix {
    Matrix::from_fn(context, width, |position, column| {
        let even = column - column % 2;
        let angle = position as f64 / 10_000f64.powf(even as f64 / width as f64);
        if column % 2 == 0 { angle.sin() } else { angle.cos() }
    })
}

fn read_norm(tensors: &mut Tensors, config: &Config, name: &str) -> Result<Norm, Error> {
    let weight = tensors.vector(&format!("{name}.weight"), config.width)?;
    let bias = match config.norm {
        NormKind::Layer => tensors.bias(name, config.width)?,
        NormKind::Rms => vec![0.0; config.width],
    };
    Ok(Norm { weight, bias })
}
