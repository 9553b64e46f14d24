//! `microformer inspect`: what a model is and what it will cost, before anything is built.

mod boards;
mod cost;
mod print;
mod work;

use crate::model::Model;
use anyhow::{Context, Result, anyhow, ensure};
use boards::BOARDS;
pub use boards::{Board, find as find_board};
use clap::Args;
use microformer_bake::{Assembled, Config, FloatModel, Matrix, Quantized, config::Input};
use microformer_packed::{Layout, Memory};
use serde::Serialize;
use std::path::PathBuf;
use work::LayerWork;

/// Show a model's shape and its cost on every known board, before anything is built
#[derive(Args)]
#[command(after_help = "\
RAM is what the firmware of `microformer new` takes: the model's state, the front end where there is one, and the stack. \
Instructions are those of one token with a full window, predicted.

Examples:
  microformer inspect float.safetensors
  microformer inspect quantized.safetensors --json")]
pub struct Arguments {
    /// A float or quantised model file
    model: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Everything that is known about a model.
#[derive(Serialize)]
pub struct Report {
    file: String,
    kind: &'static str,
    shape: Config,
    parameters: usize,
    macs_per_token: usize,
    frames_per_token: usize,
    layers: Vec<LayerWork>,
    boards: Vec<OnBoard>,
}

/// A model on a board, in bytes and instructions.
#[derive(Serialize)]
pub struct OnBoard {
    board: &'static str,
    megahertz: u32,
    /// What the next token looks back at, what a step needs only while it runs, the front end, everything else.
    history_bytes: usize,
    scratch_bytes: usize,
    front_end_bytes: usize,
    stack_bytes: usize,
    ram_bytes: usize,
    ram_available: usize,
    flash_bytes: usize,
    flash_available: usize,
    instructions_per_token: u64,
    fits: bool,
}

/// Bytes of RAM that every firmware has besides the model's words: rings' places, logging, the runtime.
const OTHER_RAM: usize = 256;

/// Stack that a step needs, and with a front end, whose spectrum lies there.
const STEP_STACK: usize = 1536;

/// Flash of the engine's code and the runtime.
const CODE: usize = 39 * 1024;
const FRONT_END_CODE: usize = 11 * 1024;

pub fn run(arguments: &Arguments) -> Result<()> {
    let report = report(arguments)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print::report(&report);
    }
    Ok(())
}

fn report(arguments: &Arguments) -> Result<Report> {
    let file = arguments.model.display().to_string();
    let (kind, quantized) = match Model::read(&arguments.model)? {
        Model::Quantized(quantized) => ("quantised", quantized),
        Model::Float(float) => ("float", rehearse(&float).with_context(|| file.clone())?),
    };
    let assemble = |layout| quantized.assemble(layout).map_err(|error| anyhow!(error.in_file(&file)));
    let plain = assemble(Layout::Plain)?;
    let layers = work::layers(plain.model);
    let config = plain.config.clone();
    let boards = BOARDS.iter().map(|board| on_board(board, &assemble(board.chip.layout())?)).collect::<Result<_>>()?;
    Ok(Report {
        file,
        kind,
        parameters: parameters(&config),
        macs_per_token: layers.iter().map(|layer| layer.macs).sum(),
        frames_per_token: config.stride(),
        shape: config,
        layers,
        boards,
    })
}

fn on_board(board: &Board, assembled: &Assembled) -> Result<OnBoard> {
    let layers = work::layers(assembled.model);
    let regions = board.regions()?;
    let memory = Memory::of(assembled.model, 1);
    let (front_end_bytes, spectrum_bytes, front_end_flash) = front_end(&assembled.config);
    let stack_bytes = STEP_STACK + spectrum_bytes;
    let statics = 4 * memory.words() + front_end_bytes + OTHER_RAM;
    // A pipeline begins as a copy of its constant.
    let copy = if assembled.listening.is_some() { statics } else { 0 };
    let flash_bytes = CODE + front_end_flash + copy + layers.iter().map(|layer| layer.flash_bytes).sum::<usize>();
    let instructions: f64 = layers.iter().map(|layer| cost::instructions(&layer.units, board.chip)).sum();
    Ok(OnBoard {
        board: board.name,
        megahertz: board.megahertz,
        history_bytes: 4 * memory.history,
        scratch_bytes: 4 * memory.scratch,
        front_end_bytes,
        stack_bytes,
        ram_bytes: statics + stack_bytes,
        ram_available: regions.ram + regions.stack,
        flash_bytes,
        flash_available: regions.flash,
        instructions_per_token: instructions.round() as u64,
        fits: statics <= regions.ram && stack_bytes <= regions.stack && flash_bytes <= regions.flash,
    })
}

