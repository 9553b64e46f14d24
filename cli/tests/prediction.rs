//! What `inspect` predicts against what an emulated chip counts: within a tenth, for models of many shapes.
//!
//! To fit the prices of `inspect/cost.rs` again, run this with `--nocapture`: it prints, for every model, the units and the
//! counts of its layers.

mod support;

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use support::{folder, json, success, write_model};

/// Furthest that a prediction may be from the count.
const TOLERANCE: f64 = 0.10;

/// Shapes that differ in everything that costs: name, input, embed, width, blocks, heads, hidden, window, and the rest.
const SHAPES: [(&str, &str); 15] = [
    (
        "wide",
        r#""input":{"features":12},"embed":{"kind":"linear"},"width":64,"blocks":2,"heads":4,"hidden":256,"window":49,"positions":"alibi","norm":"layer","norm_first":true,"activation":"gelu","pool":{"kind":"last"}"#,
    ),
    (
        "narrow",
        r#""input":{"features":1},"embed":{"kind":"linear","frames":8,"stride":4},"width":16,"blocks":3,"heads":2,"hidden":32,"window":64,"positions":"alibi","norm":"layer","norm_first":true,"activation":"relu","pool":{"kind":"mean","tokens":0}"#,
    ),
    (
        "stem",
        r#""input":{"features":40},"embed":{"kind":"convolution","channels":16,"kernel":[6,8],"stride":[4,4],"depthwise_kernel":[3,3],"depthwise_stride":[1,2]},"width":48,"blocks":3,"heads":4,"hidden":96,"window":24,"positions":"alibi","norm":"layer","norm_first":true,"activation":"relu","convolution":5,"pool":{"kind":"mean","tokens":12}"#,
    ),
    (
        "last",
        r#""input":{"features":6},"embed":{"kind":"linear"},"width":40,"blocks":2,"heads":5,"hidden":80,"window":100,"positions":"learned","context":200,"norm":"layer","norm_first":false,"activation":"relu","pool":{"kind":"last"}"#,
    ),
    (
        "letters",
        r#""input":{"tokens":90},"embed":{"kind":"table"},"width":96,"blocks":4,"heads":6,"hidden":192,"window":64,"positions":"alibi","norm":"rms","norm_first":true,"activation":"silu","pool":{"kind":"each"}"#,
    ),
    (
        "tiny",
        r#""input":{"features":3},"embed":{"kind":"linear"},"width":8,"blocks":1,"heads":1,"hidden":16,"window":8,"positions":"none","norm":"layer","norm_first":true,"activation":"relu","pool":{"kind":"last"}"#,
    ),
    (
        "deep",
        r#""input":{"features":16},"embed":{"kind":"linear","frames":3,"stride":2},"width":32,"blocks":8,"heads":2,"hidden":64,"window":32,"positions":"sinusoidal","context":64,"norm":"rms","norm_first":true,"activation":"gelu","convolution":3,"pool":{"kind":"mean","tokens":0}"#,
    ),
    (
        "large",
        r#""input":{"features":24},"embed":{"kind":"linear"},"width":128,"blocks":2,"heads":8,"hidden":512,"window":128,"positions":"alibi","norm":"layer","norm_first":true,"activation":"gelu","pool":{"kind":"mean","tokens":16}"#,
    ),
    (
        "odd",
        r#""input":{"features":13},"embed":{"kind":"linear"},"width":30,"blocks":2,"heads":3,"hidden":50,"window":17,"positions":"alibi","norm":"layer","norm_first":false,"activation":"gelu","pool":{"kind":"last"}"#,
    ),
    (
        "ears",
        r#""input":{"features":40},"embed":{"kind":"convolution","channels":24,"kernel":[4,5],"stride":[2,2],"depthwise_kernel":[2,5],"depthwise_stride":[1,3]},"width":64,"blocks":2,"heads":2,"hidden":128,"window":40,"positions":"alibi","norm":"rms","norm_first":true,"activation":"silu","pool":{"kind":"each"}"#,
    ),
    (
        "long",
        r#""input":{"features":2},"embed":{"kind":"linear","frames":10,"stride":10},"width":24,"blocks":2,"heads":4,"hidden":48,"window":200,"positions":"alibi","norm":"layer","norm_first":true,"activation":"silu","convolution":7,"pool":{"kind":"mean","tokens":0}"#,
    ),
    (
        "bytes",
        r#""input":{"tokens":256},"embed":{"kind":"table"},"width":64,"blocks":3,"heads":4,"hidden":128,"window":96,"positions":"none","norm":"layer","norm_first":true,"activation":"relu","pool":{"kind":"each"}"#,
    ),
    (
        "single",
        r#""input":{"features":4},"embed":{"kind":"linear"},"width":96,"blocks":2,"heads":1,"hidden":200,"window":64,"positions":"sinusoidal","context":64,"norm":"layer","norm_first":false,"final_norm":false,"activation":"relu","pool":{"kind":"mean","tokens":0}"#,
    ),
    (
        "patches",
        r#""input":{"features":40},"embed":{"kind":"linear","frames":5,"stride":2},"width":12,"blocks":2,"heads":1,"hidden":41,"window":31,"positions":"none","norm":"layer","norm_first":true,"activation":"silu","pool":{"kind":"mean","tokens":5}"#,
    ),
    (
        "axes",
        r#""input":{"features":6},"embed":{"kind":"linear","frames":16,"stride":8},"width":32,"blocks":2,"heads":4,"hidden":64,"window":32,"positions":"alibi","norm":"rms","norm_first":false,"activation":"gelu","convolution":5,"pool":{"kind":"mean","tokens":0}"#,
    ),
];

