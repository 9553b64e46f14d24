//! `microformer evaluate`: how well a model does on labelled data, in floats, in integers here, and on an emulated chip.

mod figures;
mod print;
mod qemu;
mod stream;
mod task;

use crate::data::{self, Data, DataArguments, Sequence};
use crate::inspect::find_board;
use crate::model::{Engine, Model, Ready, best};
use crate::picture;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use figures::{Difference, Figures};
use indicatif::{ProgressBar, ProgressStyle};
use microformer_bake::{Config, Matrix};
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;
use task::{Judged, Outcome, Task};

/// Judge a model on labelled data: accuracy, precision and recall, confusion matrix
#[derive(Args)]
#[command(after_help = format!("\
A sequence's answer is the model's after its last token. Where the label changes inside a sequence (a CSV with a label in \
every row, y (N, T) in an .npz), the model is judged after every token by the label of that token's last row, and every \
stretch of one label by what was said most often in it; rows without a label are not judged. Labels are matched to the \
model's by name; spoken words that the model does not list count as `_unknown_` where it has that label. A text is judged by \
its next tokens.

{}

Examples:
  microformer evaluate quantized.safetensors test.npz --float float.safetensors --confusion confusion.svg
  microformer evaluate quantized.safetensors clips.csv --root clips.tar --json
  microformer evaluate quantized.safetensors test.npz --qemu 20
  microformer evaluate quantized.safetensors tune.csv --stream --noise noise/ --tune 2
  microformer evaluate quantized.safetensors val.csv --stream --noise noise/ --snr 20 --curve curve.svg --qemu 60
  microformer evaluate float.safetensors day.csv", data::KINDS))]
pub struct Arguments {
    /// A quantised model file, or a float one
    model: PathBuf,
    /// Labelled sequences
    data: PathBuf,
    /// The float model that it was quantised from, to be compared
    #[arg(long, value_name = "MODEL")]
    float: Option<PathBuf>,
    /// Run so many of the sequences on an emulated chip too, in a firmware that is built for it; with --stream, so many of the
    /// first seconds
    #[arg(long, value_name = "N")]
    qemu: Option<usize>,
    /// The board to emulate, as `microformer inspect` lists them
    #[arg(long, default_value = "mps2-an386", requires = "qemu")]
    board: String,
    /// Draw the confusion matrix
    #[arg(long, value_name = "PICTURE.svg")]
    confusion: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: DataArguments,
    #[command(flatten)]
    streaming: stream::StreamArguments,
}

/// Everything that was found out.
#[derive(Serialize)]
pub struct Report {
    model: String,
    data: String,
    labels: Vec<String>,
    sequences: usize,
    /// What is counted: sequences, the time steps of sequences whose label changes, or the tokens of a text.
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    float: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    integer: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qemu: Option<OnChip>,
    /// Seconds that the models took, data not included.
    seconds: f64,
}

/// What an emulated chip found.
#[derive(Serialize)]
struct OnChip {
    board: &'static str,
    figures: Figures,
    /// Sequences whose last scores equal those of this machine, bit for bit.
    identical: usize,
    sequences: usize,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.streaming.stream {
        return stream::run(arguments);
    }
    if let Some(path) = &arguments.confusion {
        picture::check_name(path)?;
    }
    let (config, float, integer) = models(arguments)?;
    let data = data::load(&arguments.data, &config, &arguments.options)?;
    let task = Task::of(&data, &config, &arguments.data)?;
    let begun = Instant::now();
    let answers = answer(&task, &data, float.as_ref(), integer.as_ref())?;
    let seconds = begun.elapsed().as_secs_f64();
    let judge = |part: fn(&Answer) -> &[Outcome]| {
        let figures = Figures::of(answers.iter().flat_map(part), &config.labels);
        match task {
            Task::Follow { .. } => figures.with_stretches(answers.iter().map(part)),
            Task::Classify | Task::Continue => figures,
        }
    };
    let report = Report {
        model: arguments.model.display().to_string(),
        data: arguments.data.display().to_string(),
        labels: config.labels.clone(),
        sequences: data.sequences.len(),
        unit: task.unit(),
        float: float.is_some().then(|| judge(|answer| &answer.float)),
        integer: integer.is_some().then(|| judge(|answer| &answer.integer)),
        difference: (float.is_some() && integer.is_some())
            .then(|| answers.iter().fold(Difference::default(), |sum, answer| sum.add(&answer.difference)).finish()),
        qemu: match arguments.qemu {
            Some(wanted) => Some(on_chip(arguments, wanted, &data, &config, &answers)?),
            None => None,
        },
        seconds,
    };
    if let Some(path) = &arguments.confusion {
        let figures = report.integer.as_ref().or(report.float.as_ref()).context("nothing was judged")?;
        print::confusion_picture(figures, &config.labels).save(path)?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print::report(&report);
    }
    Ok(())
}

