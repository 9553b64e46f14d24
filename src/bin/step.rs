//! What a model costs: steps the one that its argument names, or every baked one, passes a whole sequence through it, and
//! tells its memory.
//!
//! In QEMU the instructions between the marks are counted from outside, by counter/; every line ends in what the chip's
//! own counter showed, which on hardware is cycles: the same table, from the same image.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

mod baked;
#[path = "../board/mod.rs"]
mod board;

use baked::{CHUNK, SEQUENCE, Workspace};
use board::{cycles::Clock, meter};
use microformer::model::{Layer, Output, Part, Probe};
use microformer::packed::{Attention, Embed, Memory, Model};

board::program!(run);

fn run() -> Result<(), &'static str> {
    let chosen = chosen()?;
    let workspace = Workspace::take()?;
    let clock = Clock::start();
    macro_rules! measure_if_chosen {
        ($module:ident, $name:literal) => {
            if chosen.is_none_or(|chosen| chosen == $name) {
                board::say!("model {}", $name);
                measure(&baked::$module::MODEL, workspace, clock);
            }
        };
    }
    baked::for_each_model!(measure_if_chosen);
    Ok(())
}

/// The model that the argument names; none where there is no argument, as on a board. On its own, so that its buffers do
/// not count as stack of the step.
#[inline(never)]
fn chosen() -> Result<Option<&'static str>, &'static str> {
    let arguments = board::Arguments::read();
    let Some(wanted) = arguments.get(0) else { return Ok(None) };
    macro_rules! compare {
        ($module:ident, $name:literal) => {
            if wanted == $name {
                return Ok(Some($name));
            }
        };
    }
    baked::for_each_model!(compare);
    Err("no baked model has that name")
}

#[inline(never)]
fn measure(model: &'static Model<'static>, workspace: &mut Workspace, clock: Clock) {
    let stack = measure_step(model, workspace, clock);
    measure_pass(model, workspace, clock);
    board::say!("state {} bytes", 4 * Memory::of(model, 1).words());
    board::say!("chunk {} tokens", CHUNK);
    board::say!("state of a chunk {} bytes", 4 * Memory::of(model, CHUNK).words());
    board::say!("stack {} bytes", stack);
}

/// Regions: a step with full rings, then each layer of another step, then what follows the last layer. Returns the stack
/// in use so far.
#[inline(never)]
fn measure_step(model: &'static Model<'static>, workspace: &mut Workspace, clock: Clock) -> usize {
    let mut run = workspace.begin(model, 1);
    // With full rings a step costs what it costs for ever.
    for _ in 0..window(model) + 1 {
        run.prepare(1);
        run.step(&mut ());
    }
    let stack = board::stack::high_water();
    run.prepare(1);
    let begin = clock.now();
    meter::begin();
    run.step(&mut ());
    meter::end();
    board::say!("step: {} {}", clock.since(begin), clock.unit());
    meter::begin();
    run.step(&mut Watcher::Marks);
    meter::end();
    run.step(&mut Watcher::Names(Names {
        model,
        way: "layer",
        before: window(model),
        tokens: 0,
        clock,
        begin: clock.now(),
    }));
    stack
}

/// Regions: a whole sequence from an empty state, then each layer of each chunk of the same again, then what follows.
#[inline(never)]
fn measure_pass(model: &'static Model<'static>, workspace: &mut Workspace, clock: Clock) {
    let mut run = workspace.begin(model, CHUNK);
    run.prepare(SEQUENCE);
    let begin = clock.now();
    meter::begin();
    run.pass(SEQUENCE, |_| {}, &mut ());
    meter::end();
    board::say!("pass of {} tokens: {} {}", SEQUENCE, clock.since(begin), clock.unit());
    let mut run = workspace.begin(model, CHUNK);
    run.prepare(SEQUENCE);
    meter::begin();
    run.pass(SEQUENCE, |_| {}, &mut Watcher::Marks);
    meter::end();
    let mut run = workspace.begin(model, CHUNK);
    run.prepare(SEQUENCE);
    let names = Names { model, way: "pass-layer", before: 0, tokens: 0, clock, begin: clock.now() };
    run.pass(SEQUENCE, |_| {}, &mut Watcher::Names(names));
}

fn window(model: &Model) -> usize {
    model.blocks.iter().map(|block| block.attention.window).max().unwrap_or(0)
}

/// What is done when a layer has run. One type, so that the engine is compiled for it once.
enum Watcher {
    /// Ends a region.
    Marks,
    Names(Names),
}

impl Probe for Watcher {
    fn layer(&mut self, layer: Layer, output: Output<'_>) {
        match self {
            Self::Marks => {
                meter::end();
                meter::begin();
            }
            Self::Names(names) => names.layer(layer, output),
        }
    }
}

/// Tells the layers in their order, with the products that each computes and what the chip counted since the one before.
struct Names {
    model: &'static Model<'static>,
    way: &'static str,
    /// Tokens before those that are in the layers now.
    before: usize,
    tokens: usize,
    clock: Clock,
    begin: u32,
}

impl Names {
    #[inline(never)]
    fn layer(&mut self, layer: Layer, output: Output<'_>) {
        let (spent, unit) = (self.clock.since(self.begin), self.clock.unit());
        let values = match output {
            Output::Bytes(values) => values.len(),
            Output::Halves(values) => values.len(),
        };
        // What is embedded is whole tokens of the stream; scores come one token at a time.
        let width = microformer::packed::padded(self.model.width).max(1);
        let macs = match layer.part {
            Part::Embed => {
                self.tokens += values / width;
                values / width * self.macs(layer)
            }
            Part::Head | Part::Pool => self.macs(layer),
            Part::Mix => (0..self.tokens).map(|token| self.mix_macs(layer, self.before + token + 1)).sum(),
            _ => self.tokens * self.macs(layer),
        };
        match layer.block {
            Some(block) => {
                board::say!("{} blocks.{}.{} {} macs: {} {}", self.way, block, layer.part.name(), macs, spent, unit);
            }
            None => board::say!("{} {} {} macs: {} {}", self.way, layer.part.name(), macs, spent, unit),
        }
        if layer.part == Part::HeadEntry {
            self.before += self.tokens;
            self.tokens = 0;
        }
        self.begin = self.clock.now();
    }
}

impl Names {
    /// Each query with each key, each weight with each value.
    fn mix_macs(&self, layer: Layer, filled: usize) -> usize {
        let macs = |attention: &Attention| 2 * filled.min(attention.window) * attention.heads * attention.head_len;
        layer.block.and_then(|block| self.model.blocks.get(block)).map_or(0, |block| macs(&block.attention))
    }

    /// Products of one token with weights.
    fn macs(&self, layer: Layer) -> usize {
        let Some(block) = layer.block.and_then(|block| self.model.blocks.get(block)) else {
            return match (layer.part, &self.model.embed) {
                (Part::Head, _) => self.model.head.macs(),
                (Part::Embed, Embed::Linear { linear, .. }) => linear.macs(),
                (Part::Embed, Embed::Convolution(stem)) => {
                    stem.places * stem.convolution.macs()
                        + stem.depth_places * stem.depthwise.channels * stem.depthwise.taps
                        + stem.projection.macs()
                }
                _ => 0,
            };
        };
        match layer.part {
            Part::QueryKeyValue => block.attention.query_key_value.macs(),
            Part::AttentionOutput => block.attention.output.macs(),
            Part::Up => block.mlp.up.macs(),
            Part::Convolution => block.mlp.convolution.as_ref().map_or(0, |filter| filter.channels * filter.taps),
            Part::Down => block.mlp.down.macs(),
            _ => 0,
        }
    }
}
