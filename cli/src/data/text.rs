//! Text for models of characters or bytes: one long text, cut into pieces that the model can bear. And the way back:
//! tokens to text.

use super::{Raw, Truth};
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
        truths: vec![Truth::Unknown; inputs.len()],
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

/// A prompt, also for models whose labels are words.
pub fn tokenize_prompt(prompt: &str, config: &Config) -> Result<Vec<usize>> {
    if kind(config) != Kind::Words {
        return tokenize(prompt.as_bytes(), config);
    }
    let token = |word: &str| {
        let token = config.labels.iter().position(|label| label == word);
        token.with_context(|| format!("{word:?} is not among the labels of model `{}`", config.name))
    };
    prompt.split_whitespace().map(token).collect()
}

/// What a token stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Bytes,
    Characters,
    Words,
}

fn kind(config: &Config) -> Kind {
    match config.input {
        Input::Tokens(vocabulary) if is_bytes(config, vocabulary) => Kind::Bytes,
        _ if config.labels.iter().all(|label| label.chars().count() == 1) => Kind::Characters,
        _ => Kind::Words,
    }
}

/// Tokens to text, one by one.
pub struct Writer<'c> {
    config: &'c Config,
    kind: Kind,
    /// Bytes of a character that is not complete yet.
    pending: Vec<u8>,
}

impl<'c> Writer<'c> {
    pub fn new(config: &'c Config) -> Self {
        Self { config, kind: kind(config), pending: Vec::new() }
    }

    /// What stands between a prompt and the first token.
    pub fn gap(&self) -> &'static str {
        if self.kind == Kind::Words { " " } else { "" }
    }

    /// What `token` adds to the text.
    pub fn write(&mut self, token: usize) -> String {
        match self.kind {
            Kind::Characters => self.config.labels[token].clone(),
            Kind::Words => format!("{} ", self.config.labels[token]),
            Kind::Bytes => {
                self.pending.push(token as u8);
                match std::str::from_utf8(&self.pending) {
                    // The rest of the character may still come.
                    Err(error) if error.error_len().is_none() => String::new(),
                    _ => self.rest(),
                }
            }
        }
    }

    /// What is left of an unfinished character.
    pub fn rest(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending.clear();
        text
    }

    pub fn write_all(mut self, tokens: &[usize]) -> String {
        let text: String = tokens.iter().map(|&token| self.write(token)).collect();
        text + &self.rest()
    }
}

/// Whether tokens are bytes: 256 of them, and the printable ones of ASCII, where the labels are characters, in their places.
fn is_bytes(config: &Config, vocabulary: usize) -> bool {
    let named =
        |byte: u8| config.labels.get(usize::from(byte)).is_some_and(|label| label.chars().eq([char::from(byte)]));
    vocabulary == 256 && (config.labels.iter().any(|label| label.chars().count() != 1) || (b' '..=b'~').all(named))
}
