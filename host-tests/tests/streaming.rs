//! One token at a time, several at a time, the whole sequence: the same bits, also long after every ring has wrapped.

use host_tests::{
    fidelity::{pass_all, state, step_all},
    models::{self, Sequence},
    random::Random,
    shapes::{FOUR_BITS, SHAPES},
};
use microformer::model::Digest;
use microformer_bake::{Quantized, Tensor, Values};
use microformer_packed::Layout;

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

/// A model with 4-bit weights is the model with the same weights in 8 bits, bit for bit, in fewer bytes.
#[test]
fn four_bits_are_eight_bits_that_are_small() {
    let (_, json, bits) = FOUR_BITS;
    let pair = models::mixed_pair(json, 7, &bits);
    let mut widened = Quantized { config: pair.quantized.config.clone(), tensors: pair.quantized.tensors.clone() };
    let mut matrices = 0;
    for (name, tensor) in &mut widened.tensors {
        let Values::U8(bytes) = &tensor.values else { continue };
        let bias = &pair.quantized.tensors[&name.replace(".weight", ".bias")];
        let rows = bias.shape[0];
        let columns =
            if name.ends_with("mlp.down.weight") { pair.float.config.hidden } else { pair.float.config.width };
        let nibble = |row: usize, column: usize| bytes[row * tensor.shape[1] + column / 2] >> (4 * (column % 2)) & 15;
        let weights = (0..rows * columns).map(|place| nibble(place / columns, place % columns) as i8 - 8).collect();
        *tensor = Tensor { shape: vec![rows, columns], values: Values::I8(weights) };
        matrices += 1;
    }
    assert_eq!(matrices, 2 * 6 + 1, "both blocks and the head");
    let widened = widened.assemble(Layout::Plain).expect("the same model in 8 bits");
    let sequence = models::sequence(&pair.float.config, TOKENS, &mut Random::new(11));
    let steps = step_all(&pair.integer, &sequence, &mut ());
    assert_eq!(steps, step_all(&widened, &sequence, &mut ()));
    for chunk in [1, 3, 8] {
        assert_eq!(pass_all(&pair.integer, &sequence, chunk), steps, "{chunk} tokens at once");
    }
    let packed = |model: &microformer_packed::Model| model.blocks[0].mlp.up.packed.len();
    assert!(packed(pair.integer.model) < packed(widened.model));
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
