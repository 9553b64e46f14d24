//! What one token costs: steps the model that its argument names, and tells its memory. The instructions between the
//! marks are counted from outside, by counter/: a whole step, a step layer by layer, several tokens in one pass.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

mod baked;
#[path = "../board/mod.rs"]
mod board;

use baked::{CHUNK, Workspace};
use board::meter;
use microformer::model::{Layer, Output, Part, Probe};
use microformer::packed::{Embed, Memory, Model};

board::program!(run);

fn run() -> Result<(), &'static str> {
    let chosen = chosen().ok_or("name a baked model")?;
    let workspace = Workspace::take()?;
    macro_rules! measure_if_chosen {
        ($module:ident, $name:literal) => {
            if chosen == $name {
                measure(&baked::$module::MODEL, workspace);
            }
        };
    }
    baked::for_each_model!(measure_if_chosen);
    Ok(())
}

/// The model that the argument names. On its own, so that its buffers do not count as stack of the step.
#[inline(never)]
fn chosen() -> Option<&'static str> {
    let arguments = board::Arguments::read();
    let wanted = arguments.get(0)?;
    macro_rules! compare {
        ($module:ident, $name:literal) => {
            if wanted == $name {
                return Some($name);
            }
        };
    }
    baked::for_each_model!(compare);
    None
}

#[inline(never)]
fn measure(model: &'static Model<'static>, workspace: &mut Workspace) {
    // With full rings a step costs what it costs for ever.
    let tokens = model.blocks.iter().map(|block| block.attention.window).max().unwrap_or(0) + 1;
    let stack = measure_step(model, workspace, tokens);
    measure_pass(model, workspace, tokens);
    board::say!("state {} bytes", 4 * Memory::of(model, 1).words());
    board::say!("stack {} bytes", stack);
    board::say!("chunk {} tokens", CHUNK);
}

/// Regions: a step, then each layer of another step, then what follows the last layer. Returns the stack in use so far.
#[inline(never)]
fn measure_step(model: &'static Model<'static>, workspace: &mut Workspace, tokens: usize) -> usize {
    let mut run = workspace.begin(model, 1);
    for _ in 0..tokens {
        run.prepare(1);
        run.step(&mut ());
    }
    let stack = board::stack::high_water();
    run.prepare(1);
    meter::begin();
    run.step(&mut ());
    meter::end();
    meter::begin();
    run.step(&mut Marks);
    meter::end();
    run.step(&mut Names(model));
    stack
}

/// One region: [`CHUNK`] tokens at once.
#[inline(never)]
fn measure_pass(model: &'static Model<'static>, workspace: &mut Workspace, tokens: usize) {
    let mut run = workspace.begin(model, CHUNK);
    for _ in 0..tokens.div_ceil(CHUNK) {
        run.prepare(CHUNK);
        run.pass(|_| {});
    }
    run.prepare(CHUNK);
    meter::begin();
    run.pass(|_| {});
    meter::end();
}

/// Ends a region with each layer.
struct Marks;

impl Probe for Marks {
    fn layer(&mut self, _layer: Layer, _output: Output<'_>) {
        meter::end();
        meter::begin();
    }
}

/// Tells the layers in their order, with the products that each computes.
struct Names(&'static Model<'static>);

impl Probe for Names {
    fn layer(&mut self, layer: Layer, _output: Output<'_>) {
        let macs = macs(self.0, layer);
        match layer.block {
            Some(block) => board::say!("layer blocks.{}.{} {}", block, layer.part.name(), macs),
            None => board::say!("layer {} {}", layer.part.name(), macs),
        }
    }
}

/// Products of one token with weights, keys and values, all rings full.
fn macs(model: &Model, layer: Layer) -> usize {
    let Some(block) = layer.block.and_then(|block| model.blocks.get(block)) else {
        return match (layer.part, &model.embed) {
            (Part::Head, _) => model.head.macs(),
            (Part::Embed, Embed::Linear { linear, .. }) => linear.macs(),
            (Part::Embed, Embed::Convolution(stem)) => {
                stem.places * stem.convolution.macs()
                    + stem.depth_places * stem.depthwise.channels * stem.depthwise.taps
                    + stem.projection.macs()
            }
            _ => 0,
        };
    };
    let attention = &block.attention;
    match layer.part {
        Part::QueryKeyValue => attention.query_key_value.macs(),
        // Each query with each key, each weight with each value.
        Part::Mix => 2 * attention.window * attention.heads * attention.head_len,
        Part::AttentionOutput => attention.output.macs(),
        Part::Up => block.mlp.up.macs(),
        Part::Convolution => block.mlp.convolution.as_ref().map_or(0, |filter| filter.channels * filter.taps),
        Part::Down => block.mlp.down.macs(),
        _ => 0,
    }
}