/// An error that says what is missing, where a model does not fit a board.
pub fn check_fit(model: &Quantized, board: &Board) -> Result<()> {
    let cost = cost_of(model, board)?;
    ensure!(cost.fits, "{}", print::shortage(&cost));
    Ok(())
}

/// Bytes of flash that firmware with this model takes on a board, its code included.
pub fn flash_bytes(model: &Quantized, board: &str) -> Result<usize> {
    Ok(cost_of(model, find_board(board)?)?.flash_bytes)
}

fn cost_of(model: &Quantized, board: &Board) -> Result<OnBoard> {
    let assembled = model.assemble(board.chip.layout()).map_err(|error| anyhow!(error))?;
    on_board(board, &assembled)
}

/// Static RAM, stack and flash of the front end: window and noise estimates; spectrum; code and tables.
fn front_end(config: &Config) -> (usize, usize, usize) {
    let Some(settings) = &config.signal else { return (0, 0, 0) };
    let window = settings.window_samples();
    let points = window.next_power_of_two() / 2;
    let tables = 2 * window + 8 * points + 4 * points;
    (2 * window + 4 * settings.channels, 4 * points + 4 * settings.channels, FRONT_END_CODE + tables)
}

/// A float model quantised on made-up input: sizes and work do not depend on the values.
fn rehearse(float: &FloatModel) -> Result<Quantized> {
    let config = &float.config;
    let tokens = if config.context > 0 { config.context.min(4) } else { 4 };
    let wave = |row: usize, column: usize| ((row * 7 + column * 3) as f64).sin();
    let frames = Matrix::from_fn(tokens * config.stride(), config.features(), wave);
    let ids: Vec<usize> = match config.input {
        Input::Tokens(vocabulary) => (0..tokens).map(|token| token % vocabulary).collect(),
        Input::Features(_) => Vec::new(),
    };
    let input = match config.input {
        Input::Tokens(_) => reference::Input::Tokens(&ids),
        Input::Features(_) => reference::Input::Features(&frames),
    };
    let ranges = quantizer::Ranges::observe(float, &[input], || ()).map_err(|error| anyhow!(error))?;
    quantizer::quantize(float, &ranges).map_err(|error| anyhow!(error))
}

/// Trained numbers, biases included.
fn parameters(config: &Config) -> usize {
    use microformer_bake::config::{Embed, NormKind, Positions};
    let (width, hidden, taps) = (config.width, config.hidden, config.convolution);
    let linear = |rows: usize, columns: usize| rows * (columns + 1);
    let norm = if config.norm == NormKind::Layer { 2 * width } else { width };
    let embed = match (&config.embed, config.input) {
        (Embed::Linear { frames, .. }, _) => linear(width, frames * config.features()),
        (Embed::Table {}, Input::Tokens(vocabulary)) => vocabulary * width,
        (Embed::Table {}, Input::Features(_)) => 0,
        (Embed::Convolution { channels, kernel, depthwise_kernel, .. }, _) => {
            let places = config.stem().map_or(0, |stem| stem.depth.places);
            linear(*channels, kernel[0] * kernel[1])
                + linear(*channels, depthwise_kernel[0] * depthwise_kernel[1])
                + linear(width, places * channels)
        }
    };
    let positions = if config.positions == Positions::Learned { config.context * width } else { 0 };
    let convolution = if taps > 0 { linear(hidden, taps) } else { 0 };
    let block = 4 * linear(width, width) + linear(hidden, width) + convolution + linear(width, hidden) + 2 * norm;
    let final_norm = if config.final_norm { norm } else { 0 };
    embed + positions + config.blocks * block + final_norm + linear(config.labels.len(), width)
}
