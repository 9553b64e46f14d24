//! Bad input of every subcommand: one sentence that names the file, a failing exit code, and nothing half-written.

mod support;

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{Array, SENSOR, TEXT, failure, folder, golden, json, success, tool, wave, write_model, write_npz};

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file can be written");
}

/// A float model of PyTorch's with a frame of `features` values, and data that fit it.
fn float_model(folder: &Path) -> usize {
    std::fs::copy(golden("norm-first-gelu"), folder.join("f.safetensors")).expect("the model can be copied");
    let shape = json(folder, &["inspect", "f.safetensors", "--json"]);
    let features = shape["shape"]["input"]["features"].as_u64().expect("features") as usize;
    let x = Array::F32(&[4, 12, features as u64], wave(4 * 12 * features));
    write_npz(&folder.join("x.npz"), &[("x", x), ("y", Array::I64(&[4], vec![0, 1, 0, 1]))]);
    features
}

#[test]
fn a_model_with_a_nan_is_named_with_its_tensor() {
    let folder = folder("bad-nan");
    float_model(&folder);
    let mut bytes = std::fs::read(folder.join("f.safetensors")).expect("the model");
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(folder.join("nan.safetensors"), bytes).expect("a file");
    for arguments in [
        vec!["inspect", "nan.safetensors"],
        vec!["run", "nan.safetensors", "x.npz"],
        vec!["evaluate", "nan.safetensors", "x.npz"],
        vec!["quantize", "nan.safetensors", "--calibration", "x.npz", "-o", "q.safetensors"],
        vec!["new", "mine", "--model", "nan.safetensors"],
    ] {
        let words = failure(&folder, &arguments);
        assert!(words.contains("nan.safetensors") && words.to_lowercase().contains("nan"), "{words}");
    }
    assert!(!folder.join("q.safetensors").exists() && !folder.join("mine").exists());
}

#[test]
fn bad_calibration_data_leave_no_model() {
    let folder = folder("bad-calibration");
    let features = float_model(&folder);
    write(&folder, "empty.npz", "");
    write(&folder, "text.csv", &format!("{}\n{}left\n", vec!["a"; features].join(","), "1,".repeat(features - 1)));
    let mut values = wave(10 * features);
    values[features] = f32::INFINITY;
    write_npz(&folder.join("infinite.npz"), &[("x", Array::F32(&[1, 10, features as u64], values))]);
    let wide = features as u64 + 1;
    write_npz(&folder.join("wide.npz"), &[("x", Array::F32(&[1, 10, wide], wave(10 * wide as usize)))]);
    for (data, expected) in [
        ("absent.npz", "does not exist"),
        ("empty.npz", "is empty (0 bytes)"),
        ("text.csv", "\"left\" is not a number"),
        ("infinite.npz", "inf in frame 1, feature 0"),
        ("wide.npz", "but model `"),
    ] {
        let words = failure(&folder, &["quantize", "f.safetensors", "--calibration", data, "-o", "q.safetensors"]);
        assert!(words.contains(data) && words.contains(expected), "{words}");
        assert!(!folder.join("q.safetensors").exists());
    }
    let nowhere = ["quantize", "f.safetensors", "--calibration", "x.npz", "-o", "absent/q.safetensors"];
    assert!(failure(&folder, &nowhere).contains("absent/q.safetensors: cannot be written"));
}

#[test]
fn a_quantised_model_is_not_quantised_again() {
    let folder = folder("bad-twice");
    float_model(&folder);
    let report =
        json(&folder, &["quantize", "f.safetensors", "--calibration", "x.npz", "-o", "q.safetensors", "--json"]);
    let operators = report["operators"].as_array().expect("operators");
    let shares: f64 = operators.iter().filter_map(|operator| operator["share"].as_f64()).sum();
    assert!((shares - 1.0).abs() < 1e-9 && operators.len() > 8, "{report}");
    // What the operators do alone adds up to what the whole model shows, within 6 dB.
    let noise = |operator: &serde_json::Value| 10f64.powf(-operator["scores_db"].as_f64().expect("a ratio") / 10.0);
    let together = -10.0 * operators.iter().map(noise).sum::<f64>().log10();
    let whole = report["scores_db"].as_f64().expect("a ratio");
    assert!((together - whole).abs() < 6.0, "{together} dB alone, {whole} dB together");
    let words = failure(&folder, &["quantize", "q.safetensors", "--calibration", "x.npz", "-o", "r.safetensors"]);
    assert!(words.contains("q.safetensors is quantised already"), "{words}");
}

