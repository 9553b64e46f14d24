//! One token at a time, several at a time, the whole sequence: the same bits, also long after every ring has wrapped.

use host_tests::{
    fidelity::{pass_all, state, step_all},
    models::{self, Sequence},
    random::Random,
    shapes::SHAPES,
};
use microformer::model::Digest;

/// Tokens: many times round every ring of the shapes.
const TOKENS: usize = 250;

#[test]
fn a_pass_equals_its_steps() {
    for (name, json) in SHAPES {
        let pair = models::pair(json, 7);
        let sequence = models::sequence(&pair.float.config, TOKENS, &mut Random::new(11));
        let steps = step_all(&pair.integer, &sequence, &mut ());
        assert_eq!(steps.len(), TOKENS);
        for chunk in [1, 2, 3, 4, 8, TOKENS] {
            assert_eq!(pass_all(&pair.integer, &sequence, chunk), steps, "{name}, {chunk} tokens at once");
        }
    }
}

#[test]
fn the_digest_of_every_layer_is_the_same_twice() {
    let pair = models::pair(SHAPES[0].1, 7);
    let sequence = models::sequence(&pair.float.config, TOKENS, &mut Random::new(11));
    let (mut first, mut second) = (Digest::<64>::new(), Digest::<64>::new());
    step_all(&pair.integer, &sequence, &mut first);
    step_all(&pair.integer, &sequence, &mut second);
    assert_eq!(first.layers(), second.layers());
    let names: Vec<_> = first.layers().iter().map(|(layer, _)| layer.to_string()).collect();
    assert_eq!(names.first().map(String::as_str), Some("embed"));
    assert!(names.contains(&"blocks.1.attention.mix".to_owned()), "{names:?}");
}

/// What lies outside every window is forgotten: two pasts that differ only there end in the same bits.
#[test]
fn the_far_past_is_forgotten() {
    for (name, json) in SHAPES {
        let pair = models::pair(json, 7);
        let config = &pair.float.config;
        // Positions, and a mean over everything, never forget.
        if config.context > 0 {
            continue;
        }
        let reach = config.blocks * (config.window + config.convolution) + 64;
        let past = |seed| models::sequence(config, 40, &mut Random::new(seed));
        let present = models::sequence(config, reach + 10, &mut Random::new(3));
        let after = |past: Sequence| step_all(&pair.integer, &join(past, &present), &mut ()).pop();
        assert_eq!(after(past(1)), after(past(2)), "{name}");
    }
}

#[test]
fn a_reset_forgets_everything() {
    let pair = models::pair(SHAPES[4].1, 7);
    let (model, features) = (pair.integer.model, pair.float.config.features());
    let mut random = Random::new(5);
    let frames: Vec<i8> = (0..features * 40).map(|_| random.byte()).collect();
    let run = |state: &mut microformer::model::State<Vec<u32>>| {
        frames
            .chunks_exact(features)
            .filter_map(|frame| state.step(model, frame).map(<[i16]>::to_vec))
            .collect::<Vec<_>>()
    };
    let mut state = state(&pair.integer, 1);
    let first = run(&mut state);
    assert_ne!(run(&mut state), first, "a state that remembers says something else the second time");
    state.reset();
    assert_eq!(run(&mut state), first);
}

fn join(past: Sequence, present: &Sequence) -> Sequence {
    match (past, present) {
        (Sequence::Features(mut past), Sequence::Features(present)) => {
            past.values.extend_from_slice(&present.values);
            past.rows += present.rows;
            Sequence::Features(past)
        }
        (Sequence::Tokens(mut past), Sequence::Tokens(present)) => {
            past.extend_from_slice(present);
            Sequence::Tokens(past)
        }
        _ => unreachable!("both come from one model"),
    }
}
