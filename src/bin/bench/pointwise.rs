//! Norms, activations and the depthwise filter, on tokens of 64 and hidden layers of 256.

use bytemuck::{cast_slice, cast_slice_mut};
use microformer::kernels::{fast, portable};
use microformer::packed::{Depthwise, Norm};

use crate::{Room, measured, scramble, scramble_i8};

const WIDTH: usize = 64;
const HIDDEN: usize = 256;
const TAPS: usize = 5;

static AFFINE: [[i32; 2]; WIDTH] = affine();
static TABLE: [i8; 256] = bytes();
static FILTER: [i8; TAPS * HIDDEN] = bytes();
static FILTER_AFFINE: [[i32; 2]; HIDDEN] = [[100, 1 << 20]; HIDDEN];

const fn affine() -> [[i32; 2]; WIDTH] {
    let mut affine = [[0; 2]; WIDTH];
    let mut index = 0;
    while index < WIDTH {
        affine[index] = [(scramble(index as u32) >> 3) as i32, 128];
        index += 1;
    }
    affine
}

const fn bytes<const LEN: usize>() -> [i8; LEN] {
    let mut bytes = [0; LEN];
    let mut index = 0;
    while index < LEN {
        bytes[index] = scramble_i8(index as u32);
        index += 1;
    }
    bytes
}

/// One way to compute all this.
struct Way {
    name: &'static str,
    norm: fn(&Norm, &[i16], &mut [i8]),
    norm_stream: fn(&Norm, &mut [i16]),
    rescale: fn(i32, &[i16], &mut [i8]),
    activate: fn(&[i8; 256], &mut [i8]),
    relu: fn(&mut [i8]),
    depthwise: fn(&Depthwise, &[&[i8]], usize, &mut [i8]),
}

const WAYS: [Way; 2] = [
    Way {
        name: "portable",
        norm: portable::norm,
        norm_stream: portable::norm_stream,
        rescale: portable::rescale,
        activate: portable::activate,
        relu: portable::relu,
        depthwise: portable::depthwise,
    },
    Way {
        name: "fast",
        norm: fast::norm,
        norm_stream: fast::norm_stream,
        rescale: fast::rescale,
        activate: fast::activate,
        relu: fast::relu,
        depthwise: fast::depthwise,
    },
];

const NORM: Norm = Norm { len: WIDTH, centred: true, epsilon: 100, fraction_bits: 24, affine: &AFFINE };
const DEPTHWISE: Depthwise = Depthwise { channels: HIDDEN, taps: TAPS, weights: &FILTER, affine: &FILTER_AFFINE };

type Job = (&'static str, usize, fn(&mut Room, &Way));

const JOBS: [Job; 6] = [
    ("norm, 64 values", 0, |room, way| {
        let stream: &[i16] = &cast_slice(&room.input)[..WIDTH];
        measured!(room, (way.norm)(&NORM, stream, &mut cast_slice_mut(&mut room.output)[..WIDTH]));
    }),
    ("norm in the stream, 64 values", 0, |room, way| {
        room.output.copy_from_slice(&room.input);
        measured!(room, (way.norm_stream)(&NORM, &mut cast_slice_mut(&mut room.output)[..WIDTH]));
    }),
    ("rescale, 64 values", 0, |room, way| {
        let stream: &[i16] = &cast_slice(&room.input)[..WIDTH];
        measured!(room, (way.rescale)(1 << 24, stream, &mut cast_slice_mut(&mut room.output)[..WIDTH]));
    }),
    ("activation table, 256 values", 0, |room, way| {
        room.output.copy_from_slice(&room.input);
        measured!(room, (way.activate)(&TABLE, &mut cast_slice_mut(&mut room.output)[..HIDDEN]));
    }),
    ("relu, 256 values", 0, |room, way| {
        room.output.copy_from_slice(&room.input);
        measured!(room, (way.relu)(&mut cast_slice_mut(&mut room.output)[..HIDDEN]));
    }),
    ("depthwise filter, 5 taps, 256 channels", TAPS * HIDDEN, |room, way| {
        let (tokens, _) = cast_slice::<u32, i8>(&room.input).as_chunks::<HIDDEN>();
        let taps: [&[i8]; TAPS] = core::array::from_fn(|tap| tokens[tap].as_slice());
        measured!(room, (way.depthwise)(&DEPTHWISE, &taps, 0, &mut cast_slice_mut(&mut room.output)[..HIDDEN]));
    }),
];

pub fn measure(room: &mut Room) {
    for (job, macs, run) in JOBS {
        let [expected, found] = WAYS.each_ref().map(|way| {
            crate::matrix::prepare(room);
            run(room, way);
            room.report(job, way.name, macs)
        });
        room.differences += u32::from(expected != found);
    }
}
