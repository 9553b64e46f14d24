//! The integer model on real input, and how far its scores are from the float model's.

use microformer::model::{Probe, State};
use microformer_bake::{Assembled, Matrix};
use microformer_packed::Memory;

use crate::models::{Pair, Sequence};

/// A state for `model` on the heap.
#[must_use]
pub fn state(model: &Assembled, chunk: usize) -> State<Vec<u32>> {
    State::with_words(model.model, chunk, vec![0; Memory::of(model.model, chunk).words()])
}

/// Frames as the chip gets them.
#[must_use]
pub fn quantize_frames(model: &Assembled, frames: &Matrix) -> Vec<i8> {
    let scale = |index: usize| f64::from(model.input_scales[index % frames.columns]);
    frames
        .values
        .iter()
        .enumerate()
        .map(|(index, value)| (value / scale(index)).round().clamp(-127.0, 127.0) as i8)
        .collect()
}

/// The scores after every token, one step at a time.
pub fn step_all<P: Probe>(model: &Assembled, sequence: &Sequence, probe: &mut P) -> Vec<Vec<i16>> {
    let mut state = state(model, 1);
    match sequence {
        Sequence::Tokens(tokens) => {
            tokens.iter().map(|&token| state.step_token_probed(model.model, token, probe).to_vec()).collect()
        }
        Sequence::Features(frames) => quantize_frames(model, frames)
            .chunks_exact(frames.columns)
            .filter_map(|frame| state.step_probed(model.model, frame, probe).map(<[i16]>::to_vec))
            .collect(),
    }
}

/// The scores after every token, `chunk` tokens through each layer at once.
#[must_use]
pub fn pass_all(model: &Assembled, sequence: &Sequence, chunk: usize) -> Vec<Vec<i16>> {
    let mut state = state(model, chunk);
    let mut all = Vec::new();
    let each = |scores: &[i16]| all.push(scores.to_vec());
    match sequence {
        Sequence::Tokens(tokens) => {
            let tokens: Vec<u16> = tokens.iter().map(|&token| token as u16).collect();
            state.pass_tokens(model.model, &tokens, each);
        }
        Sequence::Features(frames) => state.pass(model.model, &quantize_frames(model, frames), each),
    }
    all
}

/// Signal-to-quantisation-noise ratio of the pooled scores, in decibels.
///
/// # Panics
/// When the sequences do not fit the model.
#[must_use]
pub fn score_sqnr(pair: &Pair, sequences: &[Sequence]) -> f64 {
    let unit = f64::from(pair.integer.model.score_fraction_bits).exp2();
    let (mut signal, mut noise) = (0.0, 0.0);
    for sequence in sequences {
        let scores = reference::forward(&pair.float, sequence.input(), &mut |_, _| ()).expect("input that fits");
        let scores = reference::pool(pair.float.config.pool, &scores);
        for (token, integer) in step_all(&pair.integer, sequence, &mut ()).iter().enumerate() {
            for (&integer, &float) in integer.iter().zip(scores.row(token)) {
                signal += float * float;
                noise += (f64::from(integer) / unit - float).powi(2);
            }
        }
    }
    10.0 * (signal / noise).log10()
}
