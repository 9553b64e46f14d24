//! The example that a new firmware runs: a sequence of the user's data, or a made-up one.

use crate::data::{self, DataArguments, Input, sound, text};
use crate::model::Engine;
use anyhow::{Context, Result, ensure};
use microformer_bake::{Config, Matrix, Quantized, config};
use std::path::Path;

/// Most tokens that are baked in.
const TOKENS: usize = 64;

/// The bytes of the example, and what it is.
pub fn bake(model: &Quantized, path: &Path, data: Option<&Path>, index: usize) -> Result<(Vec<u8>, String)> {
    let config = &model.config;
    let Some(data) = data else { return Ok((made_up(model, path)?, " The example is made up.".to_owned())) };
    let note = |label: Option<usize>, name: &str| match label {
        Some(label) => format!(" The example is {name}, labelled {:?}.", config.labels[label]),
        None => format!(" The example is {name}."),
    };
    let arguments = DataArguments::default();
    if config.signal.is_some() && sound::is_sound(data)? {
        let (samples, name) = sound::samples(data, config, &arguments, &[index])?.remove(0);
        return Ok((samples.iter().flat_map(|sample| sample.to_le_bytes()).collect(), note(None, &name)));
    }
    let sequences = data::load(data, config, &arguments)?.sequences;
    let count = sequences.len();
    let sequence = sequences
        .into_iter()
        .nth(index)
        .with_context(|| format!("{} holds {count} sequences; choose --index 0 to {}", data.display(), count - 1))?;
    ensure!(config.signal.is_none(), "{} holds features, but the firmware listens: give sound", data.display());
    Ok((bytes(model, path, &sequence.input)?, note(sequence.label(), &sequence.name)))
}

/// A prompt to continue, and what it is.
pub fn prompt(model: &Quantized, prompt: &str) -> Result<(Vec<u8>, String)> {
    let config = &model.config;
    ensure!(
        matches!(config.input, config::Input::Tokens(_)),
        "model `{}` takes features, not tokens: --prompt is for models that continue a text",
        config.name
    );
    let tokens = text::tokenize_prompt(prompt, config)?;
    ensure!(!tokens.is_empty(), "--prompt is empty; a model that has seen nothing has no scores");
    Ok((token_bytes(&tokens), format!(" The prompt is {prompt:?}.")))
}

/// The main.rs that suits the model.
pub fn main(config: &Config, note: &str) -> String {
    let template = match (&config.signal, config.input) {
        (Some(_), _) => include_str!("../../templates/sound.rs.txt"),
        (None, config::Input::Tokens(_)) => include_str!("../../templates/tokens.rs.txt"),
        (None, config::Input::Features(_)) => include_str!("../../templates/features.rs.txt"),
    };
    let added = if config.context > 0 { config.context.saturating_sub(TOKENS).min(TOKENS) } else { TOKENS };
    template.replace("{{example_note}}", note).replace("{{added}}", &added.to_string())
}

fn made_up(model: &Quantized, path: &Path) -> Result<Vec<u8>> {
    let config = &model.config;
    if let Some(signal) = &config.signal {
        // Two tones that come and go, one second long.
        let rate = f64::from(signal.sample_rate);
        let sample = |index: u32| {
            let time = f64::from(index) / rate;
            let tone = |hertz: f64| (2.0 * std::f64::consts::PI * hertz * time).sin();
            (4000.0 * (tone(440.0) + tone(1250.0)) * (std::f64::consts::PI * time).sin()) as i16
        };
        return Ok((0..signal.sample_rate).flat_map(|index| sample(index).to_le_bytes()).collect());
    }
    let tokens = if config.context > 0 { config.context.min(TOKENS) } else { TOKENS };
    let input = match config.input {
        config::Input::Tokens(vocabulary) => Input::Tokens((0..tokens).map(|token| token % vocabulary).collect()),
        config::Input::Features(features) => {
            let wave = |row: usize, column: usize| ((row + 5 * column) as f64 / 7.0).sin();
            Input::Features { frames: Matrix::from_fn(tokens * config.stride(), features, wave), raw: None }
        }
    };
    bytes(model, path, &input)
}

/// A sequence as the firmware reads it: tokens of 16 bits, or features of 8.
pub fn bytes(model: &Quantized, path: &Path, input: &Input) -> Result<Vec<u8>> {
    Ok(match input {
        Input::Tokens(tokens) => token_bytes(tokens),
        Input::Features { .. } => Engine::new(model, path)?.codes(input).iter().map(|&code| code as u8).collect(),
    })
}

fn token_bytes(tokens: &[usize]) -> Vec<u8> {
    tokens.iter().flat_map(|&token| (token as u16).to_le_bytes()).collect()
}
