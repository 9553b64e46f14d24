//! `microformer quantize`: a float model and calibration data in, the quantised model that firmware bakes out.

mod budget;
mod fidelity;
mod operators;

use crate::data::{self, DataArguments};
use crate::inspect;
use crate::model::{Engine, Model};
use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use fidelity::Fidelity;
use indicatif::{ProgressBar, ProgressStyle};
use microformer_bake::Config;
use quantizer::{Precision, Ranges, quantize_mixed, stream_scale};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Turn a float model into integers, with codes fitted to calibration data
#[derive(Args)]
#[command(after_help = format!("\
Calibration data are a few hundred sequences as the model will meet them; labels are not needed. The report says how far \
the integers are from the floats, layer by layer, and how much of that each operator would do alone.

Where the output file exists and holds thresholds that `evaluate --stream --tune` wrote, for the same labels and front end, \
they are kept, and it says so; thresholds in the float file (`decide`) come first. Remove the file to be rid of them.

{}

Example:
  microformer quantize float.safetensors --calibration train.npz -o quantized.safetensors
  microformer quantize float.safetensors --calibration train.npz -o small.safetensors --bits blocks.0.mlp=4
  microformer quantize float.safetensors --calibration train.npz -o small.safetensors --flash 64K", data::KINDS))]
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
    /// Bits of the weights: 4 for all blocks, or NAME=4 for one matrix or all whose names begin so (several times)
    #[arg(long, value_name = "[NAME=]BITS")]
    bits: Vec<String>,
    /// Give matrices 4 bits, those that lose least for each byte first, until the firmware fits this flash: 64K
    #[arg(long, value_name = "SIZE", value_parser = budget::bytes)]
    flash: Option<usize>,
    /// The board whose flash is meant
    #[arg(long, default_value = "mps2-an386", requires = "flash")]
    board: String,
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
    let make = |precision: &Precision| quantize_mixed(&model, &ranges, precision).map_err(in_file);
    // The report takes a few sequences: the figures hardly move with more.
    let measure = |engine: &Engine| {
        Fidelity::measure(&model, engine, stream_scale(&model, &ranges), chosen.iter().take(32).copied())
    };
    let mut precision = Precision::default();
    for choice in &arguments.bits {
        precision.choose(&model.config, choice).map_err(|error| anyhow!(error))?;
    }
    let candidates = match arguments.flash {
        Some(limit) => budget::fit(limit, &arguments.board, &mut precision, &make, &measure)?,
        None => Vec::new(),
    };
    let mut quantized = make(&precision)?;
    let kept = keep_thresholds(&mut quantized.config, &arguments.output);
    let mut fidelity = measure(&Engine::new(&quantized, &arguments.model)?)?;
    let few = &chosen[..chosen.len().min(8)];
    fidelity.operators = operators::measure(&model, &quantized, &ranges, few)?;
    let eight = match precision.is_mixed() {
        true => Some(measure(&Engine::new(&make(&Precision::default())?, &arguments.model)?)?),
        false => None,
    };
    quantized.write(&arguments.output).map_err(|error| anyhow!(error))?;
    if arguments.json {
        let report =
            Report { fidelity: &fidelity, eight_bits: eight.as_ref(), four_bits: &candidates, kept_thresholds: kept };
        println!("{}", serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    println!("{} sequences → {}\n", chosen.len(), arguments.output.display());
    if kept > 0 {
        println!("kept the {kept} thresholds that the file had; tune again where the model learned anew\n");
    }
    if !candidates.is_empty() {
        budget::print(&candidates);
    }
    match &eight {
        Some(eight) => fidelity.print_beside(eight),
        None => fidelity.print(),
    }
    if arguments.flash.is_some() {
        let bytes = inspect::flash_bytes(&quantized, &arguments.board)?;
        println!("\n{bytes} bytes of flash on {}, code included", arguments.board);
    }
    Ok(())
}

/// Thresholds that were tuned for the model that lies where the new one goes, and how many they are.
fn keep_thresholds(config: &mut Config, output: &Path) -> usize {
    let Ok(Model::Quantized(before)) = Model::read(output) else { return 0 };
    let Some(tuned) = before.config.decide else { return 0 };
    let mut decide = config.decide.clone().unwrap_or_default();
    let alike = before.config.labels == config.labels
        && before.config.signal == config.signal
        && tuned.smoothing_ms == decide.smoothing_ms;
    if !alike || !decide.thresholds.is_empty() {
        return 0;
    }
    decide.thresholds = tuned.thresholds;
    let count = decide.thresholds.len();
    if count > 0 {
        config.decide = Some(decide);
    }
    count
}

/// What `--json` prints: the figures of the model, those of the same model in 8 bits where some weights have fewer, what
/// a budget weighed, and how many thresholds the file had already.
#[derive(Serialize)]
struct Report<'r> {
    #[serde(flatten)]
    fidelity: &'r Fidelity,
    #[serde(skip_serializing_if = "Option::is_none")]
    eight_bits: Option<&'r Fidelity>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    four_bits: &'r [budget::Candidate],
    kept_thresholds: usize,
}
