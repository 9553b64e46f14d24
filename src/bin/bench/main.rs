//! Runs every kernel on the shapes of docs/measurements.md between marks, for counter/ to count: `cargo cost`.
//!
//! On hardware, `-- --probe` prints the same jobs with the cycles that the chip's own counter showed.
//!
//! A job runs three ways where it can: as the loop that anybody would write first, as the portable kernel, and as the
//! chip's fast kernel. Its line says how many products it computes, and whether fast and portable left the same bits;
//! nothing that differs counts.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

mod attention;
#[path = "../../board/mod.rs"]
mod board;
mod front_end;
mod matrix;
mod pointwise;

use board::cycles::Clock;
use core::hint::black_box;

board::program!(run);

/// Buffers that all jobs share: 49 tokens of 64 activations, or 16 of 256; and rows of scores for 49 queries.
pub struct Room {
    input: [u32; 1024],
    output: [u32; 1024],
    rows: [u32; 49 * 26],
    expanded: [u32; 384],
    differences: u32,
    clock: Option<Clock>,
    /// What the chip counted while the last job ran.
    spent: u32,
}

impl Room {
    const EMPTY: Self = Self {
        input: [0; 1024],
        output: [0; 1024],
        rows: [0; 49 * 26],
        expanded: [0; 384],
        differences: 0,
        clock: None,
        spent: 0,
    };

    /// Says what a job left behind, in the order of the marked regions; the digests of a job must all be the same.
    fn report(&mut self, job: &str, way: &str, macs: usize) -> u32 {
        let digest = digest(&self.output);
        let unit = self.clock.map_or("", |clock| clock.unit());
        board::say!("job {} | {} | {} macs | {:08x} | {} {}", job, way, macs, digest, self.spent, unit);
        digest
    }
}

/// Runs `$run` between marks, whose arguments were computed before, and notes in `$room` what the chip's own clock counted.
macro_rules! measured {
    ($room:ident, $run:expr) => {{
        let clock = $room.clock;
        let begun = clock.map_or(0, |clock| clock.now());
        crate::board::meter::begin();
        let result = $run;
        crate::board::meter::end();
        $room.spent = clock.map_or(0, |clock| clock.since(begun));
        result
    }};
}
pub(crate) use measured;

/// Fowler–Noll–Vo, 32 bits, word by word.
fn digest(words: &[u32]) -> u32 {
    words.iter().fold(0x811C_9DC5, |digest, &word| (digest ^ word).wrapping_mul(0x0100_0193).rotate_left(5))
}

/// Numbers without pattern, the same at every run: weights at build time, activations at the start.
pub const fn scramble(index: u32) -> u32 {
    let mut word = index.wrapping_mul(0x9E37_79B9) ^ 0x5EED_1234;
    word ^= word >> 15;
    word = word.wrapping_mul(0x2C1B_3C6D);
    word ^= word >> 12;
    word = word.wrapping_mul(0x297A_2D39);
    word ^ word >> 15
}

/// In [−127, 127].
pub const fn scramble_i8(index: u32) -> i8 {
    ((scramble(index) % 255) as i32 - 127) as i8
}

fn run() -> Result<(), &'static str> {
    // No kernel may know beforehand where its buffers lie.
    let room = black_box(board::once!(: Room = Room::EMPTY).ok_or("the room is taken twice")?);
    room.clock = Some(Clock::start());
    matrix::measure(room);
    attention::measure(room);
    pointwise::measure(room);
    front_end::measure(room);
    if room.differences == 0 { Ok(()) } else { Err("a fast kernel differs from the portable one: see the digests") }
}
