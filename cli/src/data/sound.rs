//! Sound for a model with a front end: its features, computed as on the chip.

use super::{DataArguments, Label, Raw};
use crate::clips::Collection;
use crate::features::{Length, Work};
use anyhow::{Result, anyhow, bail, ensure};
use microformer_bake::{Config, Matrix};
use std::path::Path;

pub fn read(path: &Path, config: &Config, arguments: &DataArguments) -> Result<Raw> {
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
    let label = |label: &String| (!label.is_empty()).then(|| Label::Word(label.clone()));
    Ok(Raw {
        inputs,
        names: collection.clips.iter().map(|clip| clip.file.clone()).collect(),
        labels: collection.clips.iter().map(|clip| label(&clip.label)).collect(),
        classes: Vec::new(),
        settings: None,
    })
}
