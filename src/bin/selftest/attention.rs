//! Rings of random length, full or not, wrapped or not: both kernels store, score, soften and mix the same tokens.

use bytemuck::cast_slice_mut;
use microformer::kernels::{Mixture, Scoring, fast, portable};

use crate::Room;
use crate::random::Random;

struct Shape {
    window: usize,
    head_len: usize,
    /// Tokens that have entered the ring.
    filled: usize,
}

impl Shape {
    fn draw(random: &mut Random, room: &Room) -> Self {
        let head_len = 4 * if random.below(4) == 0 { random.between(1, 40) } else { random.between(1, 5) };
        let longest = (4 * room.plain.len() / head_len - 4).min(100);
        let window = random.between(1, longest);
        Self { window, head_len, filled: random.between(1, window) }
    }

    /// Words of a ring whose slots come in groups of `group`.
    fn words(&self, group: usize) -> usize {
        self.window.next_multiple_of(group) * self.head_len / 4
    }
}

pub fn scores_case(random: &mut Random, room: &mut Room) -> bool {
    let shape = Shape::draw(random, room);
    let plain = &mut room.plain[..shape.words(4)];
    // Wide keys take twice the room of plain ones.
    let packed = &mut room.packed[..2 * shape.words(4)];
    let vector = &mut room.weights[..shape.head_len];
    for slot in 0..shape.window {
        random.fill(vector);
        portable::store_key(plain, slot, vector);
        fast::store_key(packed, slot, vector);
    }
    let query: &mut [i8] = &mut cast_slice_mut(&mut room.input)[..shape.head_len];
    random.fill(query);
    let scoring = draw_scoring(random, shape.filled);
    // Only a full ring goes round.
    let newest = if shape.filled == shape.window { random.below(shape.window) } else { shape.filled - 1 };
    let scoring = Scoring { newest, ..scoring };
    room.expected.fill(0);
    room.output.fill(0);
    let len = shape.window.next_multiple_of(4);
    let expected: &mut [i16] = &mut cast_slice_mut(&mut room.expected)[..len];
    portable::scores(query, &mut [], plain, scoring, expected);
    let output: &mut [i16] = &mut cast_slice_mut(&mut room.output)[..len];
    fast::scores(query, &mut room.expanded, packed, scoring, output);
    output[..shape.filled] == expected[..shape.filled]
}

fn draw_scoring(random: &mut Random, filled: usize) -> Scoring {
    let slope = if random.below(3) == 0 { 0 } else { random.next() as i32 >> 12 >> random.below(12) };
    Scoring { multiplier: random.multiplier(), slope, newest: filled - 1, filled }
}

pub fn scores_three_case(random: &mut Random, room: &mut Room) -> bool {
    let mut shape = Shape::draw(random, room);
    shape.window = shape.window.clamp(3, room.output.len() * 2 / 12 * 4);
    let len = shape.window.next_multiple_of(4);
    let plain = &mut room.plain[..shape.words(4)];
    // Wide keys take twice the room of plain ones.
    let packed = &mut room.packed[..2 * shape.words(4)];
    plain.fill(0);
    packed.fill(0);
    let vector = &mut room.weights[..shape.head_len];
    for slot in 0..shape.window {
        random.fill(vector);
        portable::store_key(plain, slot, vector);
        fast::store_key(packed, slot, vector);
    }
    let queries: &mut [i8] = &mut cast_slice_mut(&mut room.input)[..3 * shape.head_len];
    random.fill(queries);
    let query = |index: usize| &queries[index * shape.head_len..][..shape.head_len];
    let filled = random.between(1, shape.window - 2);
    let scoring = draw_scoring(random, filled);
    room.expected.fill(0);
    room.output.fill(0);
    let expected: &mut [i16] = &mut cast_slice_mut(&mut room.expected)[..3 * len];
    portable::scores_three([query(0), query(1), query(2)], &mut [], plain, scoring, expected);
    let output: &mut [i16] = &mut cast_slice_mut(&mut room.output)[..3 * len];
    fast::scores_three([query(0), query(1), query(2)], &mut room.expanded, packed, scoring, output);
    (0..3).all(|row| output[row * len..][..filled + row] == expected[row * len..][..filled + row])
}

pub fn soften_case(random: &mut Random, room: &mut Room) -> bool {
    let len = random.between(1, 2 * room.output.len());
    let row: &mut [i16] = &mut cast_slice_mut(&mut room.expected)[..];
    random.fill_stream(row);
    // Scores of a real model lie closer together than the whole range of 16 bits.
    let near = random.below(12);
    for score in row {
        *score >>= near;
    }
    room.output = room.expected;
    let expected = portable::soften(&mut cast_slice_mut(&mut room.expected)[..len]);
    let sum = fast::soften(&mut cast_slice_mut(&mut room.output)[..len]);
    sum == expected && room.output == room.expected
}

pub fn mix_case(random: &mut Random, room: &mut Room) -> bool {
    let shape = Shape::draw(random, room);
    let plain = &mut room.plain[..shape.words(4)];
    let packed = &mut room.packed[..shape.words(4)];
    // What earlier tokens left in the slots behind the filled ones must not count.
    packed.fill(0x7F81_7F81);
    plain.fill(0x7F81_7F81);
    let vector = &mut room.weights[..shape.head_len];
    for slot in 0..shape.window {
        random.fill(vector);
        portable::store_value(plain, slot, vector);
        fast::store_value(packed, slot, vector);
    }
    let len = shape.window.next_multiple_of(4);
    let row: &mut [i16] = &mut cast_slice_mut(&mut room.input)[..len];
    let bound = 32767 >> random.below(8);
    for weight in row.iter_mut() {
        *weight = match random.below(4) {
            0 => 0,
            1 => bound as i16,
            _ => random.between(0, bound) as i16,
        };
    }
    room.expected.fill(0);
    room.output.fill(0);
    let sum = row[..shape.filled].iter().map(|&weight| weight as u32).sum();
    let mixture = Mixture { filled: shape.filled, sum, multiplier: random.multiplier() & i32::MAX };
    portable::mix(row, mixture, plain, &mut cast_slice_mut(&mut room.expected)[..shape.head_len]);
    fast::mix(row, mixture, packed, &mut cast_slice_mut(&mut room.output)[..shape.head_len]);
    room.output == room.expected
}
