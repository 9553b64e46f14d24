//! `microformer quantize`: a float model and calibration data in, the quantised model that firmware bakes out.

mod fidelity;
mod operators;

use crate::data::{self, DataArguments};
use crate::model::{Engine, Model};
use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use fidelity::Fidelity;
use indicatif::{ProgressBar, ProgressStyle};
use quantizer::{Ranges, quantize, stream_scale};
use std::path::PathBuf;

/// Turn a float model into integers, with codes fitted to calibration data
#[derive(Args)]
#[command(after_help = format!("\
Calibration data are a few hundred sequences as the model will meet them; labels are not needed. The report says how far \
the integers are from the floats, layer by layer, and how much of that each operator would do alone.

{}

Example:
  microformer quantize float.safetensors --calibration train.npz -o quantized.safetensors", data::KINDS))]
pub struct Arguments {
    /// A float model file
    model: PathBuf,
    /// Sequences to fit the codes to
    #[arg(long, value_name = "DATA")]
    calibration: PathBuf,
    /// Where the quantised model goes
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// How many sequences to use, spread over the data
    #[arg(long, default_value_t = 512)]
    sequences: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: DataArguments,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let Model::Float(model) = Model::read(&arguments.model)? else {
        bail!("{} is quantised already: give the float model", arguments.model.display());
    };
    let data = data::load(&arguments.calibration, &model.config, &arguments.options)?;
    ensure!(arguments.sequences > 0, "--sequences must be at least 1");
    // Every n-th: data are often sorted by label.
    let step = data.sequences.len().div_ceil(arguments.sequences).max(1);
    let chosen: Vec<_> = data.sequences.iter().step_by(step).map(|sequence| &sequence.input).collect();
    let inputs: Vec<_> = chosen.iter().map(|input| input.reference()).collect();
    let bar = ProgressBar::new(inputs.len() as u64)
        .with_style(ProgressStyle::with_template("calibrating {wide_bar} {pos}/{len} {eta}")?);
    let ranges = Ranges::observe(&model, &inputs, || bar.inc(1)).map_err(|error| anyhow!(error))?;
    bar.finish_and_clear();
    let in_file = |error: microformer_bake::Error| anyhow!(error.in_file(&arguments.model.display().to_string()));
    let quantized = quantize(&model, &ranges).map_err(in_file)?;
    let engine = Engine::new(&quantized, &arguments.model)?;
    // The report takes a few sequences: the figures hardly move with more.
    let mut fidelity =
        Fidelity::measure(&model, &engine, stream_scale(&model, &ranges), chosen.iter().take(32).copied())?;
    let few = &chosen[..chosen.len().min(8)];
    fidelity.operators = operators::measure(&model, &quantized, &ranges, few)?;
    quantized.write(&arguments.output).map_err(|error| anyhow!(error))?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&fidelity)?);
    } else {
        println!("{} sequences → {}\n", chosen.len(), arguments.output.display());
        fidelity.print();
    }
    Ok(())
}
