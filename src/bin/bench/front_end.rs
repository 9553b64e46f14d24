//! The front end with all its stages: what a frame of 10 ms costs, stage by stage and as a whole.

use core::hint::black_box;

use bytemuck::cast_slice_mut;
use microformer::signal::{Complex, fft, filterbank, gain, log, noise, window};

use crate::{Room, measured, scramble};

include!(concat!(env!("OUT_DIR"), "/front_end.rs"));

const SAMPLES: usize = FRONT_END.window.coefficients.len();
const POINTS: usize = FRONT_END.fft.points();
const CHANNELS: usize = FRONT_END.filterbank.channels();

/// Noise of a quarter of the scale.
fn sample(index: usize) -> i16 {
    (scramble(index as u32) as i32 >> 18) as i16
}

pub fn measure(room: &mut Room) {
    stages(room);
    let mut state = FrontEndState::new();
    let mut features = [0; CHANNELS];
    // A second of sound, so that the estimates of noise have settled; then one frame more.
    let mut step: [i16; FRONT_END.window.step] = [0; FRONT_END.window.step];
    for frame in 0..100 {
        step = core::array::from_fn(|index| sample(frame * FRONT_END.window.step + index));
        let mut samples = step.as_slice();
        while state.process(&FRONT_END, &mut samples, &mut features) {}
    }
    let mut samples = black_box(step.as_slice());
    measured!(room, state.process(&FRONT_END, &mut samples, &mut features));
    keep(room, &features);
    room.report("front end, a frame of 10 ms, all stages", "fast", 0);
}

fn stages(room: &mut Room) {
    let samples: [i16; SAMPLES] = black_box(core::array::from_fn(sample));
    let mut spectrum = [Complex::ZERO; POINTS];
    let mut channels = [0u32; CHANNELS];
    let mut estimates = [1 << 20; CHANNELS];
    let mut features = [0; CHANNELS];
    let bits = measured!(room, window::apply(&FRONT_END.window, &samples, &mut spectrum));
    room.report("front end: window", "fast", 0);
    let shift = black_box(15 - bits);
    measured!(room, fft::apply(&FRONT_END.fft, &mut spectrum, shift));
    room.report("front end: transform", "fast", 0);
    measured!(room, filterbank::apply(&FRONT_END.filterbank, &spectrum, shift, &mut channels));
    room.report("front end: filterbank", "fast", 0);
    if let (Some(settings), Some(curve)) = (&FRONT_END.noise, &FRONT_END.gain) {
        measured!(room, noise::apply(settings, &mut channels, &mut estimates));
        room.report("front end: noise", "fast", 0);
        measured!(room, gain::apply(curve, &mut channels, &estimates));
        room.report("front end: gain", "fast", 0);
    }
    measured!(room, log::apply(&FRONT_END.log, &channels, &mut features));
    keep(room, &features);
    room.report("front end: logarithm", "fast", 0);
}

fn keep(room: &mut Room, features: &[u16; CHANNELS]) {
    room.output.fill(0);
    cast_slice_mut::<u32, u16>(&mut room.output)[..CHANNELS].copy_from_slice(features);
}
