//! Proves on the chip itself that the fast kernels compute the bits of the portable ones, on seeded random shapes and on
//! the extremes, and asks micromath for a float opinion of the softmax. A line for each kernel; a difference is an error.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

mod attention;
#[path = "../../board/mod.rs"]
mod board;
mod linear;
mod pointwise;
mod random;
mod softmax;
mod transform;

use random::Random;

board::program!(run);

/// Everything the cases share, as large as the smallest board allows: 16 KB of RAM in all.
pub struct Room {
    weights: [i8; 2048],
    plain: [u32; 576],
    packed: [u32; 1152],
    input: [u32; 192],
    expanded: [u32; 320],
    expected: [u32; 192],
    output: [u32; 192],
}

impl Room {
    const EMPTY: Self = Self {
        weights: [0; 2048],
        plain: [0; 576],
        packed: [0; 1152],
        input: [0; 192],
        expanded: [0; 320],
        expected: [0; 192],
        output: [0; 192],
    };
}

/// One kernel's cases: a name, how many cases, and the case itself, which is false where a bit differs.
type Case = fn(&mut Random, &mut Room) -> bool;

const KERNELS: &[(&str, u32, Case)] = &[
    ("linear", 400, linear::linear_case),
    ("linear_add", 400, linear::linear_add_case),
    ("linear_overlapping", 400, linear::linear_overlapping_case),
    ("linear, 4 bits", 400, linear::four_bits_case),
    ("scores", 400, attention::scores_case),
    ("scores_three", 400, attention::scores_three_case),
    ("soften", 400, attention::soften_case),
    ("mix", 400, attention::mix_case),
    ("norm", 400, pointwise::norm_case),
    ("norm_stream", 800, pointwise::norm_stream_case),
    ("rescale", 100, pointwise::rescale_case),
    ("relu", 100, pointwise::relu_case),
    ("activate", 100, pointwise::activate_case),
    ("depthwise", 200, pointwise::depthwise_case),
    ("first_fours", 100, transform::first_fours_case),
    ("fours", 200, transform::fours_case),
    ("untangle", 200, transform::untangle_case),
];

fn run() -> Result<(), &'static str> {
    let room = board::once!(: Room = Room::EMPTY).ok_or("the room is taken twice")?;
    let mut failures = 0;
    for &(name, cases, case) in KERNELS {
        let failed = (0..cases).find(|&seed| !case(&mut Random::new(seed), room));
        match failed {
            None => board::say!("{}: {} cases bit-equal to the portable kernel", name, cases),
            Some(seed) => {
                failures += 1;
                board::say!("{}: case {} DIFFERS from the portable kernel", name, seed);
            }
        }
    }
    failures += u32::from(!softmax::agrees_with_floats());
    if failures == 0 { Ok(()) } else { Err("a fast kernel does not compute what it should") }
}
