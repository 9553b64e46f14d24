//! `cargo cost`: what every kernel and every layer of every model costs on an emulated chip, in one table.
//!
//! Instructions are counted, not timed, so every run gives the same figures. Cycles are modelled (counter/), with the
//! memory of a chip that never waits. The peer's figures were measured elsewhere and stand beside ours with their origin.

mod peer;
mod picture;
mod table;

use crate::cargo::{self, CHIPS, Chip, root};
use crate::counter::{self, Cost};
use crate::image::Image;
use crate::model::{self, Measurement};
use crate::setup;
use crate::verify::Tally;
use anyhow::{Context, Result, ensure};
use peer::Peer;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;

pub struct Options {
    pub chip: Chip,
    /// Only this one: a name, or a quantised model's file.
    pub model: Option<String>,
    /// Hold every model against kernels in plain Rust.
    pub plain: bool,
    /// For machines instead of people.
    pub json: bool,
}

#[derive(Serialize)]
pub struct Report {
    pub chip: &'static str,
    pub kernels: Vec<Kernel>,
    pub models: BTreeMap<String, Measurement>,
}

/// One kernel on one shape, in one of the ways to compute it.
#[derive(Serialize)]
pub struct Kernel {
    pub job: String,
    /// As anybody would write it, portable, or fast.
    pub way: String,
    pub macs: u64,
    /// Of the output: all ways of a job must leave the same.
    pub digest: String,
    pub cost: Cost,
    /// What the chip's own clock counted: instructions in QEMU.
    #[serde(skip)]
    told: u64,
    pub peer: Option<Peer>,
}

/// `m4` for Cortex-M4.
pub fn chip(name: &str) -> Result<Chip> {
    let chip = CHIPS.into_iter().find(|chip| chip.name.to_lowercase().strip_prefix("cortex-") == Some(name));
    chip.with_context(|| format!("there is no chip `{name}`: say m0, m3, m4 or m33"))
}

pub fn run(options: &Options) -> Result<u8> {
    setup::everything()?;
    let report = measure(options)?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
        return Ok(0);
    }
    print!("{}", table::text(&report));
    for (name, measurement) in &report.models {
        let path = root().join("target").join(format!("cost-{name}.svg"));
        fs::write(&path, picture::bars(name, measurement))
            .with_context(|| format!("{} cannot be written", path.display()))?;
        println!("target/cost-{name}.svg shows the layers of {name}");
    }
    Ok(0)
}

fn measure(options: &Options) -> Result<Report> {
    let chip = options.chip;
    let kernels = kernels(&Image::read(&cargo::chip_image(chip, "bench", &[])?)?)?;
    let mut models = BTreeMap::new();
    for model in wanted(options.model.as_deref())? {
        let mut measurement = model::measure(chip, &model)?;
        if options.plain {
            measurement.plain_step = Some(model::measure_plain(chip, &model)?);
        }
        models.insert(model::name_of(&model).to_owned(), measurement);
    }
    Ok(Report { chip: chip.name, kernels, models })
}

/// All models, the one of that name, or the file of that path.
fn wanted(model: Option<&str>) -> Result<Vec<String>> {
    let mut names = model::names()?;
    names.push(model::COMPARED.to_owned());
    let Some(model) = model else { return Ok(names) };
    if names.iter().any(|name| name == model) {
        return Ok(vec![model.to_owned()]);
    }
    // The build runs in another folder.
    let file = fs::canonicalize(model)
        .with_context(|| format!("{model} is neither a file nor one of {}", names.join(", ")))?;
    ensure!(file.extension().is_some_and(|ending| ending == "safetensors"), "{model} is no .safetensors file");
    Ok(vec![file.to_str().with_context(|| format!("{model}: a path that is not Unicode"))?.to_owned()])
}

/// A step of `cargo verify`: the bench runs to its end, and every way to compute a job leaves the same bits, at a price that
/// the chip's own clock confirms.
pub fn check(chip: Chip) -> Result<Tally> {
    let mut tally = Tally::default();
    let kernels = kernels(&Image::read(&cargo::chip_image(chip, "bench", &[])?)?)?;
    for kernel in &kernels {
        tally.check(kernel.check(&kernels));
    }
    Ok(tally)
}

/// The chip reads its clock outside the marks, and in whole ticks.
const TOLERANCE: u64 = 100;

impl Kernel {
    fn check(&self, all: &[Kernel]) -> Result<()> {
        let Self { job, way, told, .. } = self;
        let seen = self.cost.instructions;
        let differs = all.iter().any(|other| other.job == *job && other.digest != self.digest);
        ensure!(!differs, "{job}, {way}: other bits than another way to compute it");
        ensure!(seen > 0, "{job}, {way}: nothing was counted");
        ensure!(told.abs_diff(seen) < TOLERANCE + seen / 100, "{job}, {way}: the chip told {told}, the counter {seen}");
        Ok(())
    }
}

fn kernels(bench: &Image) -> Result<Vec<Kernel>> {
    let measured = counter::measure(bench, &[])?;
    let jobs: Vec<&str> = measured.lines.iter().filter_map(|line| line.strip_prefix("job ")).collect();
    ensure!(jobs.len() == measured.regions.len(), "{} jobs, but {} regions", jobs.len(), measured.regions.len());
    let kernels = jobs.into_iter().zip(&measured.regions).map(|(job, &cost)| kernel(job, cost));
    kernels.collect::<Option<Vec<Kernel>>>().context("src/bin/bench said what `cargo cost` cannot read")
}

/// `matrix 64->64 | fast | 4096 macs | 1b2c3d4e | 3898 instructions`
fn kernel(line: &str, cost: Cost) -> Option<Kernel> {
    let mut parts = line.split(" | ");
    let (job, way) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let macs = parts.next()?.strip_suffix(" macs")?.parse().ok()?;
    let digest = parts.next()?.to_owned();
    let told = parts.next()?.strip_suffix(" instructions")?.parse().ok()?;
    let peer = peer::of(&job);
    Some(Kernel { job, way, macs, digest, cost, told, peer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_read() {
        let cost = Cost { instructions: 3800, cycles: 5600 };
        let line = "matrix 64->64 | fast | 4096 macs | 1b2c3d4e | 3850 instructions";
        let kernel = kernel(line, cost).expect("a whole line");
        assert_eq!((kernel.job.as_str(), kernel.way.as_str(), kernel.macs), ("matrix 64->64", "fast", 4096));
        assert!(kernel.check(&[]).is_ok());
        let cheaper = Cost { instructions: 3000, cycles: 5600 };
        assert!(super::kernel(line, cheaper).expect("a whole line").check(&[]).is_err(), "the clock denies it");
        let other = super::kernel("matrix 64->64 | portable | 4096 macs | 0 | 16000 instructions", cost);
        assert!(kernel.check(&[other.expect("a whole line")]).is_err(), "other bits");
        assert!(super::kernel("matrix 64->64 | fast", cost).is_none());
    }
}
