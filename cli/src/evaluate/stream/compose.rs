//! Continuous sound with what is said in it: a recording and its spans, or clips with gaps and noise in between.

use super::{Stream, StreamArguments, Word, rate, seconds, word};
use crate::audio;
use crate::clips::Collection;
use crate::data::DataArguments;
use crate::features::{Length, Work};
use anyhow::{Context, Result, anyhow, ensure};
use microformer_bake::Config;
use rayon::prelude::*;
use std::path::Path;

/// Between two clips lie so many seconds, drawn evenly.
const GAPS: (f64, f64) = (0.5, 3.0);

pub fn stream(path: &Path, config: &Config, options: &DataArguments, arguments: &StreamArguments) -> Result<Stream> {
    let collection = Collection::open(path, options.root.as_deref())?;
    let first = &collection.clips[0].file;
    let spans = collection.clips.iter().all(|clip| clip.file == *first && clip.samples.is_some());
    if spans { recording(&collection, config) } else { compose(&collection, config, arguments) }
}

/// One long file whose labelled spans the manifest lists.
fn recording(collection: &Collection, config: &Config) -> Result<Stream> {
    let file = &collection.clips[0].file;
    let rate = rate(config)?;
    let sound = audio::decode(collection.bytes(file)?, file)?;
    let ratio = f64::from(rate) / f64::from(sound.rate);
    let samples = audio::resample(sound, rate).with_context(|| file.clone())?;
    let place = |sample: usize| (sample as f64 * ratio).round() as u64;
    let mut words = Vec::new();
    for clip in &collection.clips {
        let end = place(clip.start + clip.samples.unwrap_or(0));
        ensure!(end <= samples.len() as u64, "{file} ends before its span {}..{end}", clip.start);
        words.push(Word { start: place(clip.start), end, label: word(&clip.label, config) });
    }
    words.sort_by_key(|word| word.start);
    Ok(Stream { samples, rate, words })
}

/// Clips in random order with gaps, over noise.
fn compose(collection: &Collection, config: &Config, arguments: &StreamArguments) -> Result<Stream> {
    let rate = rate(config)?;
    let settings = config.signal.as_ref().context("the model has no front end")?;
    let tables = settings.tables().map_err(|message| anyhow!(message))?;
    let work = Work { tables: &tables, settings, length: Length::Whole };
    ensure!(arguments.hours > 0.0, "--hours {}: choose a length above 0", arguments.hours);
    let clips: Vec<Vec<i16>> = (0..collection.clips.len())
        .into_par_iter()
        .map(|index| work.samples(collection, index))
        .collect::<Result<_>>()?;
    let length = seconds(3600.0 * arguments.hours, rate);
    let mut random = Random(arguments.seed);
    let mut speech = vec![0.0; length];
    let (mut words, mut at, mut order) = (Vec::new(), seconds(GAPS.1, rate), Vec::new());
    let mut power = Power::default();
    loop {
        if order.is_empty() {
            order = random.shuffled(clips.len());
        }
        let index = order.pop().context("a collection holds clips")?;
        let end = at + clips[index].len();
        if end + seconds(GAPS.1, rate) > length {
            break;
        }
        for (place, &sample) in speech[at..end].iter_mut().zip(&clips[index]) {
            *place = f64::from(sample);
        }
        power.add(&speech[at..end]);
        let label = word(&collection.clips[index].label, config);
        // What is no word at all, as recorded silence, is only background.
        if label.is_some() || !collection.clips[index].label.starts_with("_silence") {
            words.push(Word { start: at as u64, end: end as u64, label });
        }
        at = end + seconds(GAPS.0 + (GAPS.1 - GAPS.0) * random.unit(), rate);
    }
    ensure!(!words.is_empty(), "--hours {} is too short for a single clip", arguments.hours);
    if let Some(path) = &arguments.noise {
        add_noise(&mut speech, path, rate, power.mean() / 10f64.powf(arguments.snr / 10.0), &mut random)?;
    }
    // The cast saturates.
    Ok(Stream { samples: speech.iter().map(|value| value.round() as i16).collect(), rate, words })
}

/// Noise recordings one after another, each at the wanted power, until the end.
fn add_noise(stream: &mut [f64], path: &Path, rate: u32, wanted: f64, random: &mut Random) -> Result<()> {
    let collection = Collection::open(path, None)?;
    let mut noises = Vec::new();
    for clip in &collection.clips {
        let sound = audio::decode(collection.bytes(&clip.file)?, &clip.file)?;
        noises.push(audio::resample(sound, rate).with_context(|| clip.file.clone())?);
    }
    let mut at = 0;
    while at < stream.len() {
        let noise = &noises[random.below(noises.len())];
        let mut power = Power::default();
        power.add(&noise.iter().map(|&sample| f64::from(sample)).collect::<Vec<_>>());
        let gain = (wanted / power.mean().max(f64::MIN_POSITIVE)).sqrt();
        for (place, &sample) in stream[at..].iter_mut().zip(noise) {
            *place += gain * f64::from(sample);
        }
        at += noise.len();
    }
    Ok(())
}

/// Mean power of what is not silent padding.
#[derive(Default)]
struct Power {
    sum: f64,
    count: usize,
}

impl Power {
    fn add(&mut self, samples: &[f64]) {
        self.sum += samples.iter().map(|sample| sample * sample).sum::<f64>();
        self.count += samples.iter().filter(|&&sample| sample != 0.0).count();
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

/// SplitMix64 (Steele et al., 2014): the same stream for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// Writes NAME.wav and NAME.csv, which `--stream` reads again.
pub fn save(path: &Path, stream: &Stream, config: &Config) -> Result<()> {
    let wav = path.with_extension("wav");
    let bytes = 2 * stream.samples.len() as u32;
    let mut file = Vec::with_capacity(44 + bytes as usize);
    file.extend(b"RIFF");
    file.extend((36 + bytes).to_le_bytes());
    file.extend(b"WAVEfmt ");
    // 16 bytes of format: PCM, one channel, bytes a second, bytes and bits of a sample.
    for word in [16, 1 | 1 << 16, stream.rate, 2 * stream.rate, 2 | 16 << 16] {
        file.extend(u32::to_le_bytes(word));
    }
    file.extend(b"data");
    file.extend(bytes.to_le_bytes());
    file.extend(stream.samples.iter().flat_map(|sample| sample.to_le_bytes()));
    std::fs::write(&wav, file).with_context(|| format!("cannot write {}", wav.display()))?;
    let name = wav.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut table = "file,start,samples,label\n".to_owned();
    for word in &stream.words {
        let label = word.label.map_or("_unknown_", |label| &config.labels[label]);
        table += &format!("{name},{},{},{label}\n", word.start, word.end - word.start);
    }
    let csv = path.with_extension("csv");
    std::fs::write(&csv, table).with_context(|| format!("cannot write {}", csv.display()))
}
