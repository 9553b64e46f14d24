//! `microformer evaluate --stream`: a keyword model on hours of continuous sound: misses against false alarms.
//!
//! The sound is one labelled recording, or is composed of labelled clips with gaps and noise. It goes through front end,
//! model and decision exactly as on the chip; the thresholds are then moved, and every event is matched to what was said.

mod compose;
mod curve;
mod listen;

use super::Arguments;
use crate::model::Model;
use crate::picture;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use curve::Point;
use microformer_bake::Config;
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
    /// Noise under a composed stream: an audio file or a folder of them [default: silence]
    #[arg(long, requires = "stream")]
    noise: Option<PathBuf>,
    /// Speech over noise in a composed stream, in decibels
    #[arg(long, default_value_t = 20.0, requires = "stream", allow_negative_numbers = true)]
    snr: f64,
    /// Seed of a composed stream
    #[arg(long, default_value_t = 1, requires = "stream")]
    seed: u64,
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

#[derive(Serialize)]
struct Report {
    model: String,
    data: String,
    hours: f64,
    words: usize,
    other_words: usize,
    /// With the thresholds of the model file.
    own: Point,
    /// One threshold for all words.
    curve: Vec<Point>,
    seconds: f64,
    times_real_time: f64,
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
    let heard = listener.listen(&stream.samples);
    let seconds = begun.elapsed().as_secs_f64();
    let length = stream.samples.len() as f64 / f64::from(stream.rate);
    let judge = |threshold: Option<f64>| {
        let events = listener.events(&heard, threshold);
        curve::judge(&events, &stream, threshold)
    };
    let report = Report {
        model: file.to_string(),
        data: arguments.data.display().to_string(),
        hours: length / 3600.0,
        words: stream.words.iter().filter(|word| word.label.is_some()).count(),
        other_words: stream.words.iter().filter(|word| word.label.is_none()).count(),
        own: judge(None),
        curve: curve::THRESHOLDS.iter().map(|&threshold| judge(Some(threshold))).collect(),
        seconds,
        times_real_time: length / seconds,
    };
    if let Some(path) = &options.curve {
        curve::picture(&report.curve).save(path)?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

fn print(report: &Report) {
    println!(
        "{} on {}: {:.2} h, {} words to hear, {} others; {:.0} times real time",
        report.model, report.data, report.hours, report.words, report.other_words, report.times_real_time
    );
    println!("{:>10} {:>8} {:>8} {:>14} {:>20}", "threshold", "heard", "misses", "false alarms", "false alarms / hour");
    let line = |name: &str, point: &Point| {
        println!(
            "{name:>10} {:8} {:>6.1} % {:14} {:>20.2}",
            point.heard,
            100.0 * point.miss_rate,
            point.false_alarms,
            point.false_alarms_per_hour
        );
    };
    line("own", &report.own);
    for point in &report.curve {
        line(&point.threshold.map_or(String::new(), |threshold| format!("{threshold:.3}")), point);
    }
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