fn check(test: &str, board: &str) {
    let folder = folder(test);
    std::fs::create_dir_all(folder.join("shapes")).expect("a folder");
    for (index, (name, shape)) in SHAPES.iter().enumerate() {
        let labels: Vec<_> = (0..3 + 7 * index).map(|label| format!("\"{label}\"")).collect();
        let model = format!(r#"{{"format":1,"name":"{name}",{shape},"labels":[{}]}}"#, labels.join(","));
        write_model(&model, &folder.join(format!("shapes/{name}.safetensors")));
    }
    let counts = count(&folder, board);
    let mut worst: f64 = 0.0;
    for (name, _) in SHAPES {
        let report = json(&folder, &["inspect", &format!("shapes/{name}.safetensors"), "--json"]);
        let boards = report["boards"].as_array().expect("boards");
        let row = boards.iter().find(|row| row["board"] == board).expect("the board is known");
        let predicted = row["instructions_per_token"].as_f64().expect("a number");
        let counted = counts[name];
        println!("{name}: {predicted} predicted, {counted} counted, {:+.1} %", 100.0 * (predicted / counted - 1.0));
        for layer in report["layers"].as_array().expect("layers") {
            println!("units {name} {layer}");
        }
        worst = worst.max((predicted / counted - 1.0).abs());
    }
    assert!(worst <= TOLERANCE, "the worst prediction is {:.1} % off", 100.0 * worst);
}

/// Instructions of one token of each model, counted in QEMU.
fn count(folder: &Path, board: &str) -> HashMap<String, f64> {
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let first = "shapes/tiny.safetensors";
    success(folder, &["new", "measure", "--model", first, "--path", repository, "--board", board]);
    let measure = folder.join("measure");
    std::fs::rename(folder.join("shapes"), measure.join("models")).expect("the models move");
    std::fs::write(measure.join("build.rs"), include_str!("measure/build.rs.txt")).expect("a build script");
    std::fs::write(measure.join("src/main.rs"), include_str!("measure/main.rs.txt")).expect("a program");
    edit(&measure.join("Cargo.toml"), "[dependencies]", "[dependencies]\nheapless = \"0.9\"");
    // An instruction takes 64 ns of the emulated clock.
    edit(&measure.join(".cargo/config.toml"), "-nographic", "-nographic -icount shift=6");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--release", "--quiet"])
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder"))
        .env_remove("CARGO_BUILD_TARGET")
        .current_dir(&measure)
        .output()
        .expect("cargo can be started");
    let log = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{log}{}", String::from_utf8_lossy(&output.stderr));
    println!("{log}");
    std::fs::rename(measure.join("models"), folder.join("shapes")).expect("the models move back");
    let total = |line: &str| {
        let mut words = line.strip_prefix("total ")?.split(' ');
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    log.lines().filter_map(total).collect()
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).expect("a file of the new crate");
    assert!(text.contains(from));
    std::fs::write(path, text.replace(from, to)).expect("the file can be written");
}

#[test]
fn predictions_hold_with_the_dsp_extension() {
    check("prediction-m4", "mps2-an386");
}

#[test]
fn predictions_hold_without_the_dsp_extension() {
    check("prediction-m3", "mps2-an385");
}
