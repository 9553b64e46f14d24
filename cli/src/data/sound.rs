//! Sound for a model with a front end: its features, computed as on the chip.

use super::{DataArguments, Label, Raw, Truth};
use crate::clips::Collection;
use crate::features::{Length, Work};
use anyhow::{Context, Result, anyhow, bail, ensure};
use microformer_bake::{Config, Matrix, signal::Tables};
use std::path::Path;

/// Whether a path holds sound rather than features.
pub fn is_sound(path: &Path) -> Result<bool> {
    let has = |extension: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension));
    if has("csv") {
        return super::table::is_manifest(path);
    }
    Ok(path.is_dir() || has("tar") || crate::audio::EXTENSIONS.iter().any(|extension| has(extension)))
}

/// The samples of some clips as the chip hears them, and the names of their files.
pub fn samples(
    path: &Path,
    config: &Config,
    arguments: &DataArguments,
    indices: &[usize],
) -> Result<Vec<(Vec<i16>, String)>> {
    let (collection, tables, length) = open(path, config, arguments)?;
    let settings = config.signal.as_ref().context("the model has no front end")?;
    let work = Work { tables: &tables, settings, length };
    let count = collection.clips.len();
    indices
        .iter()
        .map(|&index| {
            let clip = collection
                .clips
                .get(index)
                .with_context(|| format!("{} holds {count} clips; choose 0 to {}", path.display(), count - 1))?;
            Ok((work.samples(&collection, index)?, clip.file.clone()))
        })
        .collect()
}

fn open(path: &Path, config: &Config, arguments: &DataArguments) -> Result<(Collection, Tables, Length)> {
    let Some(settings) = &config.signal else {
        bail!(
            "{} is sound, but model `{}` has no front end; give features as .npz, .csv or .safetensors",
            path.display(),
            config.name
        );
    };
    let tables = settings.tables().map_err(|message| anyhow!(message))?;
    let second = settings.sample_rate as usize;
    let length = match arguments.seconds {
        Some(seconds) => {
            ensure!(seconds > 0.0, "--seconds {seconds}: choose a length above 0");
            Length::Exactly((seconds * second as f64).round() as usize)
        }
        None => Length::AtLeast(second),
    };
    let collection = Collection::open(path, arguments.root.as_deref())?;
    Ok((collection, tables, length))
}

pub fn read(path: &Path, config: &Config, arguments: &DataArguments) -> Result<Raw> {
    let (collection, tables, length) = open(path, config, arguments)?;
    let settings = config.signal.as_ref().context("the model has no front end")?;
    let frames = Work { tables: &tables, settings, length }.collection(&collection)?;
    let channels = settings.channels;
    let inputs = frames
        .into_iter()
        .map(|values| Matrix {
            rows: values.len() / channels,
            columns: channels,
            values: values.into_iter().map(f64::from).collect(),
        })
        .collect();
    let truth =
        |label: &String| if label.is_empty() { Truth::Unknown } else { Truth::Whole(Label::Word(label.clone())) };
    Ok(Raw {
        inputs,
        names: collection.clips.iter().map(|clip| clip.file.clone()).collect(),
        truths: collection.clips.iter().map(|clip| truth(&clip.label)).collect(),
        classes: Vec::new(),
        settings: None,
    })
}
