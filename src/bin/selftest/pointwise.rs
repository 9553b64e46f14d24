//! Norms, activations, depthwise filters: vectors of any padded length.

use bytemuck::cast_slice_mut;
use microformer::kernels::{fast, portable};
use microformer::packed::{Depthwise, Norm};

use crate::Room;
use crate::random::Random;

/// Longest vector of the cases.
const LONGEST: usize = 128;

fn draw_norm<'a>(random: &mut Random, affine: &'a mut [[i32; 2]; LONGEST]) -> Norm<'a> {
    let padded = 4 * random.between(1, LONGEST / 4);
    let len = padded - random.below(4);
    // At their largest, multipliers show the last bit of what they multiply now and then.
    let largest = random.below(2) == 0;
    for (index, [multiplier, bias]) in affine.iter_mut().enumerate() {
        let counts = index < len;
        // `bake` lets no norm pass whose multipliers are larger.
        let size = if largest { 1 } else { 1 + random.below(31) };
        *multiplier = if counts { random.next() as i32 >> size } else { 0 };
        *bias = if counts { random.sized_within(1 << 20) } else { 0 };
    }
    Norm {
        len,
        centred: random.below(2) == 0,
        epsilon: u64::from(random.next() >> random.below(32)),
        // As many as `quantizer` gives a norm of that length, or any number.
        fraction_bits: if random.below(2) == 0 { 28 - len.ilog2().div_ceil(2) - 1 } else { random.below(25) as u32 },
        affine: &affine[..padded],
    }
}

/// A stream whose padding is zero, as every kernel leaves it.
fn draw_stream<'a>(random: &mut Random, norm: &Norm, words: &'a mut [u32]) -> &'a mut [i16] {
    let stream: &mut [i16] = &mut cast_slice_mut(words)[..norm.affine.len()];
    random.fill_stream(stream);
    stream[norm.len..].fill(0);
    stream
}

pub fn norm_case(random: &mut Random, room: &mut Room) -> bool {
    let affine = &mut [[0; 2]; LONGEST];
    let norm = draw_norm(random, affine);
    let stream = draw_stream(random, &norm, &mut room.input);
    room.expected.fill(0);
    room.output.fill(0);
    portable::norm(&norm, stream, &mut cast_slice_mut(&mut room.expected)[..stream.len()]);
    fast::norm(&norm, stream, &mut cast_slice_mut(&mut room.output)[..stream.len()]);
    room.output == room.expected
}

pub fn norm_stream_case(random: &mut Random, room: &mut Room) -> bool {
    let affine = &mut [[0; 2]; LONGEST];
    let norm = draw_norm(random, affine);
    draw_stream(random, &norm, &mut room.expected);
    room.output = room.expected;
    portable::norm_stream(&norm, &mut cast_slice_mut(&mut room.expected)[..norm.affine.len()]);
    fast::norm_stream(&norm, &mut cast_slice_mut(&mut room.output)[..norm.affine.len()]);
    room.output == room.expected
}

pub fn rescale_case(random: &mut Random, room: &mut Room) -> bool {
    let len = 4 * random.between(1, LONGEST / 4);
    let stream: &mut [i16] = &mut cast_slice_mut(&mut room.input)[..len];
    random.fill_stream(stream);
    room.expected.fill(0);
    room.output.fill(0);
    let multiplier = random.multiplier();
    portable::rescale(multiplier, stream, &mut cast_slice_mut(&mut room.expected)[..len]);
    fast::rescale(multiplier, stream, &mut cast_slice_mut(&mut room.output)[..len]);
    room.output == room.expected
}

pub fn relu_case(random: &mut Random, room: &mut Room) -> bool {
    let len = 4 * random.between(1, LONGEST / 4);
    random.fill(cast_slice_mut(&mut room.expected));
    room.output = room.expected;
    portable::relu(&mut cast_slice_mut(&mut room.expected)[..len]);
    fast::relu(&mut cast_slice_mut(&mut room.output)[..len]);
    room.output == room.expected
}

pub fn activate_case(random: &mut Random, room: &mut Room) -> bool {
    let len = 4 * random.between(1, LONGEST / 4);
    let mut table = [0i8; 256];
    random.fill(&mut table);
    random.fill(cast_slice_mut(&mut room.expected));
    room.output = room.expected;
    portable::activate(&table, &mut cast_slice_mut(&mut room.expected)[..len]);
    fast::activate(&table, &mut cast_slice_mut(&mut room.output)[..len]);
    room.output == room.expected
}

pub fn depthwise_case(random: &mut Random, room: &mut Room) -> bool {
    const MOST_TAPS: usize = 9;
    let channels = 4 * random.between(1, 20);
    let taps = random.between(1, MOST_TAPS);
    let weights: &mut [i8] = &mut cast_slice_mut(&mut room.plain)[..channels * taps];
    random.fill(weights);
    let scale = random.between(4, 20);
    let affine: &mut [[i32; 2]] = &mut cast_slice_mut(&mut room.packed)[..channels];
    for [bias, multiplier] in affine.iter_mut() {
        *bias = random.sized_within(1 << 20);
        *multiplier = random.next() as i32 >> (20 - scale);
    }
    let input: &mut [i8] = &mut room.weights;
    random.fill(input);
    let filter = Depthwise { channels, taps, weights, affine };
    // Taps begin anywhere and overlap, as those of neighbouring places do.
    let places = random.between(1, (4 * room.output.len() / channels).min(6));
    let hop = random.below(2 * channels);
    let reach = (places - 1) * hop + channels;
    let mut slices: [&[i8]; MOST_TAPS] = [&[]; MOST_TAPS];
    for slice in &mut slices {
        *slice = &input[random.below(input.len() - reach)..][..reach];
    }
    let len = places * channels;
    room.expected.fill(0);
    room.output.fill(0);
    portable::depthwise(&filter, &slices[..taps], hop, &mut cast_slice_mut(&mut room.expected)[..len]);
    fast::depthwise(&filter, &slices[..taps], hop, &mut cast_slice_mut(&mut room.output)[..len]);
    room.output == room.expected
}
