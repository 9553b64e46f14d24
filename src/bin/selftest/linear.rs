//! Matrices of random shapes: the same weights packed for the portable and for the fast kernel, and both run.

use bytemuck::{cast_slice, cast_slice_mut};
use microformer::kernels::{LAYOUT, fast, linear, linear_add, linear_overlapping, portable};
use microformer::packed::{Bits, FOUR_LIMIT, Linear, Row, pack_four, pack_linear};

use crate::Room;
use crate::random::Random;

/// The largest multiplier that `bake` lets pass; none is negative.
const LARGEST: i32 = (127 << 24) - 1;

/// A matrix and as many tokens as the room holds.
struct Shape {
    rows: usize,
    columns: usize,
    tokens: usize,
}

impl Shape {
    fn draw(random: &mut Random, room: &Room) -> Self {
        let columns = 4 * if random.below(3) == 0 { random.between(1, 128) } else { random.between(1, 20) };
        let rows = 4 * random.between(1, (room.weights.len() / columns / 4).min(8));
        let bytes = 4 * room.input.len() / columns.max(2 * rows);
        let expanded = 2 * room.expanded.len() / columns;
        Self { rows, columns, tokens: random.between(1, 7.min(bytes).min(expanded)) }
    }
}

pub fn linear_case(random: &mut Random, room: &mut Room) -> bool {
    let shape = fill(random, room);
    let (plain, packed) = matrices(&shape, &room.plain, &room.packed);
    let input: &[i8] = &cast_slice(&room.input)[..shape.tokens * shape.columns];
    let expected: &mut [i8] = &mut cast_slice_mut(&mut room.expected)[..shape.tokens * shape.rows];
    let output: &mut [i8] = &mut cast_slice_mut(&mut room.output)[..shape.tokens * shape.rows];
    portable::linear(&plain, input, &mut [], expected);
    fast::linear(&packed, input, expanded_room(&shape, &mut room.expanded), output);
    room.output == room.expected
}

/// Tokens that begin a few words after each other, or as far apart as they are long.
pub fn linear_overlapping_case(random: &mut Random, room: &mut Room) -> bool {
    let shape = fill(random, room);
    let (plain, packed) = matrices(&shape, &room.plain, &room.packed);
    let input: &[i8] = cast_slice(&room.input);
    let hop = 4 * random.between(1, shape.columns / 4);
    let expected: &mut [i8] = &mut cast_slice_mut(&mut room.expected)[..shape.tokens * shape.rows];
    for (token, results) in expected.chunks_exact_mut(shape.rows).enumerate() {
        portable::linear(&plain, &input[token * hop..][..shape.columns], &mut [], results);
    }
    let output: &mut [i8] = &mut cast_slice_mut(&mut room.output)[..shape.tokens * shape.rows];
    linear_overlapping(&packed, input, hop, expanded_room(&shape, &mut room.expanded), output);
    room.output == room.expected
}

pub fn linear_add_case(random: &mut Random, room: &mut Room) -> bool {
    let shape = fill(random, room);
    let (plain, packed) = matrices(&shape, &room.plain, &room.packed);
    let input: &[i8] = &cast_slice(&room.input)[..shape.tokens * shape.columns];
    random.fill_stream(cast_slice_mut(&mut room.expected));
    room.output = room.expected;
    let expected: &mut [i16] = &mut cast_slice_mut(&mut room.expected)[..shape.tokens * shape.rows];
    let output: &mut [i16] = &mut cast_slice_mut(&mut room.output)[..shape.tokens * shape.rows];
    portable::linear_add(&plain, input, &mut [], expected);
    fast::linear_add(&packed, input, expanded_room(&shape, &mut room.expanded), output);
    room.output == room.expected
}

