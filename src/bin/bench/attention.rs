//! The parts of attention for one head of 16 values and 49 tokens: a whole causal pass, and single rows.

use core::hint::black_box;

use bytemuck::cast_slice_mut;
use microformer::arith::reciprocal;
use microformer::kernels::{Mixture, Scoring, fast, portable};
use microformer::packed::Mixing;

use crate::{Room, measured, scramble, scramble_i8};

const TOKENS: usize = 49;
const HEAD_LEN: usize = 16;

/// Words of a ring of values, with its slots made a multiple of four, and of the widest ring of keys.
const RING: usize = TOKENS.next_multiple_of(4) * HEAD_LEN / 4;
const KEYS: usize = 2 * RING;

type Scores = fn(&[i8], &mut [u32], &[u32], Scoring, &mut [i16]);
type ScoresThree = fn([&[i8]; 3], &mut [u32], &[u32], Scoring, &mut [i16]);
type Mix = fn(&mut [i16], Mixture, &[u32], &mut [i8]);

/// One way to compute attention.
struct Way {
    name: &'static str,
    store_key: fn(&mut [u32], usize, &[i8]),
    store_value: fn(&mut [u32], usize, &[i8]),
    scores: Scores,
    scores_three: ScoresThree,
    soften: fn(&mut [i16]) -> u32,
    mix: Mix,
}

const WAYS: [Way; 2] = [
    Way {
        name: "portable",
        store_key: portable::store_key,
        store_value: portable::store_value,
        scores: portable::scores,
        scores_three: portable::scores_three,
        soften: portable::soften,
        mix: portable::mix,
    },
    Way {
        name: "fast",
        store_key: fast::store_key,
        store_value: fast::store_value,
        scores: fast::scores,
        scores_three: fast::scores_three,
        soften: fast::soften,
        mix: fast::mix,
    },
];

