//! What a baked model costs on a chip, measured: memory by the image and its log, instructions by counter/.

use crate::cargo::{self, Chip, root};
use crate::counter::{self, Cost};
use crate::image::Image;
use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use std::fs;

/// What one model costs on one chip.
#[derive(Serialize)]
pub struct Measurement {
    /// Bytes that the running model remembers, all of them static.
    pub state: u64,
    /// Bytes of flash of an image that holds this model alone, with everything it needs to run and report.
    pub flash: u64,
    /// Most bytes of stack in use.
    pub stack: u64,
    /// One token.
    pub step: Cost,
    /// One token with kernels in plain Rust, where that was asked for.
    pub plain_step: Option<Cost>,
    /// Several tokens at once: how many, and the cost of all.
    pub pass_tokens: u64,
    pub pass: Cost,
    /// One token, layer by layer.
    pub layers: Vec<Layer>,
}

#[derive(Serialize)]
pub struct Layer {
    pub name: String,
    /// Products with weights, keys and values.
    pub macs: u64,
    pub cost: Cost,
}

impl Measurement {
    pub fn macs(&self) -> u64 {
        self.layers.iter().map(|layer| layer.macs).sum()
    }
}

/// The names of the models in models/, which are baked from their quantised files.
pub fn names() -> Result<Vec<String>> {
    let folder = root().join("models");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))? {
        let path = entry?.path();
        if path.join("quantized.safetensors").is_file() {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

pub fn measure(chip: Chip, name: &str) -> Result<Measurement> {
    let image = Image::read(&cargo::chip_image_of(chip, "step", Some(name), &[])?)?;
    let measured = counter::measure(&image, &[name]).with_context(|| format!("{name} on {}", chip.name))?;
    let names: Vec<(String, u64)> = measured.lines.iter().filter_map(|line| layer(line)).collect();
    // A step; its layers, and the way back after the last one; a pass.
    let [step, layers @ .., _, pass] = measured.regions.as_slice() else { bail!("the image marked too few regions") };
    ensure!(layers.len() == names.len(), "{} regions, but {} layers", layers.len(), names.len());
    let layers = names.into_iter().zip(layers).map(|((name, macs), &cost)| Layer { name, macs, cost }).collect();
    Ok(Measurement {
        state: figure(&measured.lines, "state ")?,
        flash: image.flash_bytes()?,
        stack: figure(&measured.lines, "stack ")?,
        step: *step,
        plain_step: None,
        pass_tokens: figure(&measured.lines, "chunk ")?,
        pass: *pass,
        layers,
    })
}

/// One token of the same model where no kernel knows the chip.
pub fn measure_plain(chip: Chip, name: &str) -> Result<Cost> {
    let image = Image::read(&cargo::chip_image_of(chip, "step", Some(name), &["plain-kernels"])?)?;
    let measured = counter::measure(&image, &[name]).with_context(|| format!("{name} on {}", chip.name))?;
    measured.regions.first().copied().context("the image marked no region")
}

/// `layer blocks.0.mlp.up 16384`
fn layer(line: &str) -> Option<(String, u64)> {
    let (name, macs) = line.strip_prefix("layer ")?.split_once(' ')?;
    Some((name.to_owned(), macs.parse().ok()?))
}

/// `state 4896 bytes`
fn figure(lines: &[String], name: &str) -> Result<u64> {
    let words = lines.iter().find_map(|line| line.strip_prefix(name));
    let number = words.and_then(|words| words.split(' ').next()).and_then(|number| number.parse().ok());
    number.with_context(|| format!("the image did not tell its {name}"))
}