/// Some sequences in QEMU, judged like the others.
fn on_chip(arguments: &Arguments, wanted: usize, data: &Data, config: &Config, answers: &[Answer]) -> Result<OnChip> {
    let Model::Quantized(quantized) = Model::read(&arguments.model)? else {
        bail!("{} is a float model; --qemu runs quantised ones", arguments.model.display());
    };
    let board = find_board(&arguments.board)?;
    let request = qemu::Request {
        model: &arguments.model,
        quantized: &quantized,
        board,
        path: &arguments.data,
        options: &arguments.options,
    };
    let engine = Engine::new(&quantized, &arguments.model)?;
    let chosen = qemu::choose(wanted, data.sequences.len());
    ensure!(!chosen.is_empty(), "--qemu 0 runs nothing; choose at least 1");
    let scores = qemu::scores(&request, data, &chosen, &engine)?;
    let unit = f64::from(engine.assembled.model.score_fraction_bits).exp2();
    let mut identical = 0;
    let mut outcomes = Vec::new();
    for (&index, scores) in chosen.iter().zip(&scores) {
        let last = Matrix {
            rows: 1,
            columns: scores.len(),
            values: scores.iter().map(|&score| f64::from(score) / unit).collect(),
        };
        identical += usize::from(answers[index].last == last.values);
        // Of a text only the last scores are known, and nothing comes after them.
        if let Some(label) = data.sequences[index].last_label() {
            outcomes.push(Outcome::of(&Judged { expected: label, scores: last.row(0), stretch: 0 }));
        }
    }
    let figures = Figures::of(outcomes.iter(), &config.labels);
    Ok(OnChip { board: board.name, figures, identical, sequences: chosen.len() })
}

/// The float model and the integer one, of which at least one is given.
fn models(arguments: &Arguments) -> Result<(Config, Option<Ready>, Option<Ready>)> {
    let read = |path: &Path| -> Result<Ready> { Model::read(path)?.ready(path) };
    let config = Model::read(&arguments.model)?.config().clone();
    let first = read(&arguments.model)?;
    let Some(path) = &arguments.float else {
        return Ok(match first {
            Ready::Float(_) => (config, Some(first), None),
            Ready::Integer(_) => (config, None, Some(first)),
        });
    };
    let second = read(path)?;
    ensure!(
        matches!((&first, &second), (Ready::Integer(_), Ready::Float(_))),
        "give a quantised model first and a float one by --float: {} and {} are of one kind",
        arguments.model.display(),
        path.display()
    );
    let other = Model::read(path)?;
    ensure!(
        other.config().labels == config.labels && other.config().input == config.input,
        "{} takes or gives something else than {}: they are not the same model",
        path.display(),
        arguments.model.display()
    );
    Ok((config, Some(second), Some(first)))
}

/// What is kept of one sequence; its scores are many.
struct Answer {
    float: Vec<Outcome>,
    integer: Vec<Outcome>,
    /// The integer scores after the last token.
    last: Vec<f64>,
    difference: Difference,
}

/// All sequences through the models, on all cores.
fn answer(task: &Task, data: &Data, float: Option<&Ready>, integer: Option<&Ready>) -> Result<Vec<Answer>> {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} sequences, {eta} left").expect("a valid template");
    let progress = ProgressBar::new(data.sequences.len() as u64).with_style(style);
    let answers = data
        .sequences
        .par_iter()
        .map(|sequence| {
            let scores = |model: &Ready| model.scores(&sequence.input).with_context(|| sequence.name.clone());
            let (float, integer) = (float.map(scores).transpose()?, integer.map(scores).transpose()?);
            progress.inc(1);
            let outcomes =
                |scores: Option<&Matrix>| scores.map_or(Vec::new(), |scores| task.outcomes(sequence, scores));
            Ok(Answer {
                float: outcomes(float.as_ref()),
                integer: outcomes(integer.as_ref()),
                last: integer.as_ref().map_or(Vec::new(), |scores| scores.row(scores.rows - 1).to_vec()),
                difference: match (&float, &integer) {
                    (Some(float), Some(integer)) => difference(task, sequence, float, integer),
                    _ => Difference::default(),
                },
            })
        })
        .collect();
    progress.finish_and_clear();
    answers
}

/// How far the integer model is from the float one on one sequence.
fn difference(task: &Task, sequence: &Sequence, float: &Matrix, integer: &Matrix) -> Difference {
    let mut difference = Difference::default();
    difference.add_scores(&float.values, &integer.values);
    for (float, integer) in task.judged(sequence, float).iter().zip(task.judged(sequence, integer)) {
        difference.add_decision(best(float.scores) == best(integer.scores));
    }
    difference
}
