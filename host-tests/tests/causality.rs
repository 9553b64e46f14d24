//! Changing the future leaves the past untouched, bit for bit, and changing the present changes it.

use host_tests::{
    fidelity::{pass_all, step_all},
    models::{self, Sequence},
    random::Random,
    shapes::SHAPES,
};

const TOKENS: usize = 60;
const CHANGED: usize = 30;

#[test]
fn the_future_cannot_be_seen() {
    for (name, json) in SHAPES {
        let pair = models::pair(json, 21);
        let original = models::sequence(&pair.float.config, TOKENS, &mut Random::new(1));
        let other = models::sequence(&pair.float.config, TOKENS, &mut Random::new(2));
        let changed = splice(&original, &other, pair.float.config.stride());
        for (way, run) in [("steps", 1), ("a pass", 8)] {
            let before = pass_all(&pair.integer, &original, run);
            let after = pass_all(&pair.integer, &changed, run);
            assert_eq!(before[..CHANGED], after[..CHANGED], "{name}, {way}: the future was seen");
            assert_ne!(before[CHANGED..], after[CHANGED..], "{name}, {way}: the present was not");
        }
        assert_eq!(step_all(&pair.integer, &changed, &mut ()), pass_all(&pair.integer, &changed, 8), "{name}");
    }
}

/// `original` up to the changed token, `other` from there on.
fn splice(original: &Sequence, other: &Sequence, stride: usize) -> Sequence {
    match (original, other) {
        (Sequence::Features(original), Sequence::Features(other)) => {
            let mut frames = original.clone();
            let start = CHANGED * stride * frames.columns;
            frames.values[start..].copy_from_slice(&other.values[start..]);
            Sequence::Features(frames)
        }
        (Sequence::Tokens(original), Sequence::Tokens(other)) => {
            Sequence::Tokens(original[..CHANGED].iter().chain(&other[CHANGED..]).copied().collect())
        }
        _ => unreachable!("both come from one model"),
    }
}
