//! The front end against TensorFlow Lite Micro's: every value equal, on speech, noise, silence, full scale and extremes.
//!
//! `vectors/micro_frontend.py` made the vectors: `package` by the PyPI package pymicro-features, the others by that
//! package's sources with settings that it fixes.

use microformer::signal::{Complex, State, fft};
use microformer_bake::signal::{Settings, Tables};
use safetensors::SafeTensors;

static VECTORS: &[u8] = include_bytes!("../vectors/micro_frontend.safetensors");

/// What `bake` writes for firmware.
mod baked {
    include!(concat!(env!("OUT_DIR"), "/front_end.rs"));
}

const SIGNALS: [&str; 7] = ["speech", "noise", "quiet", "burst", "square", "lowest", "silence"];

/// Holds any front end.
type LargestState = State<1024, 512, 64>;

fn vector(name: &str) -> Vec<u16> {
    let file = SafeTensors::deserialize(VECTORS).expect("vectors are readable");
    let tensor = file.tensor(name).unwrap_or_else(|_| panic!("no vector {name}"));
    tensor.data().as_chunks().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect()
}

fn samples(signal: &str) -> Vec<i16> {
    vector(&format!("{signal}/samples")).into_iter().map(u16::cast_signed).collect()
}

/// All frames of a sound that arrives in pieces of at most `piece` samples.
fn features(tables: &Tables, samples: &[i16], piece: usize) -> Vec<u16> {
    let front_end = tables.front_end();
    let (mut state, mut frame) = (LargestState::new(), vec![0; front_end.filterbank.channels()]);
    let mut features = Vec::new();
    for mut part in samples.chunks(piece) {
        while state.process(&front_end, &mut part, &mut frame) {
            features.extend_from_slice(&frame);
        }
        assert!(part.is_empty(), "samples left over");
    }
    features
}

fn assert_equal(settings: &Settings, signal: &str, variant: &str) {
    let found = features(&settings.tables().expect("settings work"), &samples(signal), 160);
    let expected = vector(&format!("{signal}/{variant}"));
    assert_eq!(found.len(), expected.len(), "{signal}/{variant}: number of values");
    if let Some(place) = found.iter().zip(&expected).position(|(found, expected)| found != expected) {
        let (frame, channel) = (place / settings.channels, place % settings.channels);
        panic!("{signal}/{variant}: frame {frame}, channel {channel}: {} for {}", found[place], expected[place]);
    }
}

#[test]
fn equals_pymicro_features() {
    for signal in SIGNALS {
        assert_equal(&Settings::micro_frontend(), signal, "package");
    }
}

#[test]
fn equals_the_micro_frontend_without_noise_and_gain() {
    for signal in SIGNALS {
        assert_equal(&Settings::default(), signal, "plain");
    }
}

#[test]
fn equals_the_micro_frontend_with_noise_alone() {
    let settings = Settings { gain: None, ..Settings::micro_frontend() };
    for signal in ["speech", "noise", "lowest"] {
        assert_equal(&settings, signal, "noise");
    }
}

#[test]
fn equals_the_micro_frontend_with_other_windows() {
    let short = Settings { window_ms: 16, lower_hz: 60.0, upper_hz: 7600.0, ..Settings::micro_frontend() };
    let long = Settings { window_ms: 64, channels: 64, lower_hz: 20.0, upper_hz: 7900.0, ..Settings::micro_frontend() };
    for signal in ["speech", "noise", "lowest"] {
        assert_equal(&short, signal, "short");
        assert_equal(&long, signal, "long");
    }
}

#[test]
fn pieces_of_any_length_give_the_same_frames() {
    let tables = Settings::micro_frontend().tables().expect("settings work");
    let samples = samples("speech");
    let whole = features(&tables, &samples, samples.len());
    for piece in [1, 7, 159, 161, 479, 481, 5000] {
        assert_eq!(features(&tables, &samples, piece), whole, "pieces of {piece}");
    }
}

#[test]
fn baked_source_computes_the_same() {
    static STATE: std::sync::Mutex<baked::FrontEndState> = std::sync::Mutex::new(baked::FrontEndState::new());
    let mut state = STATE.lock().expect("used once");
    let (samples, mut frame, mut found) = (samples("speech"), [0; 40], Vec::new());
    let mut rest = &samples[..];
    while state.process(&baked::FRONT_END, &mut rest, &mut frame) {
        found.extend_from_slice(&frame);
    }
    assert_eq!(found, vector("speech/package"));
}

#[test]
fn state_is_small() {
    // 480 samples, 40 estimates, one counter of pointer size.
    assert_eq!(size_of::<baked::FrontEndState>(), 2 * 480 + 4 * 40 + size_of::<usize>());
}

#[test]
fn a_state_too_small_takes_nothing() {
    let tables = Settings::default().tables().expect("settings work");
    let (samples, mut frame) = ([1; 1000], [7; 40]);
    let mut rest = &samples[..];
    assert!(!State::<400, 256, 40>::new().process(&tables.front_end(), &mut rest, &mut frame));
    assert_eq!((rest.len(), frame), (1000, [7; 40]));
}

#[test]
fn ten_minutes_of_extremes_do_not_stop_it() {
    let tables = Settings::micro_frontend().tables().expect("settings work");
    for value in [0, 1, 32767, -32768] {
        let frames = features(&tables, &vec![value; 600 * 16000], 160);
        assert_eq!(frames.len(), 40 * (1 + (600 * 16000 - 480) / 160), "constant {value}");
        // A constant is all mean, which no channel hears once the estimates have settled.
        assert_eq!(frames[frames.len() - 40..], frames[frames.len() - 80..frames.len() - 40], "constant {value}");
    }
}

/// The transform against its definition, in f64: no part of a bin is off by more than this.
const FFT_CEILING: f64 = 3.0;

#[test]
fn transform_is_near_its_definition_in_every_size() {
    for window_ms in [16, 30, 64] {
        let tables = Settings { window_ms, ..Settings::default() }.tables().expect("settings work");
        let front_end = tables.front_end();
        let length = 2 * front_end.fft.points();
        // Half of full scale: beyond it, sums may wrap, here as in kissfft.
        let input: Vec<i16> = samples("noise")[..length].iter().map(|sample| sample / 2).collect();
        let mut bins: Vec<_> = input.as_chunks().0.iter().map(|&[re, im]| Complex { re, im }).collect();
        fft::apply(&front_end.fft, &mut bins, 0);
        let mut worst: f64 = 0.0;
        for (k, bin) in bins.iter().enumerate() {
            let (mut re, mut im) = (0.0, 0.0);
            for (n, &sample) in input.iter().enumerate() {
                let angle = std::f64::consts::TAU * ((k * n) % length) as f64 / length as f64;
                re += f64::from(sample) * angle.cos() / length as f64;
                im -= f64::from(sample) * angle.sin() / length as f64;
            }
            worst = worst.max((re - f64::from(bin.re)).abs()).max((im - f64::from(bin.im)).abs());
        }
        assert!(worst < FFT_CEILING, "{length} samples: off by {worst:.2}");
        println!("{length} samples: off by {worst:.2} at most");
    }
}
