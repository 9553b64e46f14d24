//! What a baked model costs on a chip, measured: memory by the image and its log, instructions by counter/.

use crate::cargo::{self, Chip, root};
use crate::counter::{self, Cost};
use crate::image::Image;
use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

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
    /// One token, layer by layer.
    pub layers: Vec<Layer>,
    /// A whole sequence from an empty state, several tokens through each layer at once.
    pub pass: Pass,
}

#[derive(Serialize)]
pub struct Pass {
    pub tokens: u64,
    /// Tokens that go through a layer together, and the bytes that the running model then remembers.
    pub chunk: u64,
    pub state: u64,
    pub cost: Cost,
    pub layers: Vec<Layer>,
}

#[derive(Serialize)]
pub struct Layer {
    pub name: String,
    /// Products with weights, keys and values.
    pub macs: u64,
    pub cost: Cost,
}

/// Parts of a block that multiply with weights, keys and values, and add to the residual stream: what a library of kernels
/// offers, without norms and activations.
const PRODUCTS: [&str; 5] = ["attention.query_key_value", "attention.mix", "attention.output", "mlp.up", "mlp.down"];

/// All layers as one.
pub fn total(layers: &[Layer]) -> Layer {
    sum(layers, "everything", |_| true)
}

/// Linear layers, attention and residual sums of the blocks as one.
pub fn products(layers: &[Layer]) -> Layer {
    let is_product = |name: &str| name.starts_with("blocks.") && PRODUCTS.iter().any(|part| name.ends_with(part));
    sum(layers, "linear layers, attention and adds of the blocks", is_product)
}

fn sum(layers: &[Layer], name: &str, is_counted: impl Fn(&str) -> bool) -> Layer {
    let mut total = Layer { name: name.to_owned(), macs: 0, cost: Cost::default() };
    for layer in layers.iter().filter(|layer| is_counted(&layer.name)) {
        total.add(layer.macs, layer.cost);
    }
    total
}

impl Layer {
    fn add(&mut self, macs: u64, cost: Cost) {
        self.macs += macs;
        self.cost.instructions += cost.instructions;
        self.cost.cycles += cost.cycles;
    }
}

/// The model of host-tests/shapes/ whose shape the peer was measured on.
pub const COMPARED: &str = "two-blocks-of-64";

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

/// `model`: a name of models/ or host-tests/shapes/, or the path of a quantised model.
pub fn measure(chip: Chip, model: &str) -> Result<Measurement> {
    let name = name_of(model);
    let image = Image::read(&cargo::chip_image_of(chip, "step", Some(model), &[])?)?;
    let measured = counter::measure(&image, &[name]).with_context(|| format!("{name} on {}", chip.name))?;
    let names = |way| measured.lines.iter().filter_map(move |line| layer(line, way)).collect::<Vec<_>>();
    let (of_step, of_pass) = (names("layer "), names("pass-layer "));
    // A step; its layers, and the way back after the last one; a pass; its layers, and the way back.
    let expected = of_step.len() + of_pass.len() + 4;
    ensure!(measured.regions.len() == expected, "{} regions, but {expected} expected", measured.regions.len());
    let (step, rest) = measured.regions.split_at(of_step.len() + 2);
    let (Some((&step, layers)), Some((&pass, pass_layers))) = (step.split_first(), rest.split_first()) else {
        bail!("the image marked too few regions");
    };
    let figure = |name| figure(&measured.lines, name);
    Ok(Measurement {
        state: figure("state ")?,
        flash: image.flash_bytes()?,
        stack: figure("stack ")?,
        step,
        plain_step: None,
        layers: by_name(of_step, layers),
        pass: Pass {
            tokens: figure("pass of ")?,
            chunk: figure("chunk ")?,
            state: figure("state of a chunk ")?,
            cost: pass,
            layers: by_name(of_pass, pass_layers),
        },
    })
}

/// One token of the same model where no kernel knows the chip.
pub fn measure_plain(chip: Chip, model: &str) -> Result<Cost> {
    let name = name_of(model);
    let image = Image::read(&cargo::chip_image_of(chip, "step", Some(model), &["plain-kernels"])?)?;
    let measured = counter::measure(&image, &[name]).with_context(|| format!("{name} on {}", chip.name))?;
    measured.regions.first().copied().context("the image marked no region")
}

/// What a model is baked under: its name, or that of its file.
pub fn name_of(model: &str) -> &str {
    Path::new(model).file_stem().and_then(OsStr::to_str).unwrap_or(model)
}

/// Layers in the order in which they first ran, each with all its runs.
fn by_name(names: Vec<(String, u64)>, costs: &[Cost]) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    for ((name, macs), &cost) in names.into_iter().zip(costs) {
        match layers.iter_mut().find(|layer| layer.name == name) {
            Some(layer) => layer.add(macs, cost),
            None => layers.push(Layer { name, macs, cost }),
        }
    }
    layers
}

/// `layer blocks.0.mlp.up 16384 macs: 15000 instructions`
fn layer(line: &str, way: &str) -> Option<(String, u64)> {
    let (name, macs) = line.strip_prefix(way)?.split_once(' ')?;
    Some((name.to_owned(), macs.split(' ').next()?.parse().ok()?))
}

/// `state 4896 bytes`
fn figure(lines: &[String], name: &str) -> Result<u64> {
    let mut numbers = lines.iter().filter_map(|line| line.strip_prefix(name)?.split(' ').next()?.parse().ok());
    numbers.next().with_context(|| format!("the image did not tell its {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<(String, u64)> {
        names.iter().map(|&name| (name.to_owned(), 10)).collect()
    }

    #[test]
    fn runs_of_a_layer_are_added() {
        let cost = Cost { instructions: 3, cycles: 4 };
        let layers = by_name(names(&["embed", "blocks.0.mlp.up", "embed"]), &[cost; 4]);
        assert_eq!(layers.len(), 2);
        assert_eq!((layers[0].macs, layers[0].cost), (20, Cost { instructions: 6, cycles: 8 }));
        assert_eq!(products(&layers).macs, 10);
        assert_eq!(total(&layers).cost.instructions, 9);
    }

    #[test]
    fn lines_are_read() {
        let line = "layer blocks.0.mlp.up 16384 macs: 15000 instructions";
        assert_eq!(layer(line, "layer "), Some(("blocks.0.mlp.up".to_owned(), 16384)));
        assert_eq!(layer(line, "pass-layer "), None);
        let lines = ["state 4896 bytes".to_owned(), "state of a chunk 9000 bytes".to_owned()];
        assert_eq!(figure(&lines, "state ").expect("a number"), 4896);
        assert_eq!(figure(&lines, "state of a chunk ").expect("a number"), 9000);
    }
}
