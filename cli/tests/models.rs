//! `run`, `evaluate` and `inspect` on models of every kind, good and bad.

mod support;

use host_tests::{models, random::Random};
use microformer_bake::{FloatModel, Matrix};
use reference::Input;
use support::{Array, SENSOR, SOUND, TEXT, csv, failure, folder, golden, json, success, wave, write_model, write_npz};

/// A model of PyTorch, quantised by the library, beside the float file.
fn quantize_golden(name: &str, folder: &std::path::Path) -> FloatModel {
    let float = FloatModel::read(&golden(name)).expect("a golden model");
    let mut random = Random::new(5);
    let calibration: Vec<_> = (0..8).map(|_| models::sequence(&float.config, 12, &mut random)).collect();
    let inputs: Vec<Input> = calibration.iter().map(models::Sequence::input).collect();
    let ranges = quantizer::Ranges::observe(&float, &inputs, || ()).expect("data that fit");
    quantizer::quantize(&float, &ranges)
        .expect("a model that can be quantised")
        .write(&folder.join("q.safetensors"))
        .expect("the model can be written");
    std::fs::copy(golden(name), folder.join("f.safetensors")).expect("the model can be copied");
    float
}

#[test]
fn float_and_integer_are_compared() {
    let folder = folder("models-compare");
    let float = quantize_golden("norm-first-gelu", &folder);
    let features = float.config.features();
    let labels = float.config.labels.len();
    let count = 12 * 10 * features;
    write_npz(
        &folder.join("x.npz"),
        &[
            ("x", Array::F32(&[12, 10, features as u64], wave(count))),
            ("y", Array::I64(&[12], (0..12).map(|index| index % labels as i64).collect())),
        ],
    );
    let arguments = ["evaluate", "q.safetensors", "x.npz", "--float", "f.safetensors"];
    let report = json(&folder, &[&arguments[..], &["--json", "--confusion", "c.svg"]].concat());
    assert_eq!(report["difference"]["decisions"], 12);
    assert!(report["difference"]["score_sqnr_db"].as_f64().expect("a ratio") > 25.0, "{report}");
    let confusion = report["integer"]["confusion"].as_array().expect("rows");
    let sum: u64 =
        confusion.iter().flat_map(|row| row.as_array().expect("cells")).filter_map(|cell| cell.as_u64()).sum();
    assert_eq!((confusion.len(), sum), (labels, 12));
    assert!(std::fs::read_to_string(folder.join("c.svg")).expect("a picture").starts_with("<svg"));
    let text = success(&folder, &arguments);
    assert!(text.contains("float    accuracy") && text.contains("integer  accuracy") && text.contains("confusion"));
    // A float model alone, and two of one kind.
    assert!(success(&folder, &["evaluate", "f.safetensors", "x.npz"]).contains("float    accuracy"));
    let words = failure(&folder, &["evaluate", "f.safetensors", "x.npz", "--float", "f.safetensors"]);
    assert!(words.contains("are of one kind"));
}

#[test]
fn a_run_of_a_float_model_is_the_reference() {
    let folder = folder("models-reference");
    let float = quantize_golden("norm-last-relu", &folder);
    let frames = Matrix::from_fn(6, float.config.features(), |row, column| ((row * 3 + column) as f64).sin());
    std::fs::write(folder.join("x.csv"), csv(&frames)).expect("a table");
    let report = json(&folder, &["run", "f.safetensors", "x.csv", "--json"]);
    let scores = reference::forward(&float, Input::Features(&frames), &mut |_, _| ()).expect("frames that fit");
    let scores = reference::pool(float.config.pool, &scores);
    let last = report["final"]["scores"].as_array().expect("scores");
    for (printed, computed) in last.iter().zip(scores.row(scores.rows - 1)) {
        assert!((printed.as_f64().expect("a number") - computed).abs() < 1e-9);
    }
}

