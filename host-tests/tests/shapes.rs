//! Shapes that nobody chose: random configurations, quantised and run, against the float reference.

use host_tests::{fidelity::score_sqnr, models, random::Random};
use serde_json::{Value, json};

/// What every model's scores must reach against float math, in decibels.
const SQNR_FLOOR: f64 = 33.0;

/// How many configurations one run draws. More with `SHAPES=500 cargo host-test --test shapes`.
const SHAPES: u64 = 12;

fn pick<'a>(random: &mut Random, choices: &[&'a str]) -> &'a str {
    choices[random.below(choices.len())]
}

fn configuration(random: &mut Random) -> Value {
    let heads = 1 + random.below(6);
    let width = heads * (2 + random.below(96 / heads));
    let features = 1 + random.below(40);
    let positions = pick(random, &["none", "alibi", "learned", "sinusoidal"]);
    let (input, embed) = match random.below(4) {
        0 => (json!({"tokens": 2 + random.below(100)}), json!({"kind": "table"})),
        1 => {
            let features = 8 + features;
            let kernel = [1 + random.below(6), 1 + random.below(6)];
            let stem = json!({
                "kind": "convolution", "channels": 1 + random.below(16), "kernel": kernel,
                "stride": [1 + random.below(kernel[0]), 1 + random.below(3)],
                "depthwise_kernel": [1 + random.below(4), 1 + random.below(4)],
                "depthwise_stride": [1, 1 + random.below(2)],
            });
            (json!({"features": features}), stem)
        }
        _ => {
            let frames = 1 + random.below(5);
            let embed = json!({"kind": "linear", "frames": frames, "stride": 1 + random.below(frames)});
            (json!({"features": features}), embed)
        }
    };
    let pool = match random.below(3) {
        0 => json!({"kind": "mean", "tokens": random.below(20)}),
        1 => json!({"kind": "last"}),
        _ => json!({"kind": "each"}),
    };
    json!({
        "format": 1, "name": "any", "input": input, "embed": embed, "width": width, "blocks": 1 + random.below(6),
        "heads": heads, "hidden": 1 + random.below(200), "window": 1 + random.below(64), "positions": positions,
        "context": if positions == "learned" || positions == "sinusoidal" { 40 } else { 0 },
        "norm": pick(random, &["layer", "rms"]), "norm_first": random.below(2) == 0,
        "norm_epsilon": ([1e-5, 1e-6, 1e-3][random.below(3)]), "final_norm": random.below(2) == 0,
        "activation": pick(random, &["relu", "gelu", "silu"]),
        "convolution": if random.below(2) == 0 { 0 } else { 1 + random.below(8) }, "pool": pool,
        "labels": (0..2 + random.below(20)).map(|label| label.to_string()).collect::<Vec<_>>(),
    })
}

#[test]
fn any_shape_keeps_its_scores() {
    let shapes = std::env::var("SHAPES").ok().and_then(|count| count.parse().ok()).unwrap_or(SHAPES);
    let (mut below, mut total, mut worst) = (Vec::new(), 0.0, f64::INFINITY);
    for seed in 0..shapes {
        let mut random = Random::new(seed);
        let json = configuration(&mut random).to_string();
        let pair = models::pair(&json, seed);
        let sequences: Vec<_> = (0..6).map(|_| models::sequence(&pair.float.config, 40, &mut random)).collect();
        let sqnr = score_sqnr(&pair, &sequences);
        (total, worst) = (total + sqnr, worst.min(sqnr));
        if sqnr.is_nan() || sqnr < SQNR_FLOOR {
            below.push(format!("{sqnr:.1} dB, seed {seed}: {json}"));
        }
    }
    println!("{shapes} shapes: mean {:.1} dB, worst {worst:.1} dB", total / shapes as f64);
    assert!(below.is_empty(), "below {SQNR_FLOOR} dB:\n{}", below.join("\n"));
}