/// A matrix of 4-bit weights against the same weights in 8 bits, which the portable kernel multiplies.
pub fn four_bits_case(random: &mut Random, room: &mut Room) -> bool {
    let Shape { rows, columns, .. } = fill(random, room);
    // So many that a group of them, unpacked, fits beside the matrix.
    let columns = columns.min(256);
    for weight in &mut room.weights[..rows * columns] {
        *weight = (*weight).clamp(-FOUR_LIMIT, FOUR_LIMIT);
    }
    let (start, limit) = (random.next(), (1 << 23) - 1 - 127 * 7 * columns as i32);
    let row = |row: usize| {
        let mut random = Random::new(start.wrapping_add(row as u32));
        Row {
            weights: &room.weights[row * columns..][..columns],
            bias: random.sized_within(limit),
            multiplier: (random.next() >> 9) as i32,
        }
    };
    let stored = LAYOUT.stored_words(Bits::Four, rows, columns);
    pack_linear(portable::LAYOUT, columns, row, &mut room.plain[..portable::LAYOUT.words(rows, columns)]);
    pack_four(LAYOUT, columns, row, &mut room.packed[..stored]);
    let plain = &room.plain[..portable::LAYOUT.words(rows, columns)];
    let (packed, spare) = room.packed.split_at_mut(stored);
    let plain = Linear { rows, columns, bits: Bits::Eight, packed: plain };
    let four = Linear { rows, columns, bits: Bits::Four, packed };
    // Room for one group, or for as many as there are.
    let words = LAYOUT.expanded_words(columns) + four.unpacked_words(LAYOUT);
    let words = if random.below(2) == 0 { words } else { spare.len() };
    let spare = &mut spare[..words];
    let input: &[i8] = &cast_slice(&room.input)[..columns];
    let expected: &mut [i8] = &mut cast_slice_mut(&mut room.expected)[..rows];
    let output: &mut [i8] = &mut cast_slice_mut(&mut room.output)[..rows];
    portable::linear(&plain, input, &mut [], expected);
    linear(&four, input, spare, output);
    if room.output != room.expected {
        return false;
    }
    let expected: &mut [i16] = &mut cast_slice_mut(&mut room.expected)[..rows];
    let output: &mut [i16] = &mut cast_slice_mut(&mut room.output)[..rows];
    portable::linear_add(&plain, input, &mut [], expected);
    linear_add(&four, input, spare, output);
    room.output == room.expected
}

/// Sometimes all the room there is, sometimes only what one token needs.
fn expanded_room<'r>(shape: &Shape, expanded: &'r mut [u32]) -> &'r mut [u32] {
    let words = if shape.rows.is_multiple_of(8) { shape.columns / 2 } else { expanded.len() };
    &mut expanded[..words]
}

fn matrices<'r>(shape: &Shape, plain: &'r [u32], packed: &'r [u32]) -> (Linear<'r>, Linear<'r>) {
    let &Shape { rows, columns, .. } = shape;
    let plain = &plain[..portable::LAYOUT.words(rows, columns)];
    let packed = &packed[..LAYOUT.words(rows, columns)];
    let linear = |packed| Linear { rows, columns, bits: Bits::Eight, packed };
    (linear(plain), linear(packed))
}

/// Draws a shape, weights, biases at and below the bound that `bake` proves, multipliers, and input.
fn fill(random: &mut Random, room: &mut Room) -> Shape {
    let shape = Shape::draw(random, room);
    let Shape { rows, columns, .. } = shape;
    let weights = &mut room.weights[..rows * columns];
    random.fill(weights);
    let limit = (1 << 23) - 1 - 127 * 127 * columns as i32;
    let start = random.next();
    // Outputs that saturate now and then, around 2⁷ for `linear` and 2¹⁵ for `linear_add`.
    let scale = random.between(8, 31);
    let row = |row: usize| {
        let mut random = Random::new(start.wrapping_add(row as u32));
        Row {
            weights: &weights[row * columns..][..columns],
            bias: random.sized_within(limit),
            multiplier: ((random.next() >> (32 - scale)) as i32).min(LARGEST),
        }
    };
    pack_linear(portable::LAYOUT, columns, row, &mut room.plain[..portable::LAYOUT.words(rows, columns)]);
    pack_linear(LAYOUT, columns, row, &mut room.packed[..LAYOUT.words(rows, columns)]);
    random.fill(cast_slice_mut(&mut room.input));
    room.expected.fill(0);
    room.output.fill(0);
    shape
}
