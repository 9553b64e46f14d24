//! Behind cargo run, demo, verify and cost: sets the machine up, starts QEMU or probe-rs, decodes defmt.
//!
//! Enters: a command. Leaves: what it printed, and an exit code that is zero only when everything went well.

mod board;
mod cargo;
mod cost;
mod counter;
mod defmt;
mod demo;
mod events;
mod faults;
mod gates;
mod generate;
mod image;
mod model;
mod parity;
mod probe;
mod qemu;
mod selftest;
mod setup;
mod sound;
mod verify;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run an image in QEMU, or on a connected board with `--probe` as its first argument (cargo run calls this)
    Run {
        image: PathBuf,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Let an emulated microcontroller listen to speech and name the words: our own demo, or any WAV, FLAC or Ogg file
    Demo { file: Option<PathBuf> },
    /// Count what every kernel, layer and model costs on an emulated chip
    Cost {
        /// The chip: m0, m3, m4 or m33
        #[arg(long, default_value = "m4", value_parser = cost::chip)]
        chip: cargo::Chip,
        /// Only this model: a name of models/, or the file of a quantised model; all when absent
        #[arg(long)]
        model: Option<String>,
        /// Count a token of each model with kernels in plain Rust, too
        #[arg(long)]
        plain: bool,
        /// Print JSON instead of a table, and no picture
        #[arg(long)]
        json: bool,
    },
    /// Install what is missing: chip targets by rustup, QEMU by the system's package manager
    Setup,
    /// Check everything: format, clippy, tests on the laptop and on emulated chips, gates
    Verify {
        /// Write the measured costs to budget.toml instead of comparing them
        #[arg(long)]
        record: bool,
        /// Only the steps whose names contain one of these words
        words: Vec<String>,
    },
}

fn main() -> ExitCode {
    match execute(Arguments::parse().command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command) -> Result<u8> {
    match command {
        Command::Run { image, arguments } => run(&image, arguments),
        Command::Verify { record, words } => verify::run(&verify::Options { words, record }),
        Command::Demo { file } => demo::run(file),
        Command::Cost { chip, model, plain, json } => cost::run(&cost::Options { chip, model, plain, json }),
        Command::Setup => setup::everything().map(|()| 0),
    }
}

/// Runs an image in QEMU, shows its log, and passes its exit code on.
fn run(image: &std::path::Path, mut arguments: Vec<String>) -> Result<u8> {
    let image = image::Image::read(image)?;
    if let Some(probe) = probe::requested(&arguments) {
        return probe::run(&image, probe);
    }
    setup::qemu()?;
    let sound = arguments.first().filter(|first| sound::is_sound(first)).cloned();
    let prepared = sound.map(|path| sound::prepare(path.as_ref())).transpose()?;
    if let (Some(first), Some(prepared)) = (arguments.first_mut(), &prepared) {
        *first = prepared.path.display().to_string();
    }
    let outcome = qemu::Run::new(&image)?.arguments(arguments).execute(|line| println!("{line}"))?;
    if let Err(reason) = outcome.end.verdict() {
        eprintln!("error: {reason}");
    }
    Ok(outcome.end.code())
}
