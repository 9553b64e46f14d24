//! Matrix × vector and matrix × matrix, to 8 bits and into the residual stream.

use core::hint::black_box;

use bytemuck::{cast_slice, cast_slice_mut};
use microformer::arith::{requantize, saturate_i8};
use microformer::kernels::{LAYOUT, fast, linear, portable};
use microformer::packed::{Bits, Layout, Linear, Place, Row, pack_four, pack_linear};

use crate::{Room, digest, measured, scramble, scramble_i8};

const LARGE: i32 = 3 << 14;

/// A matrix of 64 × 64, 256 × 64 or 64 × 256 in flash, for the portable and for the fast kernels.
static PLAIN: [u32; portable::LAYOUT.words(64, 64)] = packed(portable::LAYOUT, 64);
static PACKED: [u32; LAYOUT.words(64, 64)] = packed(LAYOUT, 64);
static PLAIN_TALL: [u32; portable::LAYOUT.words(256, 64)] = packed(portable::LAYOUT, 64);
static PACKED_TALL: [u32; LAYOUT.words(256, 64)] = packed(LAYOUT, 64);
static PLAIN_WIDE: [u32; portable::LAYOUT.words(64, 256)] = packed(portable::LAYOUT, 256);
static PACKED_WIDE: [u32; LAYOUT.words(64, 256)] = packed(LAYOUT, 256);

/// The same weights as [`packed`] in the order of a textbook: for the naive loop.
static TEXTBOOK: [[i8; 64]; 64] = textbook();

const fn weight(row: usize, column: usize) -> i8 {
    scramble_i8((row * 256 + column) as u32)
}

const fn bias(row: usize) -> i32 {
    scramble(row as u32) as i32 >> 16
}

const fn textbook() -> [[i8; 64]; 64] {
    let mut rows = [[0; 64]; 64];
    let mut place = 0;
    while place < 64 * 64 {
        rows[place / 64][place % 64] = weight(place / 64, place % 64);
        place += 1;
    }
    rows
}

/// What `pack_linear` writes, at build time.
const fn packed<const WORDS: usize>(layout: Layout, columns: usize) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    let mut index = 0;
    while index < WORDS {
        words[index] = match layout.place(columns, index) {
            Place::Bias { row } => layout.bias(bias(row)),
            Place::Multiplier { .. } => layout.multiplier(LARGE, LARGE < layout.small()),
            Place::Weights { row, column } => layout.weights([
                weight(row, column),
                weight(row, column + 1),
                weight(row, column + 2),
                weight(row, column + 3),
            ]),
        };
        index += 1;
    }
    words
}

pub fn measure(room: &mut Room) {
    prepare(room);
    measured!(room, naive(cast_slice(&room.input), &mut cast_slice_mut(&mut room.output)[..64]));
    room.report("matrix 64->64", "naive", 64 * 64);
    let square = [
        Linear { rows: 64, columns: 64, bits: Bits::Eight, packed: &PLAIN },
        Linear { rows: 64, columns: 64, bits: Bits::Eight, packed: &PACKED },
    ];
    let tall = [
        Linear { rows: 256, columns: 64, bits: Bits::Eight, packed: &PLAIN_TALL },
        Linear { rows: 256, columns: 64, bits: Bits::Eight, packed: &PACKED_TALL },
    ];
    let wide = [
        Linear { rows: 64, columns: 256, bits: Bits::Eight, packed: &PLAIN_WIDE },
        Linear { rows: 64, columns: 256, bits: Bits::Eight, packed: &PACKED_WIDE },
    ];
    to_bytes(room, "matrix 64->64", &square, 1);
    four_bits(room);
    to_stream(room, "matrix 64->64 into the stream", &square, 1);
    to_bytes(room, "matrix 64->256", &tall, 1);
    to_bytes(room, "matrix 256->64", &wide, 1);
    to_stream(room, "matrix 256->64 into the stream", &wide, 1);
    to_bytes(room, "matrix 64->64, 49 tokens", &square, 49);
    to_stream(room, "matrix 64->64 into the stream, 24 tokens", &square, 24);
    to_bytes(room, "matrix 256->64, 16 tokens", &wide, 16);
    to_stream(room, "matrix 256->64 into the stream, 16 tokens", &wide, 16);
}

