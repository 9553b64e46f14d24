//! What the peer needs for the same jobs: CMSIS-NN of July 2026, gcc 12.2 -Ofast, mps2-an386, counted by the same kind of
//! plugin with the same cycle table.

use serde::Serialize;

pub const ORIGIN: &str = "CMSIS-NN (July 2026, gcc 12.2 -Ofast), counted in QEMU on mps2-an386";

/// Per product where the job has products, per call where it has none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Peer {
    pub instructions: f64,
    /// Modelled, where they were measured.
    pub cycles: Option<f64>,
}

const JOBS: [(&str, f64, Option<f64>); 8] = [
    ("matrix 64->64", 2.68, Some(3.36)),
    ("matrix 64->256", 2.65, Some(3.31)),
    ("matrix 256->64", 2.08, Some(2.57)),
    ("matrix 64->64, 49 tokens", 2.14, Some(2.56)),
    ("matrix 256->64, 16 tokens", 1.78, Some(2.18)),
    ("scores 49 x 49, head 16, causal", 4.19, None),
    ("mix 49 x 49, head 16, causal", 2.39, None),
    // TensorFlow Lite Micro's micro frontend, -O3, a frame.
    ("front end, a frame of 10 ms, all stages", 84_800.0, Some(106_000.0)),
];
/// The peer always normalises.
const SOFTMAX_ROW: f64 = 25_896.0;

/// Instructions of two blocks, width 64, four heads, hidden layer 256, without norms and activations: one streamed token
/// with 49 cached, and 49 tokens at once.
const STEP: f64 = 522e3;
const PASS: f64 = 22.7e6;

/// What the peer needs for the linear layers, attention and sums of a model of ours that has the shape it was measured on.
pub fn of_model(model: &str, job: &str) -> Option<f64> {
    match (model, job) {
        (crate::model::COMPARED, "step") => Some(STEP),
        (crate::model::COMPARED, "pass") => Some(PASS),
        _ => None,
    }
}

pub fn of(job: &str) -> Option<Peer> {
    if job.starts_with("softmax, a row of 49") {
        return Some(Peer { instructions: SOFTMAX_ROW, cycles: None });
    }
    let (_, instructions, cycles) = JOBS.into_iter().find(|(name, ..)| *name == job)?;
    Some(Peer { instructions, cycles })
}
