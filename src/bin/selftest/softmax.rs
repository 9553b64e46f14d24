//! The table softmax against floating-point mathematics on the same chip.

use microformer::arith::exponential::STEPS;
use microformer::kernels::fast;

use crate::board;
use crate::random::Random;

const LEN: usize = 50;

/// Largest difference to the exact probability that a weight may have: one step of the table is 1/96, half of it at
/// most is lost by rounding a score, and micromath's own exponential is good to about 1/1000.
const CEILING: f32 = 0.004;

pub fn agrees_with_floats() -> bool {
    let mut worst = 0.0f32;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let spread = 1 << random.between(4, 11);
        #[repr(align(4))]
        struct Row([i16; LEN]);
        let mut row = Row([0; LEN]);
        let mut exact = [0.0f32; LEN];
        for (score, exact) in row.0.iter_mut().zip(&mut exact) {
            *score = random.within(spread) as i16;
            *exact = f32::from(*score) / STEPS as f32;
        }
        let maximum = exact.iter().copied().fold(f32::MIN, f32::max);
        let mut total = 0.0;
        for value in &mut exact {
            *value = exponential(*value - maximum);
            total += *value;
        }
        let sum = fast::soften(&mut row.0) as f32;
        for (&weight, &exact) in row.0.iter().zip(&exact) {
            worst = worst.max((f32::from(weight) / sum - exact / total).abs());
        }
    }
    let agrees = worst <= CEILING;
    let verdict = if agrees { "agrees" } else { "DISAGREES" };
    let millionths = (worst * 1e6) as u32;
    board::say!("softmax: {} with floats, largest error of a probability {} millionths", verdict, millionths);
    agrees
}

#[cfg(target_os = "none")]
fn exponential(value: f32) -> f32 {
    micromath::F32(value).exp().0
}

#[cfg(not(target_os = "none"))]
fn exponential(value: f32) -> f32 {
    value.exp()
}
