//! One layer: the only place that knows its order.

use bytemuck::cast_slice_mut;
use microformer_packed::{Activation, Block, Entry, LANES, Norm};

use super::attention::{Heads, Room};
use super::clock::{Clock, Turn};
use super::mlp::convolve;
use super::probe::{Layer, Output, Part, Probe};
use super::words::{Words, piece, piece_mut};
use crate::kernels::{LAYOUT, activate, linear, linear_add, norm, norm_stream, rescale};

/// Buffers for the tokens of one chunk, used by every block in turn.
pub struct Scratch<'s> {
    /// 8-bit input of a matrix: `(tokens, width)`.
    pub entry: &'s mut [i8],
    /// Queries, keys and values, then the hidden layer.
    pub wide: &'s mut [i8],
    /// What the heads mixed.
    pub mixed: &'s mut [i8],
    /// Rows of scores.
    pub rows: &'s mut [i16],
    pub expanded: &'s mut [u32],
}

/// A probe that knows which block it looks at.
pub struct Watch<'p, P> {
    pub probe: &'p mut P,
    pub block: Option<usize>,
}

impl<P: Probe> Watch<'_, P> {
    pub fn bytes(&mut self, part: Part, output: &[i8]) {
        self.probe.layer(Layer { block: self.block, part }, Output::Bytes(output));
    }

    pub fn halves(&mut self, part: Part, output: &[i16]) {
        self.probe.layer(Layer { block: self.block, part }, Output::Halves(output));
    }
}

/// Takes `tokens` tokens of the residual stream through one block.
pub fn run_block<P: Probe>(
    block: &Block,
    clock: &Clock,
    history: &mut Words<'_>,
    (stream, tokens): (&mut [i16], usize),
    scratch: &mut Scratch<'_>,
    watch: &mut Watch<'_, P>,
) {
    let attention = &block.attention;
    let width = attention.query_key_value.columns;
    debug_assert_eq!(stream.len(), tokens * width);

    enter(&block.attention_entry, (stream, tokens), scratch.entry, width);
    watch.bytes(Part::AttentionEntry, scratch.entry);
    let (projected, _) = split(scratch.wide, tokens * attention.query_key_value.rows);
    linear(&attention.query_key_value, scratch.entry, scratch.expanded, projected);
    watch.bytes(Part::QueryKeyValue, projected);
    let (mixed, _) = split(scratch.mixed, tokens * attention.output.columns);
    let rings = history.take(attention.ring_words(LAYOUT));
    let room = Room { rows: scratch.rows, expanded: scratch.expanded };
    let block_index = watch.block.unwrap_or(0);
    Heads { attention, block: block_index, rings, room, probe: watch.probe }.attend(clock.attention, projected, mixed);
    watch.bytes(Part::Mix, mixed);
    linear_add(&attention.output, mixed, scratch.expanded, stream);
    watch.halves(Part::AttentionOutput, stream);
    if let Some(exit) = &block.attention_exit {
        leave(exit, (stream, tokens), width);
        watch.halves(Part::AttentionExit, stream);
    }

    let mlp = &block.mlp;
    enter(&block.mlp_entry, (stream, tokens), scratch.entry, width);
    watch.bytes(Part::MlpEntry, scratch.entry);
    let (hidden, _) = split(scratch.wide, tokens * mlp.up.rows);
    linear(&mlp.up, scratch.entry, scratch.expanded, hidden);
    watch.bytes(Part::Up, hidden);
    if let Some(filter) = &mlp.convolution {
        let ring = cast_slice_mut(history.take(filter.taps * filter.channels / LANES));
        let mut turn: Turn = clock.convolution;
        for index in 0..tokens {
            convolve(filter, turn, ring, piece_mut(hidden, index, filter.channels));
            turn.advance(filter.taps);
        }
        watch.bytes(Part::Convolution, hidden);
    }
    if let Activation::Table(table) = mlp.activation {
        activate(table, hidden);
        watch.bytes(Part::Activation, hidden);
    }
    linear_add(&mlp.down, hidden, scratch.expanded, stream);
    watch.halves(Part::Down, stream);
    if let Some(exit) = &block.mlp_exit {
        leave(exit, (stream, tokens), width);
        watch.halves(Part::MlpExit, stream);
    }
}

/// Every token of the stream as 8-bit input.
pub fn enter(entry: &Entry, (stream, tokens): (&[i16], usize), output: &mut [i8], width: usize) {
    match entry {
        Entry::Norm(weights) => {
            for index in 0..tokens {
                norm(weights, piece(stream, index, width), piece_mut(output, index, width));
            }
        }
        Entry::Rescale { multiplier } => rescale(*multiplier, stream, output),
    }
}

fn leave(exit: &Norm, (stream, tokens): (&mut [i16], usize), width: usize) {
    for index in 0..tokens {
        norm_stream(exit, piece_mut(stream, index, width));
    }
}

/// The first `len` values and the rest, without a way to fail.
fn split(values: &mut [i8], len: usize) -> (&mut [i8], &mut [i8]) {
    debug_assert!(len <= values.len());
    values.split_at_mut(len.min(values.len()))
}
