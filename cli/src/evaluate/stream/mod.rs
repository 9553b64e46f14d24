//! `microformer evaluate --stream`: a keyword model on hours of continuous sound: misses against false alarms.
//!
//! The sound is one labelled recording, or is composed of labelled clips with gaps and noise. It goes through front end,
//! model and decision exactly as on the chip; the thresholds are then moved, and every event is matched to what was said.

mod compose;
mod curve;
mod judge;
mod listen;
mod print;
mod tune;

use super::{Arguments, qemu};
use crate::inspect::find_board;
use crate::model::Model;
use crate::picture;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use judge::{Judged, Point, WordFigures};
use microformer::pipeline::Heard;
use microformer_bake::{Config, Quantized};
use microformer_packed::Decide;
use serde::Serialize;
use std::path::PathBuf;

/// How a stream is made and shown.
#[derive(Args, Clone, Debug)]
pub struct StreamArguments {
    /// Judge events on continuous sound: a manifest of one long file with spans (file, start, samples, label), or of clips,
    /// of which a stream is composed
    #[arg(long)]
    pub stream: bool,
    /// Length of a composed stream
    #[arg(long, default_value_t = 1.0, requires = "stream")]
    hours: f64,
    /// Noise under a composed stream: an audio file, a folder or a manifest of them [default: silence, clips as loud as they
    /// are]
    #[arg(long, requires = "stream")]
    noise: Option<PathBuf>,
    /// How far every clip of a composed stream lies above the noise, in decibels
    #[arg(long, default_value_t = 20.0, requires = "stream", allow_negative_numbers = true)]
    snr: f64,
    /// Seed of a composed stream
    #[arg(long, default_value_t = 1, requires = "stream")]
    seed: u64,
    /// Find the threshold of each word for at most so many false alarms an hour, and write them into the model file; then
    /// judge them on sound of other speakers
    #[arg(long, value_name = "PER_HOUR", requires = "stream")]
    tune: Option<f64>,
    /// Draw misses against false alarms
    #[arg(long, value_name = "PICTURE.svg", requires = "stream")]
    curve: Option<PathBuf>,
    /// Write the composed stream as NAME.wav and what is said in it as NAME.csv
    #[arg(long, value_name = "NAME", requires = "stream")]
    save: Option<PathBuf>,
}

/// Sound, and what is said in it when.
pub struct Stream {
    pub samples: Vec<i16>,
    pub rate: u32,
    pub words: Vec<Word>,
}

/// Something that was said: samples from the start of the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    pub start: u64,
    pub end: u64,
    /// Index into the model's labels; absent for other speech.
    pub label: Option<usize>,
}

impl Stream {
    pub fn hours(&self) -> f64 {
        self.samples.len() as f64 / f64::from(self.rate) / 3600.0
    }
}

#[derive(Serialize)]
pub struct Report {
    model: String,
    data: String,
    hours: f64,
    words: usize,
    other_words: usize,
    /// Whether the thresholds were chosen on this very sound.
    tuned: bool,
    /// With the thresholds of the model file.
    own: Point,
    by_word: Vec<WordFigures>,
    /// One threshold for all words.
    curve: Vec<Point>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qemu: Option<OnChip>,
    seconds: f64,
    times_real_time: f64,
}

/// What an emulated chip heard in the first seconds.
#[derive(Serialize)]
struct OnChip {
    board: &'static str,
    seconds: f64,
    events: usize,
    /// Events of the same word, at the same samples, with the same confidence as on this machine.
    identical: usize,
    events_here: usize,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let options = &arguments.streaming;
    if let Some(path) = &options.curve {
        picture::check_name(path)?;
    }
    let file = arguments.model.display();
    let Model::Quantized(model) = Model::read(&arguments.model)? else {
        bail!("{file} is a float model; --stream judges what the chip does: quantise it first");
    };
    ensure!(model.config.signal.is_some(), "{file} has no front end; --stream is for models that listen");
    let stream = compose::stream(&arguments.data, &model.config, &arguments.options, options)?;
    if let Some(path) = &options.save {
        compose::save(path, &stream, &model.config)?;
    }
    let begun = std::time::Instant::now();
    let listener = listen::Listener::new(&model, &arguments.model)?;
    let scores = listener.listen(&stream.samples);
    let seconds = begun.elapsed().as_secs_f64();
    let judge = |thresholds: &[u16]| Judged::new(listener.events(&scores, thresholds), &stream);
    let thresholds = match options.tune {
        Some(per_hour) => {
            ensure!(per_hour >= 0.0, "--tune takes a number of false alarms an hour, at least 0");
            let chosen = choose(&listener, per_hour * stream.hours(), judge);
            write(&model, &chosen, arguments)?;
            chosen
        }
        None => listener.thresholds().to_vec(),
    };
    let own = judge(&thresholds);
    let count = |is_word: bool| stream.words.iter().filter(|word| word.label.is_some() == is_word).count();
    let report = Report {
        model: file.to_string(),
        data: arguments.data.display().to_string(),
        hours: stream.hours(),
        words: count(true),
        other_words: count(false),
        tuned: options.tune.is_some(),
        own: own.point(None),
        by_word: (listener.words().into_iter())
            .map(|label| own.word(label, &model.config.labels[label], real(thresholds[label])))
            .collect(),
        curve: (curve::THRESHOLDS.iter())
            .map(|&threshold| judge(&listener.equal_thresholds(q15(threshold))).point(Some(threshold)))
            .collect(),
        qemu: arguments.qemu.map(|seconds| on_chip(arguments, seconds, &stream, &listener)).transpose()?,
        seconds,
        times_real_time: 3600.0 * stream.hours() / seconds,
    };
    if let Some(path) = &options.curve {
        curve::picture(&report.curve, &report.own).save(path)?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print::report(&report);
    }
    Ok(())
}

