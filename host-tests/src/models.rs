//! Random float models of any shape, as PyTorch would initialise them, and inputs for them.

use microformer_bake::{
    Assembled, Config, FloatModel, Matrix, Quantized,
    config::{Embed as EmbedConfig, Input as InputConfig, NormKind, Positions},
    float::{Block, Embed, Linear, Norm, Stem, sinusoids},
};
use microformer_packed::Layout;
use quantizer::{Precision, Ranges, quantize_mixed};
use reference::Input;

use crate::random::Random;

/// A float model, its calibration data, and its quantised form ready to run here.
pub struct Pair {
    pub float: FloatModel,
    pub quantized: Quantized,
    pub integer: Assembled,
}

/// One input sequence.
#[derive(Clone, Debug)]
pub enum Sequence {
    Features(Matrix),
    Tokens(Vec<usize>),
}

impl Sequence {
    #[must_use]
    pub fn input(&self) -> Input<'_> {
        match self {
            Self::Features(frames) => Input::Features(frames),
            Self::Tokens(tokens) => Input::Tokens(tokens),
        }
    }
}

/// A random model of the shape that `json` describes, quantised on random data.
///
/// # Panics
/// When the configuration is not one that the engine can run.
#[must_use]
pub fn pair(json: &str, seed: u64) -> Pair {
    mixed_pair(json, seed, &[])
}

/// [`pair`], with the bits of weights that these choices of `--bits` give.
///
/// # Panics
/// As [`pair`].
#[must_use]
pub fn mixed_pair(json: &str, seed: u64, bits: &[&str]) -> Pair {
    let mut random = Random::new(seed);
    let float = float_model(&Config::from_json(json).expect("a valid configuration"), &mut random);
    let calibration: Vec<_> = (0..24).map(|_| sequence(&float.config, 40, &mut random)).collect();
    let inputs: Vec<_> = calibration.iter().map(Sequence::input).collect();
    let ranges = Ranges::observe(&float, &inputs, || ()).expect("calibration data that fits");
    let mut precision = Precision::default();
    bits.iter().for_each(|choice| precision.choose(&float.config, choice).expect("a choice of bits"));
    let quantized = quantize_mixed(&float, &ranges, &precision).expect("a model that can be quantised");
    let integer = quantized.assemble(Layout::Plain).expect("a model that can be packed");
    Pair { float, quantized, integer }
}

/// `tokens` tokens of random input, the features with some memory from frame to frame.
#[must_use]
pub fn sequence(config: &Config, tokens: usize, random: &mut Random) -> Sequence {
    match config.input {
        InputConfig::Tokens(vocabulary) => Sequence::Tokens((0..tokens).map(|_| random.below(vocabulary)).collect()),
        InputConfig::Features(features) => {
            let mut frames = Matrix::zeros(tokens * config.stride(), features);
            let mut last = vec![0.0; features];
            for row in 0..frames.rows {
                for (value, last) in frames.row_mut(row).iter_mut().zip(&mut last) {
                    *last = 0.7 * *last + 0.7 * random.normal();
                    *value = *last;
                }
            }
            Sequence::Features(frames)
        }
    }
}

/// Random weights for a configuration.
#[must_use]
pub fn float_model(config: &Config, random: &mut Random) -> FloatModel {
    let width = config.width;
    let embed = match (&config.embed, config.input) {
        (EmbedConfig::Linear { frames, .. }, _) => Embed::Linear(linear(width, frames * config.features(), random)),
        (_, InputConfig::Tokens(tokens)) => Embed::Table(Matrix::from_fn(tokens, width, |_, _| random.normal())),
        _ => Embed::Convolution(stem(config, random)),
    };
    let positions = match config.positions {
        Positions::None | Positions::Alibi => None,
        Positions::Learned => Some(Matrix::from_fn(config.context, width, |_, _| random.normal() / 2.0)),
        Positions::Sinusoidal => Some(sinusoids(config.context, width)),
    };
    FloatModel {
        config: config.clone(),
        embed,
        positions,
        blocks: (0..config.blocks).map(|_| block(config, random)).collect(),
        norm: config.final_norm.then(|| norm(config, random)),
        head: linear(config.labels.len(), width, random),
    }
}

fn stem(config: &Config, random: &mut Random) -> Stem {
    let shape = config.stem().expect("a configuration with a stem");
    Stem {
        convolution: linear(shape.channels, shape.frames * shape.wide.kernel, random),
        depthwise: linear(shape.channels, shape.depth_tokens * shape.depth.kernel, random),
        projection: linear(config.width, shape.depth.places * shape.channels, random),
    }
}

fn block(config: &Config, random: &mut Random) -> Block {
    let (width, hidden) = (config.width, config.hidden);
    Block {
        attention_norm: norm(config, random),
        query: linear(width, width, random),
        key: linear(width, width, random),
        value: linear(width, width, random),
        output: linear(width, width, random),
        mlp_norm: norm(config, random),
        up: linear(hidden, width, random),
        convolution: (config.convolution > 0).then(|| linear(hidden, config.convolution, random)),
        down: linear(width, hidden, random),
    }
}

/// As `nn.Linear` starts: uniform in ±1/√columns.
fn linear(rows: usize, columns: usize, random: &mut Random) -> Linear {
    let reach = 1.0 / (columns as f64).sqrt();
    Linear {
        weight: Matrix::from_fn(rows, columns, |_, _| reach * random.unit()),
        bias: (0..rows).map(|_| reach * random.unit()).collect(),
    }
}

fn norm(config: &Config, random: &mut Random) -> Norm {
    let bias = |random: &mut Random| if config.norm == NormKind::Layer { 0.1 * random.unit() } else { 0.0 };
    Norm {
        weight: (0..config.width).map(|_| 1.0 + 0.2 * random.unit()).collect(),
        bias: (0..config.width).map(|_| bias(random)).collect(),
    }
}