pub fn prepare(room: &mut Room) {
    let input: &mut [i8] = cast_slice_mut(&mut room.input);
    for (index, value) in input.iter_mut().enumerate() {
        *value = scramble_i8(0x100_0000 + index as u32);
    }
    room.output.fill(0);
}

fn to_bytes(room: &mut Room, job: &str, [plain, packed]: &[Linear; 2], tokens: usize) {
    let (inputs, outputs) = (plain.columns * tokens, plain.rows * tokens);
    prepare(room);
    let (input, output) = (&cast_slice(&room.input)[..inputs], &mut cast_slice_mut(&mut room.output)[..outputs]);
    measured!(room, portable::linear(plain, input, &mut [], output));
    let expected = room.report(job, "portable", plain.rows * inputs);
    prepare(room);
    let (input, output) = (&cast_slice(&room.input)[..inputs], &mut cast_slice_mut(&mut room.output)[..outputs]);
    measured!(room, fast::linear(packed, input, &mut room.expanded, output));
    room.differences += u32::from(room.report(job, "fast", plain.rows * inputs) != expected);
}

/// 64 × 64 weights of 4 bits, against the same in 8 bits.
fn four_bits(room: &mut Room) {
    let weights: [[i8; 64]; 64] = core::array::from_fn(|row| core::array::from_fn(|column| weight(row, column) / 18));
    let row = |row: usize| Row { weights: &weights[row], bias: bias(row), multiplier: 16 * LARGE };
    let mut plain = [0; portable::LAYOUT.words(64, 64)];
    let mut packed = [0; LAYOUT.stored_words(Bits::Four, 64, 64)];
    pack_linear(portable::LAYOUT, 64, row, &mut plain);
    pack_four(LAYOUT, 64, row, &mut packed);
    let (rows, columns) = (64, 64);
    prepare(room);
    let (input, output) = (&cast_slice(&room.input)[..64], &mut cast_slice_mut(&mut room.output)[..64]);
    portable::linear(&Linear { rows, columns, bits: Bits::Eight, packed: &plain }, input, &mut [], output);
    let expected = digest(&room.output);
    prepare(room);
    let (input, output) = (&cast_slice(&room.input)[..64], &mut cast_slice_mut(&mut room.output)[..64]);
    let matrix = black_box(Linear { rows, columns, bits: Bits::Four, packed: &packed });
    measured!(room, linear(&matrix, input, &mut room.expanded, output));
    room.differences += u32::from(room.report("matrix 64->64, 4 bits", "fast", 64 * 64) != expected);
}

fn to_stream(room: &mut Room, job: &str, [plain, packed]: &[Linear; 2], tokens: usize) {
    let (inputs, outputs) = (plain.columns * tokens, plain.rows * tokens);
    prepare(room);
    let (input, output) = (&cast_slice(&room.input)[..inputs], &mut cast_slice_mut(&mut room.output)[..outputs]);
    measured!(room, portable::linear_add(plain, input, &mut [], output));
    let expected = room.report(job, "portable", plain.rows * inputs);
    prepare(room);
    let (input, output) = (&cast_slice(&room.input)[..inputs], &mut cast_slice_mut(&mut room.output)[..outputs]);
    measured!(room, fast::linear_add(packed, input, &mut room.expanded, output));
    room.differences += u32::from(room.report(job, "fast", plain.rows * inputs) != expected);
}

/// Matrix × vector as anybody would write it first.
#[inline(never)]
fn naive(input: &[i8], output: &mut [i8]) {
    for ((index, row), result) in TEXTBOOK.iter().enumerate().zip(output) {
        let mut sum = bias(index);
        for (&weight, &value) in row.iter().zip(input) {
            sum += i32::from(weight) * i32::from(value);
        }
        *result = saturate_i8(requantize(sum << 8, LARGE));
    }
}
