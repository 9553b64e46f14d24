//! What one token costs: steps the model that its argument names, and tells its memory. The instructions between the
//! marks are counted from outside, by counter/: first a whole step, then the same step layer by layer.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

mod baked;
#[path = "../board/mod.rs"]
mod board;

use baked::Workspace;
use board::meter;
use microformer::model::{Layer, Output, Probe};
use microformer::packed::{Memory, Model};

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
    let mut run = workspace.begin(model, 1);
    // With full rings a step costs what it costs for ever.
    let tokens = model.blocks.iter().map(|block| block.attention.window).max().unwrap_or(0) + 1;
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
    run.step(&mut Names);
    board::say!("state {} bytes", 4 * Memory::of(model, 1).words());
    board::say!("stack {} bytes", stack);
}

/// Ends a region with each layer.
struct Marks;

impl Probe for Marks {
    fn layer(&mut self, _layer: Layer, _output: Output<'_>) {
        meter::end();
        meter::begin();
    }
}

/// Tells the layers in their order.
struct Names;

impl Probe for Names {
    fn layer(&mut self, layer: Layer, _output: Output<'_>) {
        match layer.block {
            Some(block) => board::say!("layer blocks.{}.{}", block, layer.part.name()),
            None => board::say!("layer {}", layer.part.name()),
        }
    }
}
