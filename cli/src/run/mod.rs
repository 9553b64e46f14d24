//! `microformer run`: one sequence in, the scores after every token and at its end out; or a prompt in, a text out.

mod attention;
mod generate;

use crate::data::{self, DataArguments, Input, Sequence};
use crate::model::{Engine, Model, Ready, best, softmax};
use crate::picture;
use anyhow::{Context, Result, bail, ensure};
use attention::Attention;
use clap::Args;
use microformer_bake::{Config, Matrix};
use serde_json::json;
use std::path::PathBuf;

/// Run a model on one sequence and print its scores, or let it continue a text
#[derive(Args)]
#[command(after_help = format!("\
A quantised model runs in the integer engine of the chip, on this machine; a float model in 64-bit floats.

{}

Examples:
  microformer run quantized.safetensors gesture.csv
  microformer run quantized.safetensors word.wav --attention attention.svg
  microformer run float.safetensors test.npz --index 3 --json
  microformer run quantized.safetensors --generate 200 --prompt \"The \" --temperature 0.7 --top-k 10 --seed 1", data::KINDS))]
pub struct Arguments {
    /// A float or quantised model file
    model: PathBuf,
    /// The sequence
    #[arg(required_unless_present = "generate")]
    file: Option<PathBuf>,
    /// Which sequence, where the file holds several
    #[arg(long, default_value_t = 0)]
    index: usize,
    /// Draw the attention weights of every layer and head (quantised models)
    #[arg(long, value_name = "PICTURE.svg")]
    attention: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    generating: generate::GenerateArguments,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if let Some(count) = arguments.generating.generate {
        ensure!(
            arguments.attention.is_none(),
            "--attention draws one sequence that is read, not one that is generated"
        );
        return generate::run(&arguments.generating, &arguments.model, count, arguments.json);
    }
    let file = arguments.file.as_deref().context("give the sequence to run")?;
    if let Some(path) = &arguments.attention {
        picture::check_name(path)?;
    }
    let model = Model::read(&arguments.model)?;
    let config = model.config().clone();
    let mut data = data::load(file, &config, &arguments.data)?;
    let count = data.sequences.len();
    if arguments.index >= count {
        bail!("{} holds {count} sequences; choose --index 0 to {}", file.display(), count - 1);
    }
    let sequence = data.sequences.swap_remove(arguments.index);
    let ready = model.ready(&arguments.model)?;
    let scores = match (&arguments.attention, &ready) {
        (None, _) => ready.scores(&sequence.input)?,
        (Some(path), Ready::Integer(engine)) => draw(engine, &sequence.input, path)?,
        (Some(_), Ready::Float(_)) => {
            bail!(
                "{} is a float model; --attention shows what the chip does: quantise it first",
                arguments.model.display()
            )
        }
    };
    if arguments.json { print_json(&config, &sequence, &scores) } else { print(&config, &sequence, &scores, count) }
}

fn draw(engine: &Engine, input: &Input, path: &std::path::Path) -> Result<Matrix> {
    let mut attention = Attention::new(engine.assembled.model);
    let scores = engine.scores(input, &mut attention);
    attention.picture().save(path).with_context(|| "no picture of the attention weights".to_owned())?;
    eprintln!("{}: attention weights of {} tokens", path.display(), scores.rows);
    Ok(scores)
}

/// The three best labels of a token.
const SHOWN: usize = 3;

fn print(config: &Config, sequence: &Sequence, scores: &Matrix, count: usize) -> Result<()> {
    println!(
        "{}: {} tokens{}",
        sequence.name,
        scores.rows,
        if count > 1 { format!(" (one of {count})") } else { String::new() }
    );
    println!("token  label and confidence");
    for token in 0..scores.rows {
        println!("{token:5}  {}", ranking(config, scores.row(token)));
    }
    let last = scores.row(scores.rows - 1);
    let answer = best(last);
    println!("\nfinal: {} ({:.1} %)", config.labels[answer], 100.0 * softmax(last)[answer]);
    for (label, (score, probability)) in config.labels.iter().zip(last.iter().zip(softmax(last))) {
        if config.labels.len() <= 32 {
            println!("  {label:20} {score:9.3} {:6.1} %", 100.0 * probability);
        }
    }
    if let Some(label) = sequence.label() {
        println!("labelled: {}", config.labels[label]);
    }
    Ok(())
}

fn ranking(config: &Config, scores: &[f64]) -> String {
    let probabilities = softmax(scores);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let part = |&label: &usize| format!("{:?} {:.1} %", config.labels[label], 100.0 * probabilities[label]);
    order.iter().take(SHOWN).map(part).collect::<Vec<_>>().join(", ")
}

fn print_json(config: &Config, sequence: &Sequence, scores: &Matrix) -> Result<()> {
    let token = |index: usize| {
        let scores = scores.row(index);
        let answer = best(scores);
        json!({ "label": config.labels[answer], "confidence": softmax(scores)[answer], "scores": scores })
    };
    let tokens: Vec<_> = (0..scores.rows).map(token).collect();
    let report = json!({
        "model": config.name,
        "sequence": sequence.name,
        "labels": config.labels,
        "expected": sequence.label().map(|label| &config.labels[label]),
        "final": tokens.last(),
        "tokens": tokens,
    });
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
