//! Runs every baked model on a fixed pseudo-random input and prints a digest of all that each layer wrote, one line a
//! layer. The same program runs on a laptop: where a line differs, that layer computes other bits here.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

mod baked;
#[path = "../board/mod.rs"]
mod board;
mod front_end {
    include!(concat!(env!("OUT_DIR"), "/front_end.rs"));
}

use baked::{CHUNK, SEQUENCE, Workspace};
use microformer::model::Digest;
use microformer::packed::Model;

board::program!(run);

/// Tokens through each model: round every ring of the shapes several times.
const TOKENS: usize = 120;
/// Layers of the deepest model: embed, norm, head, pool, and eleven in each block.
const LAYERS: usize = 4 + baked::DEEPEST * 11;

fn run() -> Result<(), &'static str> {
    #[allow(unused_variables)]
    let workspace = Workspace::take()?;
    macro_rules! compare {
        ($module:ident, $name:literal) => {
            step_through($name, &baked::$module::MODEL, workspace);
            pass_through($name, &baked::$module::MODEL, workspace);
        };
    }
    baked::for_each_model!(compare);
    listen()
}

/// The front end with all its stages, on loud and quiet noise, in pieces so small that they fit the smallest stack.
fn listen() -> Result<(), &'static str> {
    const PIECES: usize = 480;
    const PIECE: usize = 20;
    let state = board::once!(: front_end::FrontEndState = front_end::FrontEndState::new())
        .ok_or("the front end is taken twice")?;
    let mut features = [0; front_end::FRONT_END.filterbank.channels()];
    let (mut digest, mut noise) = (0u32, 1u32);
    for piece in 0..PIECES {
        let samples: [i16; PIECE] = core::array::from_fn(|_| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise as i32 >> 16 >> (piece / 8 % 16)) as i16
        });
        let mut samples = samples.as_slice();
        while state.process(&front_end::FRONT_END, &mut samples, &mut features) {
            for &feature in &features {
                digest = digest.rotate_left(5).wrapping_mul(0x9e37_79b1) ^ u32::from(feature);
            }
        }
    }
    board::say!("front end: features {:08x}", digest);
    Ok(())
}

/// One token at a time.
fn step_through(name: &str, model: &'static Model<'static>, workspace: &mut Workspace) {
    let mut digest = Digest::<LAYERS>::new();
    let mut run = workspace.begin(model, 1);
    for _ in 0..TOKENS {
        run.prepare(1);
        run.step(&mut digest);
    }
    for (layer, digest) in digest.layers() {
        match layer.block {
            Some(block) => board::say!("{}: blocks.{}.{} {:08x}", name, block, layer.part.name(), digest),
            None => board::say!("{}: {} {:08x}", name, layer.part.name(), digest),
        }
    }
}

/// Several tokens at once: the scores alone.
fn pass_through(name: &str, model: &'static Model<'static>, workspace: &mut Workspace) {
    let mut digest = 0u32;
    let mut run = workspace.begin(model, CHUNK);
    let mut eat = |scores: &[i16]| {
        for &score in scores {
            digest = digest.rotate_left(5).wrapping_mul(0x9e37_79b1) ^ u32::from(score as u16);
        }
    };
    for _ in 0..TOKENS.div_ceil(SEQUENCE) {
        run.prepare(SEQUENCE);
        run.pass(SEQUENCE, &mut eat, &mut ());
    }
    board::say!("{}: pass {:08x}", name, digest);
}
