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
    ensure!(arguments.hours > 0.0, "--hours {}: choose a length above 0", arguments.hours);
    let mut clips = decode(collection, config)?;
    let noise = arguments.noise.as_ref().map(|path| decode(&Collection::open(path, None)?, config)).transpose()?;
    let level = noise.is_some().then(|| equalize(&mut clips));
    let length = seconds(3600.0 * arguments.hours, rate);
    let mut random = Random(arguments.seed);
    let mut speech = vec![0.0; length];
    let (mut words, mut at, mut order) = (Vec::new(), seconds(GAPS.1, rate), Vec::new());
    loop {
        if order.is_empty() {
            order = random.shuffled(clips.len());
        }
        let index = order.pop().context("a collection holds clips")?;
        let end = at + clips[index].len();
        if end + seconds(GAPS.1, rate) > length {
            break;
        }
        speech[at..end].copy_from_slice(&clips[index]);
        let label = word(&collection.clips[index].label, config);
        // What is no word at all, as recorded silence, is only background.
        if label.is_some() || !collection.clips[index].label.starts_with("_silence") {
            words.push(Word { start: at as u64, end: end as u64, label });
        }
        at = end + seconds(GAPS.0 + (GAPS.1 - GAPS.0) * random.unit(), rate);
    }
    ensure!(!words.is_empty(), "--hours {} is too short for a single clip", arguments.hours);
    if let (Some(noise), Some(level)) = (noise, level) {
        add_noise(&mut speech, &noise, level / 10f64.powf(arguments.snr / 20.0), &mut random);
    }
    // The cast saturates.
    Ok(Stream { samples: speech.iter().map(|value| value.round() as i16).collect(), rate, words })
}

/// All clips at the model's sample rate; each file is decoded once.
fn decode(collection: &Collection, config: &Config) -> Result<Vec<Vec<f64>>> {
    let settings = config.signal.as_ref().context("the model has no front end")?;
    let tables = settings.tables().map_err(|message| anyhow!(message))?;
    let work = Work { tables: &tables, settings, length: Length::Whole };
    let mut clips = vec![Vec::new(); collection.clips.len()];
    let decoded: Vec<Vec<(usize, Vec<i16>)>> = collection
        .by_file()
        .into_par_iter()
        .map(|group| {
            let file = &collection.clips[group[0]].file;
            let sound = audio::decode(collection.bytes(file)?, file)?;
            group.into_iter().map(|index| Ok((index, work.cut(&sound, &collection.clips[index])?))).collect()
        })
        .collect::<Result<_>>()?;
    for (index, samples) in decoded.into_iter().flatten() {
        clips[index] = samples.into_iter().map(f64::from).collect();
    }
    Ok(clips)
}

/// Brings every clip to the level that half of them exceed, so that each lies equally far above the noise.
fn equalize(clips: &mut [Vec<f64>]) -> f64 {
    let mut levels: Vec<f64> = clips.iter().map(|clip| level(clip)).collect();
    levels.sort_by(f64::total_cmp);
    let wanted = levels[levels.len() / 2].max(1.0);
    for clip in clips {
        // Digital silence stays what it is.
        let gain = wanted / level(clip).max(1.0);
        clip.iter_mut().for_each(|sample| *sample *= gain);
    }
    wanted
}

/// Noise recordings one after another, each at the wanted level, until the end.
fn add_noise(stream: &mut [f64], noises: &[Vec<f64>], wanted: f64, random: &mut Random) {
    let mut at = 0;
    while at < stream.len() {
        let noise = &noises[random.below(noises.len())];
        let gain = wanted / level(noise).max(1.0);
        for (place, &sample) in stream[at..].iter_mut().zip(noise) {
            *place += gain * sample;
        }
        at += noise.len().max(1);
    }
}

/// How loud a sound is where there is some: root mean square over the louder half of its pieces of 10 ms at 16 kHz.
fn level(samples: &[f64]) -> f64 {
    const PIECE: usize = 160;
    let power = |piece: &[f64]| piece.iter().map(|sample| sample * sample).sum::<f64>() / piece.len() as f64;
    let mut powers: Vec<f64> = samples.chunks(PIECE).map(power).collect();
    powers.sort_by(f64::total_cmp);
    let louder = &powers[powers.len() / 2..];
    (louder.iter().sum::<f64>() / louder.len().max(1) as f64).sqrt()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_are_brought_to_one_level_above_the_noise() {
        let wave = |loudness: f64, length: usize| (0..length).map(|at| loudness * f64::from(at as u32).sin()).collect();
        // Speech for half of the time.
        let mut clips: Vec<Vec<f64>> = vec![wave(100.0, 8000), wave(1000.0, 8000), wave(5000.0, 8000), vec![0.0; 160]];
        clips[0].resize(16000, 0.0);
        let wanted = equalize(&mut clips);
        for clip in &clips[..3] {
            assert!((level(clip) / wanted - 1.0).abs() < 1e-9);
        }
        assert_eq!(level(&clips[3]), 0.0);
        let mut stream = vec![0.0; 40000];
        add_noise(&mut stream, &[wave(7.0, 3000), wave(70.0, 5000)], wanted / 10.0, &mut Random(1));
        assert!((level(&stream) / wanted * 10.0 - 1.0).abs() < 0.01);
    }
}
