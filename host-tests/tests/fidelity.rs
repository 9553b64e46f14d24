//! Whole integer models against the float reference: models of many shapes, none of them chosen for comfort.

use host_tests::{fidelity::score_sqnr, models, random::Random};

/// What every model's scores must reach against float math, in decibels.
const SQNR_FLOOR: f64 = 33.0;

fn check(json: &str) {
    let mut worst = f64::INFINITY;
    for seed in 1..=3 {
        let pair = models::pair(json, seed);
        let mut random = Random::new(1000 + seed);
        let sequences: Vec<_> = (0..8).map(|_| models::sequence(&pair.float.config, 40, &mut random)).collect();
        let sqnr = score_sqnr(&pair, &sequences);
        println!("seed {seed}: {sqnr:.1} dB");
        worst = worst.min(sqnr);
    }
    assert!(worst >= SQNR_FLOOR, "{worst:.1} dB is below {SQNR_FLOOR} dB");
}

#[test]
fn norm_first_gelu_alibi_mean() {
    check(
        r#"{"format":1,"name":"a","input":{"features":13},"embed":{"kind":"linear"},"width":48,"blocks":2,"heads":4,
        "hidden":96,"window":16,"positions":"alibi","norm":"layer","norm_first":true,"activation":"gelu",
        "pool":{"kind":"mean","tokens":8},"labels":["a","b","c","d","e"]}"#,
    );
}

#[test]
fn norm_last_relu_learned() {
    check(
        r#"{"format":1,"name":"b","input":{"features":6},"embed":{"kind":"linear","frames":3,"stride":2},"width":40,
        "blocks":3,"heads":5,"hidden":70,"window":64,"positions":"learned","context":64,"norm":"layer",
        "norm_first":false,"final_norm":false,"activation":"relu","pool":{"kind":"last"},"labels":["a","b","c"]}"#,
    );
}

#[test]
fn norm_last_gelu_sinusoidal_final_norm() {
    check(
        r#"{"format":1,"name":"c","input":{"features":9},"embed":{"kind":"linear"},"width":30,"blocks":2,"heads":3,
        "hidden":50,"window":40,"positions":"sinusoidal","context":64,"norm":"layer","norm_first":false,
        "activation":"gelu","pool":{"kind":"mean","tokens":0},"labels":["a","b"]}"#,
    );
}

#[test]
fn rms_silu_tokens() {
    check(
        r#"{"format":1,"name":"d","input":{"tokens":57},"embed":{"kind":"table"},"width":64,"blocks":4,"heads":4,
        "hidden":128,"window":24,"positions":"alibi","norm":"rms","norm_first":true,"activation":"silu",
        "pool":{"kind":"each"},"labels":["a","b","c","d","e","f","g"]}"#,
    );
}

#[test]
fn convolution_stem_and_perceptron_convolution() {
    check(
        r#"{"format":1,"name":"e","input":{"features":20},"embed":{"kind":"convolution","channels":7,"kernel":[6,5],
        "stride":[4,2],"depthwise_kernel":[3,3],"depthwise_stride":[1,2]},"width":24,"blocks":3,"heads":2,"hidden":54,
        "window":12,"positions":"alibi","norm":"layer","norm_first":true,"activation":"gelu","convolution":5,
        "pool":{"kind":"mean","tokens":10},"labels":["a","b","c","d"]}"#,
    );
}

#[test]
fn wide_and_deep_without_biases() {
    check(
        r#"{"format":1,"name":"f","input":{"features":16},"embed":{"kind":"linear"},"width":96,"blocks":6,"heads":8,
        "hidden":384,"window":40,"positions":"none","norm":"layer","norm_first":true,"activation":"relu",
        "pool":{"kind":"last"},"labels":["a","b","c","d","e","f","g","h","i","j"]}"#,
    );
}