#[test]
fn attention_is_drawn_for_every_layer_and_head() {
    let folder = folder("models-attention");
    write_model(TEXT, &folder.join("q.safetensors"));
    std::fs::write(folder.join("x.txt"), "abc abc abc abc\n").expect("a text");
    success(&folder, &["run", "q.safetensors", "x.txt", "--attention", "a.svg"]);
    let picture = std::fs::read_to_string(folder.join("a.svg")).expect("a picture");
    for panel in ["layer 0, head 0", "layer 0, head 1", "layer 1, head 0", "layer 1, head 1"] {
        assert!(picture.contains(panel));
    }
    let words = failure(&folder, &["run", "q.safetensors", "x.txt", "--attention", "a.png"]);
    assert!(words.contains("a.png: pictures are SVG"));
}

#[test]
fn inspect_counts_what_is_there() {
    let folder = folder("models-inspect");
    let quantized = write_model(SENSOR, &folder.join("q.safetensors"));
    let report = json(&folder, &["inspect", "q.safetensors", "--json"]);
    // embed 16·(6+1); block: 4·16·17 + 24·17 + 16·25 + 2·32; final norm 32; head 3·17.
    assert_eq!(report["parameters"], 112 + 2 * (1088 + 408 + 400 + 64) + 32 + 51);
    // Labels are padded to four rows: 16·8 + 2·(4·256 + 2·2·8·8 + 2·16·24) + 4·16.
    assert_eq!(report["macs_per_token"], 128 + 2 * (1024 + 256 + 768) + 64);
    let wide = quantized.assemble(microformer_packed::Layout::WideInTwos).expect("a sound model");
    let words = microformer_packed::Memory::of(wide.model, 1).words() as u64;
    let microbit = &report["boards"][0];
    let state = microbit["history_bytes"].as_u64().expect("bytes") + microbit["scratch_bytes"].as_u64().expect("bytes");
    assert_eq!((&microbit["board"], state), (&"microbit".into(), 4 * words));
    assert_eq!(microbit["fits"], true);
    let float = json(&folder, &["inspect", golden("tokens-gelu").to_str().expect("a path"), "--json"]);
    assert_eq!(float["kind"], "float");
    for model in [TEXT, SOUND] {
        write_model(model, &folder.join("other.safetensors"));
        assert!(success(&folder, &["inspect", "other.safetensors"]).contains("blocks.0.attention"));
    }
}

#[test]
fn a_model_that_does_not_fit_is_said_not_to() {
    let folder = folder("models-large");
    let large = SENSOR.replace("\"width\":16", "\"width\":128").replace("\"window\":8", "\"window\":512");
    write_model(&large, &folder.join("q.safetensors"));
    let report = json(&folder, &["inspect", "q.safetensors", "--json"]);
    assert_eq!((&report["boards"][0]["board"], &report["boards"][0]["fits"]), (&"microbit".into(), &false.into()));
    assert!(success(&folder, &["inspect", "q.safetensors"]).contains("no: needs"));
}

#[test]
fn bad_models_are_named() {
    let folder = folder("models-bad");
    let whole = folder.join("q.safetensors");
    write_model(SENSOR, &whole);
    let bytes = std::fs::read(&whole).expect("the model");
    std::fs::write(folder.join("x.csv"), "1,2,3\n1,2,3\n").expect("a table");
    for (name, content) in [("empty", &bytes[..0]), ("cut", &bytes[..bytes.len() / 2]), ("noise", &[7; 64])] {
        let file = format!("{name}.safetensors");
        std::fs::write(folder.join(&file), content).expect("a file");
        for arguments in [vec!["inspect", &file], vec!["run", &file, "x.csv"], vec!["evaluate", &file, "x.csv"]] {
            assert!(failure(&folder, &arguments).contains(&file));
        }
    }
    assert!(failure(&folder, &["inspect", "absent.safetensors"]).contains("cannot open absent.safetensors"));
}
