//! A model file of either kind, told apart by its metadata, and the answers it gives on this machine.
//!
//! Both kinds answer alike: the scores after every token, pooled as the configuration says, in natural-logarithm units.

use crate::data::Input;
use anyhow::{Context, Result, anyhow};
use microformer::{
    model::{Probe, State},
    signal::normalize,
};
use microformer_bake::{Assembled, Config, FloatModel, Matrix, Quantized};
use microformer_packed::{Layout, Memory};
use safetensors::SafeTensors;
use std::path::Path;

/// What a model file holds.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a command holds one of them, and never copies it")]
pub enum Model {
    Float(Box<FloatModel>),
    Quantized(Quantized),
}

impl Model {
    /// Reads a float or a quantised model.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display();
        let bytes = std::fs::read(path).with_context(|| format!("cannot open {file}"))?;
        let kind = SafeTensors::read_metadata(&bytes)
            .ok()
            .and_then(|(_, header)| header.metadata().as_ref().and_then(|metadata| metadata.get("kind").cloned()));
        let in_file = |error: microformer_bake::Error| error.in_file(&file.to_string());
        Ok(if kind.as_deref() == Some("quantized") {
            Self::Quantized(Quantized::from_bytes(&bytes).map_err(in_file)?)
        } else {
            Self::Float(Box::new(FloatModel::from_bytes(&bytes).map_err(in_file)?))
        })
    }

    pub fn config(&self) -> &Config {
        match self {
            Self::Float(model) => &model.config,
            Self::Quantized(model) => &model.config,
        }
    }

    /// Makes it ready to answer.
    pub fn ready(self, path: &Path) -> Result<Ready> {
        Ok(match self {
            Self::Float(model) => Ready::Float(model),
            Self::Quantized(model) => Ready::Integer(Engine::new(&model, path)?),
        })
    }
}

/// A model that answers.
#[expect(clippy::large_enum_variant, reason = "a command holds one of them, and never copies it")]
pub enum Ready {
    Float(Box<FloatModel>),
    Integer(Engine),
}

impl Ready {
    /// The answer after each token: `(tokens, labels)`.
    pub fn scores(&self, input: &Input) -> Result<Matrix> {
        match self {
            Self::Float(model) => float_scores(model, input),
            Self::Integer(engine) => Ok(engine.scores(input, &mut ())),
        }
    }
}

/// The float model's answer after each token.
pub fn float_scores(model: &FloatModel, input: &Input) -> Result<Matrix> {
    let scores = reference::forward(model, input.reference(), &mut |_, _| ()).map_err(|error| anyhow!(error))?;
    Ok(reference::pool(model.config.pool, &scores))
}

/// The integer engine of the chip, on this machine: the same bits.
pub struct Engine {
    pub assembled: Assembled,
}

impl Engine {
    pub fn new(model: &Quantized, path: &Path) -> Result<Self> {
        let in_file = |error: microformer_bake::Error| error.in_file(&path.display().to_string());
        Ok(Self { assembled: model.assemble(Layout::Plain).map_err(in_file)? })
    }

    /// The scores after every token, one step at a time, with a look at every layer.
    pub fn scores<P: Probe>(&self, input: &Input, probe: &mut P) -> Matrix {
        let model = self.assembled.model;
        let mut state = State::with_words(model, 1, vec![0; Memory::of(model, 1).words()]);
        let unit = f64::from(model.score_fraction_bits).exp2();
        let columns = model.labels.len();
        let mut values = Vec::new();
        let mut take = |scores: &[i16]| values.extend(scores.iter().map(|&score| f64::from(score) / unit));
        match input {
            Input::Tokens(tokens) => {
                tokens.iter().for_each(|&token| take(state.step_token_probed(model, token, probe)));
            }
            Input::Features { .. } => {
                for frame in self.codes(input).chunks_exact(model.features()) {
                    if let Some(scores) = state.step_probed(model, frame, probe) {
                        take(scores);
                    }
                }
            }
        }
        Matrix { rows: values.len() / columns.max(1), columns, values }
    }

    /// Frames as the chip gets them, 8 bits a feature: by its own integer normalisation where it hears them itself.
    pub fn codes(&self, input: &Input) -> Vec<i8> {
        let Input::Features { frames, raw } = input else { return Vec::new() };
        if let (Some(listening), Some(raw)) = (&self.assembled.listening, raw) {
            let mut codes = vec![0; raw.len()];
            for (raw, codes) in raw.chunks_exact(frames.columns).zip(codes.chunks_exact_mut(frames.columns)) {
                normalize::apply(&listening.normalize, raw, codes);
            }
            return codes;
        }
        let scales = &self.assembled.input_scales;
        let code = |(index, value): (usize, &f64)| {
            let scale = f64::from(scales[index % frames.columns]);
            (value / scale).round().clamp(-127.0, 127.0) as i8
        };
        frames.values.iter().enumerate().map(code).collect()
    }
}

/// Scores as probabilities.
pub fn softmax(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// The index of the largest score; the first where several are.
pub fn best(scores: &[f64]) -> usize {
    let mut best = 0;
    for (index, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = index;
        }
    }
    best
}
