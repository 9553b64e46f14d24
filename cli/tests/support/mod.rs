//! What the tests share: the built tool, a folder for each test, small models and data.

// Each test takes its own part.
#![allow(dead_code)]

use host_tests::models;
use microformer_bake::{Matrix, Quantized};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Three features a frame, a mean over all tokens, three labels.
pub const SENSOR: &str = r#"{"format":1,"name":"sensor","input":{"features":3},"embed":{"kind":"linear","frames":2,"stride":2},
    "width":16,"blocks":2,"heads":2,"hidden":24,"window":8,"positions":"alibi","norm":"layer","norm_first":true,
    "activation":"gelu","pool":{"kind":"mean","tokens":0},"labels":["walk","run","rest"]}"#;

/// Five characters.
pub const TEXT: &str = r#"{"format":1,"name":"text","input":{"tokens":5},"embed":{"kind":"table"},"width":16,"blocks":2,
    "heads":2,"hidden":24,"window":8,"positions":"none","norm":"rms","norm_first":true,"activation":"silu",
    "pool":{"kind":"each"},"labels":["a","b","c"," ","\n"]}"#;

/// Hears words.
pub const SOUND: &str = r#"{"format":1,"name":"sound","input":{"features":40},"embed":{"kind":"convolution","channels":8,
    "kernel":[4,8],"stride":[4,4],"depthwise_kernel":[3,3],"depthwise_stride":[1,2]},"width":24,"blocks":1,"heads":2,
    "hidden":32,"window":12,"positions":"alibi","norm":"layer","norm_first":true,"activation":"relu","convolution":3,
    "pool":{"kind":"mean","tokens":8},"labels":["yes","no","_unknown_"],
    "signal":{"sample_rate":16000,"window_ms":30,"step_ms":10,"channels":40,"lower_hz":125,"upper_hz":7500,
    "log":{"scale_shift":6}},"normalize":{"mean":400,"std":150}}"#;

/// A folder of its own for a test, empty.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder for tests can be written");
    folder
}

/// The tool in a folder.
pub fn tool(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_microformer"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the tool can be started")
}

/// What a run that must succeed has printed.
pub fn success(folder: &Path, arguments: &[&str]) -> String {
    let output = tool(folder, arguments);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?} failed: {complaints}");
    String::from_utf8(output.stdout).expect("output is text")
}

/// The one line by which a run that must fail says why.
pub fn failure(folder: &Path, arguments: &[&str]) -> String {
    let output = tool(folder, arguments);
    let complaint = String::from_utf8(output.stderr).expect("errors are text").trim_end().to_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?} must fail with 1: {complaint}");
    assert!(complaint.starts_with("error: ") && complaint.lines().count() == 1, "one line, not {complaint:?}");
    complaint
}

/// JSON that a run has printed.
pub fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&success(folder, arguments)).expect("output is JSON")
}

/// Writes the quantised form of a random model of that shape.
pub fn write_model(json: &str, path: &Path) -> Quantized {
    let quantized = models::pair(json, 1).quantized;
    quantized.write(path).expect("the model can be written");
    quantized
}

/// A float model that PyTorch made, of the golden vectors.
pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../host-tests/golden").join(format!("{name}.model.safetensors"))
}

/// Rows as CSV text.
pub fn csv(frames: &Matrix) -> String {
    let row = |row: usize| frames.row(row).iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    (0..frames.rows).map(row).collect()
}

/// An array of an .npz.
pub enum Array<'a> {
    F32(&'a [u64], Vec<f32>),
    I64(&'a [u64], Vec<i64>),
}

/// Writes a NumPy archive.
pub fn write_npz(path: &Path, arrays: &[(&str, Array)]) {
    use npyz::WriterBuilder;
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).expect("the archive can be made"));
    for (name, array) in arrays {
        archive.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).expect("a new entry");
        macro_rules! write {
            ($shape:expr, $values:expr) => {{
                let options = npyz::WriteOptions::new().default_dtype().shape($shape);
                let mut writer = options.writer(&mut archive).begin_nd().expect("a header");
                writer.extend($values.iter().copied()).expect("values");
                writer.finish().expect("an end");
            }};
        }
        match array {
            Array::F32(shape, values) => write!(shape, values),
            Array::I64(shape, values) => write!(shape, values),
        }
    }
    archive.finish().expect("the archive can be written");
}

/// A second of a tone that swells and fades, as a 16-bit WAV.
pub fn write_wav(path: &Path, rate: u32, seconds: f64) {
    let count = (f64::from(rate) * seconds) as u32;
    let sample = |index: u32| {
        let time = f64::from(index) / f64::from(rate);
        (8000.0 * (2765.0 * time).sin() * (3.0 * time).sin()) as i16
    };
    let mut bytes = Vec::new();
    bytes.extend(b"RIFF");
    bytes.extend((36 + 2 * count).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    for word in [16u32, 1 | 1 << 16, rate, 2 * rate, 2 | 16 << 16] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(b"data");
    bytes.extend((2 * count).to_le_bytes());
    bytes.extend((0..count).flat_map(|index| sample(index).to_le_bytes()));
    std::fs::write(path, bytes).expect("the WAV can be written");
}

/// Values between -1 and 1 that look like a sensor's.
pub fn wave(count: usize) -> Vec<f32> {
    (0..count).map(|index| (index as f32 * 0.37).sin()).collect()
}
