//! `evaluate --stream` on the repository's own sound: what is heard, and thresholds that end up in the model file.

mod support;

use microformer_bake::Quantized;
use serde_json::Value;
use std::path::{Path, PathBuf};
use support::{failure, folder, success};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A copy of the keyword model, and sounds/demo.csv as spans of 0.8 s.
fn prepare(test: &str) -> PathBuf {
    let folder = folder(test);
    std::fs::copy(repository().join("models/keyword/quantized.safetensors"), folder.join("model.safetensors")).unwrap();
    let spoken = std::fs::read_to_string(repository().join("sounds/demo.csv")).unwrap();
    let mut spans = "file,start,samples,label\n".to_owned();
    for (word, start) in spoken.lines().skip(1).filter_map(|line| line.split_once(',')) {
        let start = (16000.0 * start.parse::<f64>().unwrap()) as usize;
        spans += &format!("demo.wav,{start},12800,{word}\n");
    }
    std::fs::write(folder.join("demo.csv"), spans).unwrap();
    folder
}

fn evaluate(folder: &Path, more: &[&str]) -> Value {
    let sounds = repository().join("sounds");
    let root = sounds.to_str().unwrap();
    let arguments =
        [&["evaluate", "model.safetensors", "demo.csv", "--root", root, "--stream", "--json"], more].concat();
    serde_json::from_str(&success(folder, &arguments)).expect("JSON")
}

#[test]
fn tuned_thresholds_are_those_of_the_file() {
    let folder = prepare("stream");
    let first = evaluate(&folder, &["--curve", "curve.svg"]);
    let number = |report: &Value, name: &str| report["own"][name].as_u64().unwrap();
    // Eleven words and `house`, which is none.
    assert_eq!((first["words"].as_u64(), first["other_words"].as_u64()), (Some(11), Some(1)));
    assert_eq!(number(&first, "heard") + number(&first, "misses"), 11);
    assert!(number(&first, "heard") >= 7, "{}", first["own"]);
    assert_eq!(first["by_word"].as_array().map(Vec::len), Some(10));
    assert!(std::fs::read_to_string(folder.join("curve.svg")).unwrap().starts_with("<svg"));

    let tuned = evaluate(&folder, &["--tune", "0"]);
    assert_eq!(number(&tuned, "false_alarms"), 0);
    let model = Quantized::read(&folder.join("model.safetensors")).unwrap();
    let thresholds = model.config.decide.expect("decisions").thresholds;
    assert_eq!(thresholds.len(), 10);
    let again = evaluate(&folder, &[]);
    assert_eq!(again["own"], tuned["own"]);
    assert_eq!(again["by_word"], tuned["by_word"]);
    for word in again["by_word"].as_array().unwrap() {
        assert_eq!(thresholds[word["word"].as_str().unwrap()], word["threshold"].as_f64().unwrap());
    }
}

#[test]
fn quantising_again_keeps_tuned_thresholds() {
    let folder = prepare("stream-kept");
    let root = repository();
    let float = root.join("models/keyword/float.safetensors");
    let sound = root.join("sounds/demo.wav");
    let quantize = |output: &str| {
        let (float, sound) = (float.to_str().unwrap(), sound.to_str().unwrap());
        success(&folder, &["quantize", float, "--calibration", sound, "-o", output])
    };
    let thresholds = |file: &str| {
        let model = Quantized::read(&folder.join(file)).unwrap();
        model.config.decide.map_or(0, |decide| decide.thresholds.len())
    };
    let tuned = thresholds("model.safetensors");
    assert!(tuned > 0, "the committed model is tuned");
    assert!(quantize("model.safetensors").contains(&format!("kept the {tuned} thresholds")));
    assert_eq!(thresholds("model.safetensors"), tuned);
    assert!(!quantize("fresh.safetensors").contains("kept"));
    assert_eq!(thresholds("fresh.safetensors"), 0);
}

#[test]
fn wishes_that_make_no_sense_are_refused() {
    let folder = prepare("stream-wishes");
    let sounds = repository().join("sounds");
    let base = ["evaluate", "model.safetensors", "demo.csv", "--root", sounds.to_str().unwrap(), "--stream"];
    assert!(failure(&folder, &[&base[..], &["--tune=-1"]].concat()).contains("--tune"));
    assert!(failure(&folder, &[&base[..], &["--qemu", "0"]].concat()).contains("--qemu 0"));
    std::fs::write(folder.join("demo.csv"), "file,start,samples,label\ndemo.wav,0,99999999,yes\n").unwrap();
    assert!(failure(&folder, &base).contains("demo.wav"));
}
