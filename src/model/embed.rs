//! Frame or token → the first vector of the residual stream.

use heapless::Vec;
use microformer_packed::{Embed, MAX_TAPS, Model, Stem, padded};

use super::clock::Clock;
use super::words::Words;
use crate::kernels::{depthwise, linear, linear_add, relu};

/// Takes a frame in; at the end of a stride, writes the token's vector to `stream` and returns true.
///
/// `scratch` is free for use and holds nothing afterwards.
pub fn embed(
    model: &Model,
    clock: &mut Clock,
    history: &mut Words<'_>,
    input: &[i8],
    (scratch, stream): (&mut [u32], &mut [i16]),
) -> bool {
    match &model.embed {
        Embed::Linear { features, frames, linear, .. } => {
            let patch = history.bytes(linear.columns);
            shift_in(patch, *features, *frames, input);
            if !stride_complete(model, clock) {
                return false;
            }
            start(model, clock, stream);
            linear_add(linear, patch, scratch, stream);
        }
        Embed::Table { .. } => return false,
        Embed::Convolution(stem) => {
            let frames = history.bytes(4 * stem.frame_words());
            let tokens = history.bytes(4 * stem.depth_words());
            shift_in(frames, stem.features, stem.frames, input);
            if !stride_complete(model, clock) {
                return false;
            }
            start(model, clock, stream);
            convolve(stem, clock, frames, tokens, (scratch, stream));
        }
    }
    clock.advance_embed(model);
    true
}

/// Writes a token's row of the table to `stream`. A token beyond the table counts as the last one.
pub fn embed_token(model: &Model, clock: &mut Clock, token: usize, stream: &mut [i16]) {
    start(model, clock, stream);
    if let Embed::Table { rows } = &model.embed {
        let width = padded(model.width);
        let token = token.min(model.vocabulary().saturating_sub(1));
        if let Some(row) = rows.chunks_exact(width.max(1)).nth(token) {
            for (value, &entry) in stream.iter_mut().zip(row) {
                *value = value.saturating_add(entry);
            }
        }
    }
    clock.advance_embed(model);
}

/// The position's row, or zeros.
fn start(model: &Model, clock: &Clock, stream: &mut [i16]) {
    match model.positions.chunks_exact(padded(model.width).max(1)).nth(clock.position) {
        Some(row) => stream.iter_mut().zip(row).for_each(|(value, &entry)| *value = entry),
        None => stream.fill(0),
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
    place.iter_mut().zip(newest).for_each(|(value, &new)| *value = new);
}

fn stride_complete(model: &Model, clock: &mut Clock) -> bool {
    clock.frame += 1;
    let complete = clock.frame >= model.stride();
    if complete {
        clock.frame = 0;
    }
    complete
}

/// Convolution at every place, depthwise convolution over the last tokens, projection to the stream.
fn convolve(stem: &Stem, clock: &Clock, frames: &[i8], tokens: &mut [i8], (scratch, stream): (&mut [u32], &mut [i16])) {
    let mut scratch = Words(scratch);
    let patches = scratch.bytes(stem.places * stem.patch());
    let convolved = scratch.bytes(stem.projection.columns);
    let expanded = scratch.0;

    for (place, patch) in patches.chunks_exact_mut(stem.patch().max(1)).enumerate() {
        gather(stem, frames, place * stem.hop, patch);
    }
    let token_len = stem.places * stem.channels();
    if let Some(newest) = tokens.chunks_exact_mut(token_len.max(1)).nth(clock.stem.slot) {
        linear(&stem.convolution, patches, expanded, newest);
        relu(newest);
    }

    let (places, _) = convolved.split_at_mut((stem.depth_places * stem.channels()).min(convolved.len()));
    for (place, output) in places.chunks_exact_mut(stem.channels().max(1)).enumerate() {
        let mut taps = Vec::<&[i8], MAX_TAPS>::new();
        for age in 1..=stem.depth_tokens {
            // The slot after the newest is the oldest.
            let slot = clock.stem.slot + age;
            let slot = if slot < stem.depth_tokens { slot } else { slot - stem.depth_tokens };
            let token = tokens.chunks_exact(token_len.max(1)).nth(slot).unwrap_or(&[]);
            for offset in 0..stem.depth_kernel {
                // Places before the first and after the last are zeros: an empty tap.
                let tap = (place * stem.depth_hop + offset)
                    .checked_sub(stem.depth_padding)
                    .and_then(|place| token.chunks_exact(stem.channels().max(1)).nth(place))
                    .unwrap_or(&[]);
                let _ = taps.push(tap);
            }
        }
        depthwise(&stem.depthwise, &taps, output);
    }
    linear_add(&stem.projection, convolved, expanded, stream);
}

/// The values of every frame under the kernel at `start`, counted from the first zero of padding, oldest frame first.
fn gather(stem: &Stem, frames: &[i8], start: usize, patch: &mut [i8]) {
    let rows = frames.chunks_exact(stem.features.max(1)).take(stem.frames);
    // The zeros before the first value and after the last; at most places there are none.
    let before = stem.padding.saturating_sub(start).min(stem.kernel);
    let first = start.saturating_sub(stem.padding);
    for (row, values) in rows.zip(patch.chunks_mut(stem.kernel.max(1))) {
        let (zeros, values) = values.split_at_mut(before.min(values.len()));
        zeros.fill(0);
        let inside = row.get(first..).unwrap_or_default();
        let (values, zeros) = values.split_at_mut(values.len().min(inside.len()));
        values.iter_mut().zip(inside).for_each(|(value, &feature)| *value = feature);
        zeros.fill(0);
    }
}
