//! The steps of a Fourier transform on random points, and on the extremes of 16 bits.

use microformer::kernels::{self, portable};
use microformer::packed::signal::Complex;

use crate::Room;
use crate::random::Random;

const POINTS: usize = 64;

fn half(random: &mut Random) -> i16 {
    match random.below(8) {
        0 => i16::MIN,
        1 => i16::MAX,
        2 => 0,
        _ => (random.next() as i32 >> 16 >> random.below(12)) as i16,
    }
}

fn point(random: &mut Random) -> Complex {
    Complex::new(half(random), half(random))
}

/// Rotations never reach −32768.
fn rotation(random: &mut Random) -> Complex {
    Complex::new(half(random).max(-i16::MAX), half(random).max(-i16::MAX))
}

pub fn first_fours_case(random: &mut Random, _room: &mut Room) -> bool {
    let mut expected: [Complex; POINTS] = core::array::from_fn(|_| point(random));
    let mut found = expected;
    let shift = random.below(16) as u32;
    portable::first_fours(&mut expected, shift);
    kernels::first_fours(&mut found, shift);
    found == expected
}

pub fn fours_case(random: &mut Random, _room: &mut Room) -> bool {
    match random.below(4) {
        0 => fours::<2>(random),
        1 => fours::<4>(random),
        2 => fours::<8>(random),
        _ => fours::<16>(random),
    }
}

fn fours<const SPAN: usize>(random: &mut Random) -> bool {
    let rotations: [[Complex; 3]; SPAN] = core::array::from_fn(|_| core::array::from_fn(|_| rotation(random)));
    let mut expected: [Complex; POINTS] = core::array::from_fn(|_| point(random));
    let mut found = expected;
    portable::fours(&mut expected, &rotations);
    kernels::fours(&mut found, &rotations);
    found == expected
}

pub fn untangle_case(random: &mut Random, _room: &mut Room) -> bool {
    let rotations: [Complex; POINTS / 2] = core::array::from_fn(|_| rotation(random));
    let mut expected: [Complex; POINTS] = core::array::from_fn(|_| point(random));
    let mut found = expected;
    let pairs = random.between(1, POINTS / 2);
    let (low, high) = expected.split_at_mut(pairs);
    portable::untangle(low, high, &rotations);
    let (low, high) = found.split_at_mut(pairs);
    kernels::untangle(low, high, &rotations);
    found == expected
}
