//! Safetensors: `features` or `x` (N, T, C), optional `lengths` (N) and `labels` (N) or (N, T); tokens as (N, T) integers.

use super::{Label, Raw, npz};
use anyhow::{Context, Result, bail};
use microformer_bake::{Config, signal::Settings};
use safetensors::tensor::{Dtype, SafeTensors};
use serde::Deserialize;
use std::path::Path;

/// What `microformer features` says in the metadata.
#[derive(Deserialize)]
struct Description {
    settings: Settings,
    labels: Vec<String>,
}

pub fn read(path: &Path, config: &Config) -> Result<Raw> {
    let file = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot open {file}"))?;
    let damaged = || format!("{file} is damaged or not a safetensors file; write it again");
    let tensors = SafeTensors::deserialize(&bytes).with_context(damaged)?;
    let (_, header) = SafeTensors::read_metadata(&bytes).with_context(damaged)?;
    let metadata = header.metadata().clone().unwrap_or_default();
    if metadata.contains_key(microformer_bake::config::METADATA_KEY) {
        bail!("{file} is a model, not data; the model comes first, the data second");
    }
    let description: Option<Description> = metadata
        .get("features")
        .map(|text| serde_json::from_str(text))
        .transpose()
        .with_context(|| format!("{file}: the metadata `features` is not what `microformer features` writes"))?;

    let inner = |error: anyhow::Error| error.context(format!("cannot use {file}"));
    let Some(x) = first(&tensors, &["features", "x", "tokens", "input"]).map_err(inner)? else {
        bail!("{file} has no tensor features (N, T, C); it has {}", tensors.names().join(", "));
    };
    let lengths = first(&tensors, &["lengths", "length"]).map_err(inner)?;
    let labels = first(&tensors, &["labels", "y"]).map_err(inner)?;
    let labels = labels.map(|labels| labels.values.iter().map(|&value| Label::Number(value as i64)).collect());
    let raw = npz::assemble(x, lengths, labels, config).map_err(inner)?;
    Ok(match description {
        Some(Description { settings, labels }) => Raw { settings: Some(settings), classes: labels, ..raw },
        None => raw,
    })
}

fn first(tensors: &SafeTensors, names: &[&str]) -> Result<Option<npz::Array>> {
    let Some((name, view)) = names.iter().find_map(|name| tensors.tensor(name).ok().map(|view| (name, view))) else {
        return Ok(None);
    };
    let bytes = view.data();
    let values = match view.dtype() {
        Dtype::F32 => elements(bytes, |bytes| f32::from_le_bytes(bytes).into()),
        Dtype::F64 => elements(bytes, f64::from_le_bytes),
        Dtype::U8 => elements(bytes, |bytes| u8::from_le_bytes(bytes).into()),
        Dtype::I8 => elements(bytes, |bytes| i8::from_le_bytes(bytes).into()),
        Dtype::I16 => elements(bytes, |bytes| i16::from_le_bytes(bytes).into()),
        Dtype::U16 => elements(bytes, |bytes| u16::from_le_bytes(bytes).into()),
        Dtype::I32 => elements(bytes, |bytes| i32::from_le_bytes(bytes).into()),
        Dtype::I64 => elements(bytes, |bytes| i64::from_le_bytes(bytes) as f64),
        other => bail!("tensor {name} is {other:?}; convert it to float32 or integers"),
    };
    Ok(Some(npz::Array { shape: view.shape().to_vec(), values }))
}

fn elements<const N: usize>(bytes: &[u8], read: fn([u8; N]) -> f64) -> Vec<f64> {
    bytes.as_chunks::<N>().0.iter().map(|&element| read(element)).collect()
}
