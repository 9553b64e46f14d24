//! Scores → the next token, and so a text: the likeliest token, or one drawn with a temperature from the k likeliest.
//!
//! Integers only: the same seed gives the same text on every machine.

mod random;
mod sampler;

pub use random::Random;
pub use sampler::{Sampler, Sampling};

use crate::model::State;
use microformer_packed::Model;

/// Takes `prompt` in, then lets the model go on by itself for `count` tokens; `each` sees every token that it adds.
///
/// Nothing is added to an empty prompt: a model that has seen nothing has no scores.
///
/// ```
/// use microformer::generate::{Sampler, Sampling};
/// let sampling = Sampling { temperature_milli: 800, top_k: 2, seed: 1 };
/// let mut sampler = Sampler::new(&sampling, 8); // scores in units of 1/256
/// assert!([0, 2].contains(&sampler.choose(&[300, -5000, 310, -200])));
/// ```
pub fn generate<S: AsMut<[u32]>>(
    state: &mut State<S>,
    model: &Model,
    prompt: impl Iterator<Item = usize>,
    count: usize,
    sampler: &mut Sampler,
    mut each: impl FnMut(usize),
) {
    let mut next = None;
    for token in prompt {
        next = Some(sampler.choose(state.step_token(model, token)));
    }
    for _ in 0..count {
        let Some(token) = next else { return };
        each(token);
        next = Some(sampler.choose(state.step_token(model, token)));
    }
}