/// The first seconds on an emulated chip, with the thresholds of the file as it is now.
fn on_chip(arguments: &Arguments, wanted: usize, stream: &Stream, listener: &listen::Listener) -> Result<OnChip> {
    ensure!(wanted > 0, "--qemu 0 runs nothing; choose at least 1 second");
    ensure!(arguments.streaming.tune.is_none(), "--qemu judges a file that stays as it is: tune first, without it");
    let Model::Quantized(quantized) = Model::read(&arguments.model)? else { bail!("--qemu runs quantised models") };
    let board = find_board(&arguments.board)?;
    let samples = &stream.samples[..stream.samples.len().min(wanted * stream.rate as usize)];
    let request = qemu::Request {
        model: &arguments.model,
        quantized: &quantized,
        board,
        path: &arguments.data,
        options: &arguments.options,
    };
    let found = qemu::events(&request, samples)?;
    let here = listener.events(&listener.listen(samples), listener.thresholds());
    let same = |(found, here): &(&[u64; 4], &Heard)| {
        **found == [here.label as u64, here.start, here.end, u64::from(here.confidence.to_bits())]
    };
    Ok(OnChip {
        board: board.name,
        seconds: samples.len() as f64 / f64::from(stream.rate),
        events: found.len(),
        identical: found.iter().zip(&here).filter(same).count(),
        events_here: here.len(),
    })
}

/// Thresholds for all labels, of which the words' are tuned.
fn choose<'s>(listener: &listen::Listener, allowed: f64, judge: impl Fn(&[u16]) -> Judged<'s>) -> Vec<u16> {
    let candidates: Vec<u16> = tune::candidates().map(q15).collect();
    let run = |&threshold: &u16| {
        let judged = judge(&listener.equal_thresholds(threshold));
        let found = judged.events.iter().zip(&judged.kinds);
        found.map(|(event, &kind)| tune::Found { label: event.label, kind }).collect()
    };
    let runs: Vec<Vec<tune::Found>> = candidates.iter().map(run).collect();
    let words = listener.words();
    let mut thresholds = listener.thresholds().to_vec();
    for (&label, index) in words.iter().zip(tune::choose(&runs, &words, allowed)) {
        thresholds[label] = candidates[index];
    }
    thresholds
}

/// The model file again, with the words' thresholds.
fn write(model: &Quantized, thresholds: &[u16], arguments: &Arguments) -> Result<()> {
    let mut tuned = model.clone();
    let decide = tuned.config.decide.get_or_insert_default();
    for (label, &threshold) in model.config.labels.iter().zip(thresholds) {
        if threshold != Decide::NEVER {
            decide.thresholds.insert(label.clone(), real(threshold));
        }
    }
    Ok(tuned.write(&arguments.model)?)
}

/// A posterior in Q15, and back.
fn q15(value: f64) -> u16 {
    (32768.0 * value).round() as u16
}

fn real(value: u16) -> f64 {
    f64::from(value) / 32768.0
}

/// The model's number of a label that is a word; others are speech that must not be heard.
fn word(label: &str, config: &Config) -> Option<usize> {
    if label.starts_with('_') { None } else { config.labels.iter().position(|known| known == label) }
}

/// A number of samples at a rate.
fn seconds(value: f64, rate: u32) -> usize {
    (value * f64::from(rate)) as usize
}

/// Names the sample rate of a model that listens.
fn rate(config: &Config) -> Result<u32> {
    Ok(config.signal.as_ref().context("the model has no front end")?.sample_rate)
}