#[test]
fn weights_of_four_bits_fit_a_smaller_flash() {
    let folder = folder("four-bits");
    float_model(&folder);
    let start = ["quantize", "f.safetensors", "--calibration", "x.npz", "-o", "q.safetensors"];
    let quantize = |more: &[&str]| json(&folder, &[&start[..], more, &["--json"]].concat());
    let flash = || {
        let report = json(&folder, &["inspect", "q.safetensors", "--json"]);
        let boards = report["boards"].as_array().expect("boards").clone();
        let board = boards.into_iter().find(|board| board["board"] == "mps2-an386").expect("the board is known");
        board["flash_bytes"].as_u64().expect("bytes")
    };
    assert!(quantize(&[]).get("eight_bits").is_none());
    let eight = flash();
    let report = quantize(&["--bits", "4"]);
    let four = flash();
    assert!(four < eight, "{four} bytes with 4 bits, {eight} with 8");
    let loss = |report: &serde_json::Value| {
        report["eight_bits"]["scores_db"].as_f64().expect("a ratio") - report["scores_db"].as_f64().expect("a ratio")
    };
    assert!(loss(&report) > 3.0, "4 bits must cost something: {report}");
    success(&folder, &["evaluate", "q.safetensors", "x.npz"]);

    let middle = (eight + four) / 2;
    let report = quantize(&["--flash", &middle.to_string()]);
    assert!(flash() <= middle, "{} bytes of {middle}", flash());
    let weighed = report["four_bits"].as_array().expect("what was weighed");
    let chosen = weighed.iter().filter(|matrix| matrix["chosen"] == true).count();
    assert!(chosen > 0 && chosen < weighed.len(), "{report}");

    let fails = |more: &[&str]| failure(&folder, &[&start[..], more].concat());
    assert!(fails(&["--flash", "1K"]).contains("with 4 bits in every block"));
    assert!(fails(&["--bits", "blocks.9=4"]).contains("there is no matrix `blocks.9`"));
    assert!(fails(&["--bits", "3"]).contains("weights have 4 or 8 bits"));
}

#[test]
fn a_board_that_is_too_small_is_said_to_be() {
    let folder = folder("bad-board");
    let wide = SENSOR.replace("\"width\":16", "\"width\":64").replace("\"window\":8", "\"window\":512");
    write_model(&wide, &folder.join("q.safetensors"));
    write(&folder, "x.csv", "a,b,c,label\n1,2,3,walk\n1,2,3,walk\n");
    let qemu = ["evaluate", "q.safetensors", "x.csv", "--qemu", "1", "--board", "microbit"];
    assert!(failure(&folder, &qemu).contains("RAM"));
    let qemu = ["evaluate", "q.safetensors", "x.csv", "--qemu", "1", "--board", "toaster"];
    assert!(failure(&folder, &qemu).contains("no board toaster"));
}

#[test]
fn unknown_words_are_refused_with_help() {
    let folder = folder("bad-words");
    for command in ["convert", "features", "evaluate", "inspect", "quantize", "new", "run"] {
        let output = tool(&folder, &[command, "--nonsense"]);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(words.contains("'--nonsense'") && words.contains("--help"), "{words}");
        let help = success(&folder, &[command, "--help"]);
        assert!(help.contains("Example"), "{command} --help has no example");
    }
    assert_eq!(tool(&folder, &["explode"]).status.code(), Some(2));
}

#[test]
fn bad_sound_is_named() {
    let folder = folder("bad-sound");
    write(&folder, "empty.wav", "");
    write(&folder, "noise.wav", "this is not a sound");
    for file in ["absent.wav", "empty.wav", "noise.wav"] {
        assert!(failure(&folder, &["convert", file, "out.wav"]).contains(file));
        assert!(failure(&folder, &["features", file, "-o", "out.safetensors"]).contains(file));
    }
    assert!(!folder.join("out.wav").exists() && !folder.join("out.safetensors").exists());
}

#[test]
fn what_cannot_be_continued_is_refused() {
    let folder = folder("bad-prompt");
    write_model(TEXT, &folder.join("text.safetensors"));
    write_model(SENSOR, &folder.join("sensor.safetensors"));
    let refuse = |arguments: &[&str], expected: &str| {
        let words = failure(&folder, arguments);
        assert!(words.contains(expected), "{words}");
    };
    let text = ["run", "text.safetensors", "--generate", "5"];
    refuse(&text, "give --prompt TEXT");
    refuse(&[&text[..], &["--prompt", ""]].concat(), "it is empty");
    refuse(&[&text[..], &["--prompt", "abz"]].concat(), "the character 'z' is not among the labels");
    refuse(&[&text[..], &["--prompt", "a", "--temperature", "NaN"]].concat(), "--temperature NaN is not between");
    refuse(&["run", "sensor.safetensors", "--generate", "5", "--prompt", "a"], "takes features, not tokens");
    let float = golden("tokens-gelu");
    refuse(&["run", float.to_str().expect("a path"), "--generate", "5", "--prompt", "a"], "quantise it first");
    let again = |seed: &str| {
        let sampling = ["--prompt", "ab", "--temperature", "1.5", "--top-k", "4", "--seed", seed];
        success(&folder, &[&["run", "text.safetensors", "--generate", "40"], &sampling[..]].concat())
    };
    assert_eq!(again("3"), again("3"));
    assert_ne!(again("3"), again("4"));
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let folder = folder("bad-pipe");
    write_model(SENSOR, &folder.join("q.safetensors"));
    // Far more lines than a pipe holds.
    write(&folder, "long.csv", &"1,2,3\n".repeat(20_000));
    let mut child = Command::new(env!("CARGO_BIN_EXE_microformer"))
        .args(["run", "q.safetensors", "long.csv"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool can be started");
    let mut first = [0; 1];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("a first byte");
    let output = child.wait_with_output().expect("the tool ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(141));
}
