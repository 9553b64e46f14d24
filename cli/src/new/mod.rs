//! `microformer new`: a quantised model in, a firmware crate of the user's own out, that builds and runs as it is.

mod example;
mod firmware;

use crate::inspect;
use crate::model::Model;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
pub use firmware::{Firmware, Source, write_changed};
use std::path::{Path, PathBuf};

/// Make a firmware crate with a model baked in, that builds and runs in QEMU as generated
#[derive(Args)]
#[command(after_help = "\
Examples:
  microformer new gestures --model quantized.safetensors --example test.npz
  microformer new writer --model quantized.safetensors --prompt \"The \"
  cd gestures && cargo run --release")]
pub struct Arguments {
    /// Folder to make; its last part names the crate
    folder: PathBuf,
    /// The quantised model
    #[arg(long)]
    model: PathBuf,
    /// Board to build for, as `microformer inspect` lists them
    #[arg(long, default_value = "mps2-an386")]
    board: String,
    /// Data whose first sequence (or --index) is baked in as the example [default: a made-up one]
    #[arg(long, value_name = "DATA")]
    example: Option<PathBuf>,
    /// Which sequence of the data
    #[arg(long, default_value_t = 0)]
    index: usize,
    /// Text to continue, for a model of tokens
    #[arg(long, value_name = "TEXT", conflicts_with = "example")]
    prompt: Option<String>,
    /// Folder of the microformer repository to depend on [default: the one around here, else the one this tool is from]
    #[arg(long, conflicts_with = "git")]
    path: Option<PathBuf>,
    /// Address of a microformer repository to depend on, so that the firmware builds on other machines too
    #[arg(long, value_name = "ADDRESS")]
    git: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.folder;
    let name = crate_name(folder)?;
    let file = arguments.model.display();
    let Model::Quantized(model) = Model::read(&arguments.model)? else {
        bail!("{file} is a float model; run `microformer quantize` on it and give the result");
    };
    let board = inspect::find_board(&arguments.board)?;
    inspect::check_fit(&model, board).with_context(|| format!("{file} cannot run on {}", board.name))?;
    let (example, note) = match &arguments.prompt {
        Some(prompt) => example::prompt(&model, prompt)?,
        None => example::bake(&model, &arguments.model, arguments.example.as_deref(), arguments.index)?,
    };
    let source = match (&arguments.path, &arguments.git) {
        (Some(path), _) => Source::at(path)?,
        (None, Some(address)) => Source::Git(address.clone()),
        (None, None) => Source::around(&[folder, Path::new(".")])?,
    };
    let firmware = Firmware {
        name: &name,
        model: &arguments.model,
        config: &model.config,
        board,
        source: &source,
        main: &example::main(&model.config, &note),
        example: &example,
    };
    firmware.write(folder)?;
    println!("{}: firmware for {} with model `{}`.{note}", folder.display(), board.name, model.config.name);
    println!("run it: cd {} && cargo run --release", folder.display());
    if let Source::Repository(root) = source {
        println!("it takes microformer from {}; --path or --git takes it from elsewhere", root.display());
    }
    Ok(())
}

/// The folder's last part, where cargo accepts it.
fn crate_name(folder: &Path) -> Result<String> {
    ensure!(!folder.exists(), "{} exists already; choose another name", folder.display());
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let fine = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    ensure!(fine, "{name:?} cannot name a crate; choose letters, digits, - and _, with a letter first");
    Ok(name)
}
