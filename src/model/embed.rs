//! Frame or token → the first vector of the residual stream.
//!
//! What the embedding's matrix takes is made token by token; then the matrix takes all tokens of a chunk at once.

use heapless::Vec;
use microformer_packed::{Embed, MAX_TAPS, Model, Stem, padded};

use super::clock::Clock;
use super::words::{Words, copy, piece};
use crate::kernels::{depthwise, linear_add, linear_overlapping, relu};

/// Takes a frame in; at the end of a stride, writes what the embedding's matrix takes to `input`, the position's row to
/// `stream`, and returns true.
///
/// `scratch` is free for use and holds nothing afterwards.
pub fn take_frame(
    model: &Model,
    clock: &mut Clock,
    history: &mut Words<'_>,
    frame: &[i8],
    (scratch, input, stream): (&mut [u32], &mut [i8], &mut [i16]),
) -> bool {
    match &model.embed {
        Embed::Linear { features, frames, linear, .. } => {
            let patch = history.bytes(linear.columns);
            shift_in(patch, *features, *frames, frame);
            if !stride_complete(model, clock) {
                return false;
            }
            copy(patch, input);
        }
        Embed::Table { .. } => return false,
        Embed::Convolution(stem) => {
            let frames = history.bytes(4 * stem.frame_words());
            let tokens = history.bytes(4 * stem.depth_words());
            let start = clock.frames.slot * stem.features;
            copy(frame, frames.get_mut(start..start + stem.features).unwrap_or_default());
            clock.frames.advance(stem.frames);
            if !stride_complete(model, clock) {
                return false;
            }
            convolve(stem, clock, frames, tokens, (scratch, input));
        }
    }
    start(model, clock, stream);
    clock.advance_embed(model);
    true
}

/// Adds the inputs of all tokens of a chunk to the stream.
pub fn project(model: &Model, inputs: &[i8], expanded: &mut [u32], stream: &mut [i16]) {
    if let Some(projection) = model.embed.projection() {
        linear_add(projection, inputs, expanded, stream);
    }
}

/// Writes a token's row of the table to `stream`. A token beyond the table counts as the last one.
pub fn embed_token(model: &Model, clock: &mut Clock, token: usize, stream: &mut [i16]) {
    start(model, clock, stream);
    if let Embed::Table { rows } = &model.embed {
        let width = padded(model.width);
        let token = token.min(model.vocabulary().saturating_sub(1));
        for (value, &entry) in stream.iter_mut().zip(piece(rows, token, width)) {
            *value = value.saturating_add(entry);
        }
    }
    clock.advance_embed(model);
}

/// The position's row, or zeros.
fn start(model: &Model, clock: &Clock, stream: &mut [i16]) {
    match piece(model.positions, clock.position, padded(model.width)) {
        [] => stream.fill(0),
        row => stream.iter_mut().zip(row).for_each(|(value, &entry)| *value = entry),
    }
}

/// Moves the frames on by one and puts the newest last.
fn shift_in(frames: &mut [i8], features: usize, count: usize, newest: &[i8]) {
    debug_assert_eq!(newest.len(), features, "values in a frame");
    let used = frames.len().min(features * count);
    let (frames, _) = frames.split_at_mut(used);
    let features = features.min(used);
    frames.copy_within(features.., 0);
    let (_, place) = frames.split_at_mut(used - features);
    copy(newest, place);
}

fn stride_complete(model: &Model, clock: &mut Clock) -> bool {
    clock.frame += 1;
    let complete = clock.frame >= model.stride();
    if complete {
        clock.frame = 0;
    }
    complete
}

/// Convolution at every place, then depthwise convolution over the last tokens into `convolved`.
fn convolve(
    stem: &Stem,
    clock: &Clock,
    frames: &[i8],
    tokens: &mut [i8],
    (scratch, convolved): (&mut [u32], &mut [i8]),
) {
    let mut scratch = Words(scratch);
    let side_by_side = scratch.bytes(stem.spread_len());
    spread(stem, frames, clock.frames.slot, side_by_side);
    let channels = stem.channels();
    let token_len = stem.ring_places() * channels;
    let first = clock.stem.slot * token_len + stem.depth_padding * channels;
    let newest = tokens.get_mut(first..first + stem.places * channels).unwrap_or_default();
    linear_overlapping(&stem.convolution, side_by_side, stem.hop * stem.column, scratch.0, newest);
    relu(newest);

    let mut taps = Vec::<&[i8], MAX_TAPS>::new();
    for age in 1..=stem.depth_tokens {
        // The slot after the newest is the oldest.
        let slot = clock.stem.slot + age;
        let slot = if slot < stem.depth_tokens { slot } else { slot - stem.depth_tokens };
        for offset in 0..stem.depth_kernel {
            let token = slot * token_len..(slot + 1) * token_len;
            let _ = taps.push(tokens.get(token.start + offset * channels..token.end).unwrap_or_default());
        }
    }
    depthwise(&stem.depthwise, &taps, stem.depth_hop * channels, convolved);
}

/// All frames under the kernel, the oldest first, beside each other: `(padding and features, column)`, so that the patch
/// of every place lies there as one piece.
fn spread(stem: &Stem, frames: &[i8], oldest: usize, output: &mut [i8]) {
    output.fill(0);
    for age in 0..stem.frames {
        let slot = if oldest + age < stem.frames { oldest + age } else { oldest + age - stem.frames };
        let frame = frames.get(slot * stem.features..(slot + 1) * stem.features).unwrap_or_default();
        let columns = output.get_mut(stem.padding * stem.column..).unwrap_or_default();
        for (column, &feature) in columns.chunks_exact_mut(stem.column.max(1)).zip(frame) {
            if let Some(value) = column.get_mut(age) {
                *value = feature;
            }
        }
    }
}
