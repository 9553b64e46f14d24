//! The tool for people with data and a trained model: features, quantize, evaluate, run, inspect, new.

#[macro_use]
mod output;

mod audio;
mod clips;
mod convert;
mod data;
mod evaluate;
mod features;
mod inspect;
mod model;
mod new;
mod picture;
mod quantize;
mod run;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Small causal transformers on Cortex-M microcontrollers: tools for data and trained models.
#[derive(Parser)]
#[command(name = "microformer", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Convert(convert::Arguments),
    Features(features::Arguments),
    Evaluate(evaluate::Arguments),
    Inspect(inspect::Arguments),
    Quantize(quantize::Arguments),
    New(new::Arguments),
    Run(run::Arguments),
}

fn main() -> ExitCode {
    let outcome = match &Arguments::parse().command {
        Command::Convert(arguments) => convert::run(arguments),
        Command::Features(arguments) => features::run(arguments),
        Command::Evaluate(arguments) => evaluate::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::New(arguments) => new::run(arguments),
        Command::Quantize(arguments) => quantize::run(arguments),
        Command::Run(arguments) => run::run(arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