/// A job on the ring in `input`, whose first word of `output` on belongs to it: how many products, and the run.
type Job = (&'static str, usize, fn(&mut Room, &Way));

const JOBS: [Job; 12] = [
    ("scores 49 x 49, head 16, causal", TOKENS * (TOKENS + 1) / 2 * HEAD_LEN, |room, way| {
        fill(room, KEYS, way.store_key);
        let queries: [Vector; TOKENS] = black_box(core::array::from_fn(|token| vector(1000 + token)));
        measured!(
            room,
            for (token, query) in queries.iter().enumerate() {
                let row: &mut [i16] = &mut cast_slice_mut(&mut room.output)[..PADDED];
                (way.scores)(&query.0, &mut room.expanded, &room.input[..KEYS], filled(token + 1), row);
            }
        );
        keep(room, 1, TOKENS);
    }),
    ("scores 49 x 49, head 16, three queries at a time", TOKENS * TOKENS * HEAD_LEN, |room, way| {
        fill(room, KEYS, way.store_key);
        // All queries at the end of the ring: nothing of the square is left out.
        measured!(
            room,
            for token in (0..TOKENS).step_by(3) {
                three_rows(room, way, (token, TOKENS - 3));
            }
        );
        keep(room, 3, TOKENS - 2);
    }),
    ("scores 49 x 49, head 16, causal, three at a time", TOKENS * (TOKENS + 1) / 2 * HEAD_LEN, |room, way| {
        fill(room, KEYS, way.store_key);
        measured!(
            room,
            for token in (0..TOKENS).step_by(3) {
                three_rows(room, way, (token, token));
            }
        );
        keep(room, 3, TOKENS - 3);
    }),
    ("scores, a row of 49, head 16", TOKENS * HEAD_LEN, |room, way| {
        fill(room, KEYS, way.store_key);
        let query = black_box(vector(1000));
        let row: &mut [i16] = &mut cast_slice_mut(&mut room.output)[..PADDED];
        measured!(room, (way.scores)(&query.0, &mut room.expanded, &room.input[..KEYS], filled(TOKENS), row));
        keep(room, 1, TOKENS);
    }),
    ("scores, a row of 49 that has gone round, head 16", TOKENS * HEAD_LEN, |room, way| {
        fill(room, KEYS, way.store_key);
        let query = black_box(vector(1000));
        let row: &mut [i16] = &mut cast_slice_mut(&mut room.output)[..PADDED];
        let scoring = black_box(Scoring { newest: 21, ..filled(TOKENS) });
        measured!(room, (way.scores)(&query.0, &mut room.expanded, &room.input[..KEYS], scoring, row));
        keep(room, 1, TOKENS);
    }),
    ("scores, a row of 48, head 16", (TOKENS - 1) * HEAD_LEN, |room, way| {
        fill(room, KEYS, way.store_key);
        let query = black_box(vector(1000));
        let row: &mut [i16] = &mut cast_slice_mut(&mut room.output)[..PADDED];
        measured!(room, (way.scores)(&query.0, &mut room.expanded, &room.input[..KEYS], filled(TOKENS - 1), row));
    }),
    ("softmax, a row of 49, unnormalised", 0, |room, way| {
        room.output.fill(0);
        let row = fill_row(&mut room.output);
        measured!(room, (way.soften)(row));
    }),
    ("softmax, a row of 49, and the multiplier that normalises its mix", 0, |room, way| {
        room.output.fill(0);
        let row = fill_row(&mut room.output);
        let mixing = black_box(Mixing { ratio: 1 << 30, exponent: 1 });
        let multiplier = measured!(room, reciprocal((way.soften)(row), mixing));
        room.output[TOKENS] = multiplier as u32;
    }),
    ("mix 49 x 49, head 16, causal", TOKENS * (TOKENS + 1) / 2 * HEAD_LEN, |room, way| {
        fill(room, RING, way.store_value);
        let (rows, _) = black_box(cast_slice_mut::<u32, i16>(&mut room.rows)).as_chunks_mut::<PADDED>();
        rows.fill(Row::fill().0);
        let sums = black_box(core::array::from_fn::<_, TOKENS, _>(|newest| sum(&rows[newest][..=newest])));
        let (results, _) = cast_slice_mut::<u32, i8>(&mut room.output).as_chunks_mut::<HEAD_LEN>();
        measured!(
            room,
            for (((filled, result), row), &sum) in (1..=TOKENS).zip(results).zip(rows).zip(&sums) {
                (way.mix)(row, Mixture { filled, sum, multiplier: 5000 }, &room.input[..RING], result);
            }
        );
    }),
    ("mix, a row of 49, head 16", TOKENS * HEAD_LEN, |room, way| {
        fill(room, RING, way.store_value);
        let mut row = black_box(Row::fill());
        let result: &mut [i8] = &mut cast_slice_mut(&mut room.output)[..HEAD_LEN];
        let sum = black_box(sum(&row.0[..TOKENS]));
        let mixture = Mixture { filled: TOKENS, sum, multiplier: 5000 };
        measured!(room, (way.mix)(&mut row.0, mixture, &room.input[..RING], result));
    }),
    ("store a key, head 16", 0, |room, way| {
        fill(room, KEYS, way.store_key);
        room.output.fill(0);
        let key = black_box(vector(1000));
        measured!(room, (way.store_key)(&mut room.input[..KEYS], 5, &key.0));
    }),
    ("store a value, head 16", 0, |room, way| {
        fill(room, RING, way.store_value);
        room.output.fill(0);
        let value = black_box(vector(1000));
        measured!(room, (way.store_value)(&mut room.input[..RING], 5, &value.0));
    }),
];

/// What `soften` would return of these weights.
fn sum(weights: &[i16]) -> u32 {
    weights.iter().map(|&weight| weight as u32).sum()
}

/// A ring of so many keys that has not gone round.
fn filled(filled: usize) -> Scoring {
    black_box(Scoring { multiplier: 1 << 19, slope: 1000, newest: filled - 1, filled })
}

/// Forgets what the rows hold behind their keys, of which ways may leave anything.
fn keep(room: &mut Room, rows: usize, filled: usize) {
    for (index, row) in cast_slice_mut::<u32, i16>(&mut room.output).chunks_exact_mut(PADDED).take(rows).enumerate() {
        row[(filled + index).min(TOKENS)..].fill(0);
    }
}

/// Keys made a multiple of four.
const PADDED: usize = TOKENS.next_multiple_of(4);

/// Three queries on a word's border.
#[repr(align(4))]
struct Queries([i8; 3 * HEAD_LEN]);

static QUERIES: Queries = {
    let mut values = [0; 3 * HEAD_LEN];
    let mut index = 0;
    while index < values.len() {
        values[index] = scramble_i8(5000 + index as u32);
        index += 1;
    }
    Queries(values)
};

/// Rows start on a word.
#[repr(align(4))]
struct Row([i16; PADDED]);

impl Row {
    fn fill() -> Self {
        Self(core::array::from_fn(|index| (scramble(index as u32) >> 17) as i16))
    }
}

/// Rows of three queries from the slot `newest` on; of the last token there is only one.
fn three_rows(room: &mut Room, way: &Way, (token, newest): (usize, usize)) {
    let queries = [&QUERIES.0[..HEAD_LEN], &QUERIES.0[HEAD_LEN..2 * HEAD_LEN], &QUERIES.0[2 * HEAD_LEN..]];
    let rows: &mut [i16] = &mut cast_slice_mut(&mut room.output)[..3 * PADDED];
    if token + 3 > TOKENS {
        let row = &mut rows[..PADDED];
        return (way.scores)(queries[0], &mut room.expanded, &room.input[..KEYS], filled(TOKENS), row);
    }
    (way.scores_three)(queries, &mut room.expanded, &room.input[..KEYS], filled(newest + 1), rows);
}

pub fn measure(room: &mut Room) {
    for (job, macs, run) in JOBS {
        let [expected, found] = WAYS.each_ref().map(|way| {
            run(room, way);
            room.report(job, way.name, macs)
        });
        room.differences += u32::from(expected != found);
    }
}

fn fill(room: &mut Room, words: usize, store: fn(&mut [u32], usize, &[i8])) {
    room.input.fill(0);
    for token in 0..TOKENS {
        store(&mut room.input[..words], token, &vector(token).0);
    }
    room.output.fill(0);
}

/// Scores as a model has them: within some 8 natural-logarithm units.
fn fill_row(output: &mut [u32]) -> &mut [i16] {
    let row: &mut [i16] = &mut cast_slice_mut(output)[..TOKENS];
    for (index, score) in row.iter_mut().enumerate() {
        *score = (scramble(index as u32) >> 22) as i16;
    }
    row
}

/// A key, value or query on a word's border.
#[derive(Clone, Copy)]
#[repr(align(4))]
struct Vector([i8; HEAD_LEN]);

fn vector(token: usize) -> Vector {
    Vector(core::array::from_fn(|lane| scramble_i8((token * HEAD_LEN + lane) as u32)))
}
