//! The tool for people with data and a trained model: features, quantize, evaluate, run, inspect, new.

mod audio;
mod clips;
mod features;

use clap::{Parser, Subcommand};

/// Small causal transformers on Cortex-M microcontrollers: tools for data and trained models.
#[derive(Parser)]
#[command(name = "microformer", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Features(features::Arguments),
}

fn main() -> anyhow::Result<()> {
    match &Arguments::parse().command {
        Command::Features(arguments) => features::run(arguments),
    }
}
