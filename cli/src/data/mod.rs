//! Sequences for a model: a file of any supported kind in, inputs as the model was trained on and their labels out.
//!
//! Data are given as the sensor or the front end gives them; the model's own normalisation is applied here. What leaves
//! fits the model: the right number of features, finite, at least one token and no more than its positions allow.

mod labels;
mod npz;
pub mod sound;
mod table;
mod tensors;
pub mod text;

use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use microformer_bake::{Config, Matrix, config, signal::Settings};
use std::path::{Path, PathBuf};

pub use labels::{Label, Truth};

/// Sequences and what they are called.
#[derive(Debug)]
pub struct Data {
    pub sequences: Vec<Sequence>,
}

/// One sequence, ready for the model.
#[derive(Debug)]
pub struct Sequence {
    /// Where it came from, for messages.
    pub name: String,
    pub input: Input,
    /// By the model's numbers of labels.
    pub truth: Truth<usize>,
}

impl Sequence {
    /// The label of the whole sequence, where it has one.
    pub fn label(&self) -> Option<usize> {
        if let Truth::Whole(label) = self.truth { Some(label) } else { None }
    }

    /// The label at its last frame.
    pub fn last_label(&self) -> Option<usize> {
        match &self.truth {
            Truth::Changing(stretches) => stretches.last().and_then(|stretch| stretch.label),
            _ => self.label(),
        }
    }
}

/// What enters a model.
#[derive(Debug)]
pub enum Input {
    Features {
        /// One frame in each row, normalised as the model was trained.
        frames: Matrix,
        /// The same frames as the front end gave them, where the model has one: the chip normalises from these.
        raw: Option<Vec<u16>>,
    },
    Tokens(Vec<usize>),
}

impl Input {
    /// For the float model.
    pub fn reference(&self) -> reference::Input<'_> {
        match self {
            Self::Features { frames, .. } => reference::Input::Features(frames),
            Self::Tokens(tokens) => reference::Input::Tokens(tokens),
        }
    }
}

/// How data are read.
#[derive(Args, Clone, Debug, Default)]
pub struct DataArguments {
    /// Folder or .tar that the files of a CSV manifest lie in [default: a .tar of the manifest's name, else beside it]
    #[arg(long)]
    pub root: Option<PathBuf>,
    /// Pad with silence or cut every audio clip to this length [default: clips below one second are padded to it]
    #[arg(long)]
    pub seconds: Option<f64>,
}

/// Kinds of data, for help texts.
pub const KINDS: &str = "\
Data: .npz (x (N, T, C), optional y (N) or, where labels change on the way, (N, T), length, classes), .csv (a row per frame, optional columns label and sequence), a \
folder of .csv (one sequence each), .safetensors (features (N, T, C), lengths, labels, as `microformer features` writes), \
.txt for models of characters or bytes; for models with a front end also a WAV, FLAC or Ogg file, a folder or .tar of \
them, or a CSV manifest (file or path, label).";

/// What a file holds before it is matched to a model. A token is a frame of one value.
pub struct Raw {
    inputs: Vec<Matrix>,
    names: Vec<String>,
    truths: Vec<Truth<Label>>,
    /// Names of numbered labels; empty where numbers are the model's own.
    classes: Vec<String>,
    /// The front end that made the features, where the file says.
    settings: Option<Settings>,
}

/// Reads the sequences of `path` for the model that `config` describes.
pub fn load(path: &Path, config: &Config, arguments: &DataArguments) -> Result<Data> {
    let name = path.display();
    ensure!(path.exists(), "{name} does not exist");
    if path.is_file() {
        ensure!(std::fs::metadata(path)?.len() > 0, "{name} is empty (0 bytes); give a file with data");
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let raw = match extension.as_str() {
        "npz" => npz::read(path, config)?,
        "safetensors" => tensors::read(path, config)?,
        "txt" => text::read(path, config)?,
        "csv" if table::is_manifest(path)? => sound::read(path, config, arguments)?,
        "csv" => table::read(path)?,
        _ if config.signal.is_some() => sound::read(path, config, arguments)?,
        _ if path.is_dir() => table::read_folder(path)?,
        "wav" | "flac" | "ogg" | "oga" | "tar" => sound::read(path, config, arguments)?,
        _ => bail!("{name} is of no kind that is known: give .npz, .csv, .safetensors, .txt, audio, or a folder"),
    };
    finish(raw, config, &name.to_string())
}

/// Matches what a file holds to the model.
fn finish(raw: Raw, config: &Config, file: &str) -> Result<Data> {
    ensure!(!raw.inputs.is_empty(), "{file} holds no sequences");
    if let (Some(found), Some(expected)) = (&raw.settings, &config.signal) {
        ensure!(
            found == expected,
            "{file} was computed with other front-end settings than model `{}` has: compute it again with `microformer \
             features --settings` and {}",
            config.name,
            serde_json::to_string(expected)?
        );
    }
    let truths = labels::number(&raw.truths, &raw.classes, config, file)?;
    let mut sequences = Vec::with_capacity(raw.inputs.len());
    for ((frames, name), truth) in raw.inputs.into_iter().zip(raw.names).zip(truths) {
        // A table that holds one sequence gives it the file's name.
        let place = if name == file { name.clone() } else { format!("{file}, {name}") };
        let input = fit(frames, config).map_err(|error| anyhow!("{place}: {error}"))?;
        sequences.push(Sequence { name, input, truth });
    }
    Ok(Data { sequences })
}

/// One sequence as the model takes it.
fn fit(mut frames: Matrix, config: &Config) -> Result<Input> {
    ensure!(frames.rows > 0, "it is empty; leave it out");
    let expected = config.features();
    ensure!(
        frames.columns == expected,
        "a frame has {} values, but model `{}` takes {expected}; the axes are (sequence, time, feature)",
        frames.columns,
        config.name
    );
    if let Some(index) = frames.values.iter().position(|value| !value.is_finite()) {
        let (frame, feature) = (index / frames.columns, index % frames.columns);
        bail!(
            "{} in frame {frame}, feature {feature}; replace it, or give lengths that end before",
            frames.values[index]
        );
    }
    let tokens = frames.rows / config.stride();
    ensure!(tokens > 0, "{} frames are fewer than one token, which takes {}", frames.rows, config.stride());
    ensure!(
        config.context == 0 || tokens <= config.context,
        "{tokens} tokens are more than the {} that the model's table of positions has; cut it, or train with a larger \
         context",
        config.context
    );
    if let config::Input::Tokens(vocabulary) = config.input {
        let token = |&value: &f64| {
            ensure!(
                value >= 0.0 && value.fract() == 0.0 && value < vocabulary as f64,
                "{value} is not a token; the model's vocabulary is 0 to {}",
                vocabulary - 1
            );
            Ok(value as usize)
        };
        return Ok(Input::Tokens(frames.values.iter().map(token).collect::<Result<_>>()?));
    }
    let raw = config.signal.is_some().then(|| raw_features(&frames)).transpose()?;
    if let Some(normalize) = &config.normalize {
        for row in 0..frames.rows {
            normalize.apply(frames.row_mut(row));
        }
    }
    Ok(Input::Features { frames, raw })
}

/// Frames of a front end are 16-bit integers.
fn raw_features(frames: &Matrix) -> Result<Vec<u16>> {
    let raw = |&value: &f64| {
        ensure!(
            (0.0..=65535.0).contains(&value) && value.fract() == 0.0,
            "{value} is not what a front end gives (integers from 0 to 65535); the model normalises them itself"
        );
        Ok(value as u16)
    };
    frames.values.iter().map(raw).collect()
}
