//! Text for models of characters or bytes: one long text, cut into pieces that the model can bear.

use super::Raw;
use anyhow::{Context, Result, bail, ensure};
use microformer_bake::{Config, Matrix, config::Input};
use std::path::Path;

/// Tokens in a piece where the model itself sets no limit.
const PIECE: usize = 256;

pub fn read(path: &Path, config: &Config) -> Result<Raw> {
    let file = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot open {file}"))?;
    let tokens = tokenize(&bytes, config).with_context(|| format!("cannot use {file}"))?;
    let piece = if config.context > 0 { config.context } else { PIECE };
    let inputs: Vec<Matrix> = tokens
        .chunks(piece)
        // A single token has no successor to be judged by.
        .filter(|tokens| tokens.len() > 1 || tokens.len() == bytes.len())
        .map(|tokens| Matrix::from_fn(tokens.len(), 1, |row, _| tokens[row] as f64))
        .collect();
    Ok(Raw {
        names: (0..inputs.len()).map(|index| format!("piece {index}")).collect(),
        labels: vec![None; inputs.len()],
        inputs,
        classes: Vec::new(),
        settings: None,
    })
}

/// Bytes, or characters by the model's labels.
pub fn tokenize(text: &[u8], config: &Config) -> Result<Vec<usize>> {
    let Input::Tokens(vocabulary) = config.input else {
        bail!("model `{}` takes features, not text; give .npz, .csv or .safetensors", config.name);
    };
    if is_bytes(config, vocabulary) {
        return Ok(text.iter().map(|&byte| usize::from(byte)).collect());
    }
    ensure!(
        config.labels.iter().all(|label| label.chars().count() == 1),
        "the labels of model `{}` are neither characters nor 256 bytes; give tokens as .npz",
        config.name
    );
    let text = std::str::from_utf8(text).context("it is not UTF-8 text")?;
    text.chars()
        .map(|letter| {
            let token = config.labels.iter().position(|label| label.chars().eq([letter]));
            token
                .with_context(|| format!("the character {letter:?} is not among the labels of model `{}`", config.name))
        })
        .collect()
}

/// Whether tokens are bytes: 256 of them, and the printable ones of ASCII, where the labels are characters, in their places.
fn is_bytes(config: &Config, vocabulary: usize) -> bool {
    let named =
        |byte: u8| config.labels.get(usize::from(byte)).is_some_and(|label| label.chars().eq([char::from(byte)]));
    vocabulary == 256 && (config.labels.iter().any(|label| label.chars().count() != 1) || (b' '..=b'~').all(named))
}
