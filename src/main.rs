//! The firmware: sound from a file, from flash or from a microphone → pipeline → a line for each word. No arithmetic.
//!
//! `cargo run --release -- FILE.wav` listens to a file in QEMU; without a file it listens to the word that it carries, or
//! with the feature `microphone` to a PDM microphone at an nRF52840, for ever.
//! A second argument `tokens` makes it tell every token: its time, level, likeliest label and that label's posterior.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

#[path = "bin/baked/mod.rs"]
mod baked;
mod board;

use baked::chosen::{LISTENER, PIPELINE, Pipeline};
use board::{cycles::Clock, fingerprint::Fingerprint, meter, sound::Source, sound::Wav};
use microformer::pipeline::{Heard, Progress};

/// Samples to read at once: one step of the front end at 16 kHz.
const PIECE: usize = 160;

/// Samples of a minute. Once in it the firmware says that it is still there: silence is what a hanging one sounds like.
const MINUTE: u64 = 60 * 16_000;

/// Where the microphone is: here, on pins of the nRF52840 development kit that nothing else uses. Boards with one of
/// their own: Arduino Nano 33 BLE Sense: clock P0.26, data P0.25, power P0.17; Seeed XIAO nRF52840 Sense: clock P1.00,
/// data P0.16, power P1.10; Adafruit Feather nRF52840 Sense: clock P0.01, data P0.00, no power pin.
#[cfg(all(target_os = "none", feature = "microphone"))]
const MICROPHONE: board::microphone::Pins = board::microphone::Pins {
    clock: board::microphone::Pin { port: 0, number: 26 },
    data: board::microphone::Pin { port: 0, number: 27 },
    power: None,
};

/// One second of our own speech, for when there is no file: sounds/make.sh made it.
#[cfg(not(all(target_os = "none", feature = "microphone")))]
static YES: &[u8] = include_bytes!("../sounds/yes.wav");

board::program!(run);

fn run() -> Result<(), &'static str> {
    let pipeline = board::once!(: Pipeline = PIPELINE).ok_or("the pipeline is taken twice")?;
    let clock = Clock::start();
    let arguments = board::Arguments::read();
    let every_token = arguments.get(1) == Some("tokens");
    match arguments.get(0) {
        Some(path) => listen(pipeline, &clock, &mut Wav::open(path)?, every_token),
        #[cfg(all(target_os = "none", feature = "microphone"))]
        None => listen(pipeline, &clock, &mut board::microphone::start(&MICROPHONE)?, every_token),
        #[cfg(not(all(target_os = "none", feature = "microphone")))]
        None => listen(pipeline, &clock, &mut Wav::in_flash(YES)?, every_token),
    }
    Ok(())
}

fn listen(pipeline: &mut Pipeline, clock: &Clock, source: &mut impl Source, every_token: bool) {
    let mut buffer = [0; PIECE];
    let (mut time, mut words, mut level, mut lost, mut cost) = (0u64, 0u32, 0u16, 0u32, Cost::default());
    let mut fingerprint = Fingerprint::new();
    loop {
        let mut samples = source.read(&mut buffer);
        if samples.is_empty() {
            break;
        }
        let minute = time / MINUTE;
        time += samples.len() as u64;
        if time / MINUTE != minute {
            board::say!("listening for {} min", (time / MINUTE) as u32);
        }
        if source.overruns() != lost {
            lost = source.overruns();
            board::say!("lost {} samples so far: nobody fetched them in time", lost);
        }
        level = samples.iter().map(|sample| sample.unsigned_abs()).fold(level, u16::max);
        loop {
            meter::begin();
            let begun = clock.now();
            let progress = pipeline.listen(&LISTENER, &mut samples);
            cost.add(clock.since(begun), progress != Progress::Hungry);
            meter::end();
            match progress {
                Progress::Hungry => break,
                Progress::Frame => {}
                Progress::Token(heard) => {
                    fingerprint.take(pipeline.posteriors(), heard.as_ref());
                    if every_token {
                        tell_token(pipeline, time, level);
                        level = 0;
                    }
                    if let Some(heard) = heard {
                        words += 1;
                        tell_word(&heard);
                    }
                }
            }
        }
    }
    tell_end(pipeline, time, words, lost);
    board::say!("fingerprint {:08x} of all posteriors and events", fingerprint.0);
    if let Some(mean) = cost.total.checked_div(u64::from(cost.frames)).filter(|&mean| mean > 0) {
        board::say!("cost {} {} a frame, {} the dearest", mean, clock.unit(), cost.dearest);
    }
}

/// What frames cost, as the chip's own counter tells it.
#[derive(Default)]
struct Cost {
    total: u64,
    frames: u32,
    dearest: u32,
}

impl Cost {
    fn add(&mut self, spent: u32, is_frame: bool) {
        self.total += u64::from(spent);
        self.frames += u32::from(is_frame);
        self.dearest = self.dearest.max(spent);
    }
}

fn tell_word(heard: &Heard) {
    let label = LISTENER.model.labels.get(heard.label).copied().unwrap_or("?");
    let (start, end) = (milliseconds(heard.start), milliseconds(heard.end));
    board::say!("heard {} {} ms to {} ms, {} %", label, start, end, percent(heard.confidence.to_bits()));
}

fn tell_token(pipeline: &Pipeline, time: u64, level: u16) {
    let posteriors = pipeline.posteriors().iter().enumerate();
    let (label, posterior) =
        posteriors.max_by_key(|(_, posterior)| **posterior).map_or((0, 0), |(l, p)| (l, p.to_bits()));
    let label = LISTENER.model.labels.get(label).copied().unwrap_or("?");
    board::say!("token {} ms, level {}, {} {} %", milliseconds(time), level, label, percent(posterior));
}

fn tell_end(pipeline: &Pipeline, time: u64, words: u32, overruns: u32) {
    for (label, score) in LISTENER.model.labels.iter().zip(pipeline.scores()) {
        board::say!("score {} {}", label, score);
    }
    board::say!("end after {} ms: {} words, {} samples lost", milliseconds(time), words, overruns);
    let state = core::mem::size_of::<Pipeline>();
    board::say!("state {} bytes, stack {} bytes", state, board::stack::high_water());
}

/// 16 samples to a millisecond.
fn milliseconds(samples: u64) -> u32 {
    (samples / 16) as u32
}

/// A posterior in Q15.
fn percent(posterior: u16) -> u32 {
    (u32::from(posterior) * 100 + (1 << 14)) >> 15
}
