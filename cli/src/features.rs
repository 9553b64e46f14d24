//! `microformer features`: clips in, one safetensors file of feature frames out, for training in PyTorch.
//!
//! The frames are computed by the engine's own front end, so a model learns what the chip will hear, bit for bit.

use crate::audio::{self, Sound};
use crate::clips::{Clip, Collection};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use microformer::signal::State;
use microformer_bake::signal::{GainSettings, NoiseSettings, Settings, Tables};
use rayon::prelude::*;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Compute feature frames for training.
#[derive(Args)]
#[command(after_help = "\
The result holds `features` (clips, frames, channels) i16, padded with zeros, `lengths` (clips) i64 in frames, `labels` \
(clips) i64, and in its metadata, under `features`, JSON with the settings, the label names and the clips.

Examples:
  microformer features recordings/ --seconds 1 -o features.safetensors
  microformer features val.csv --root val.tar --seconds 1 -o val.safetensors
  microformer features words.csv --labels yes,no,_unknown_ --noise --gain -o words.safetensors
  microformer features mixed.safetensors -o features.safetensors    (tensor `samples` (clips, samples) i16)")]
pub struct Arguments {
    /// A folder or .tar of WAV, FLAC or Ogg files (label = name of the folder a file lies in), a CSV manifest with the columns
    /// file or path and, if wanted, start, samples, label, word, speaker, or a safetensors file of samples
    input: PathBuf,
    /// Where to write the features
    #[arg(short, long, default_value = "features.safetensors")]
    output: PathBuf,
    /// Folder or .tar that the manifest's files lie in [default: a .tar of the manifest's name, else beside the manifest]
    #[arg(long)]
    root: Option<PathBuf>,
    /// Pad with zeros or cut every clip to this length
    #[arg(long)]
    seconds: Option<f64>,
    /// Class names in the order of their numbers [default: those that occur, sorted]
    #[arg(long, value_delimiter = ',')]
    labels: Vec<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// The front end's settings as options.
#[derive(Args)]
pub struct SettingsArguments {
    /// Take all settings from this JSON file
    #[arg(long, conflicts_with_all = ["sample_rate", "window_ms", "step_ms", "channels", "lower_hz", "upper_hz", "noise", "gain", "scale_shift"])]
    settings: Option<PathBuf>,
    /// Samples per second; clips of another rate are resampled
    #[arg(long, default_value_t = 16000)]
    sample_rate: u32,
    /// Length of a frame in milliseconds
    #[arg(long, default_value_t = 30)]
    window_ms: u32,
    /// Time from frame to frame in milliseconds
    #[arg(long, default_value_t = 10)]
    step_ms: u32,
    /// Number of mel channels
    #[arg(long, default_value_t = 40)]
    channels: usize,
    /// Where the lowest channel begins
    #[arg(long, default_value_t = 125.0)]
    lower_hz: f32,
    /// Where the highest channel ends
    #[arg(long, default_value_t = 7500.0)]
    upper_hz: f32,
    /// Suppress noise, as the micro frontend does
    #[arg(long)]
    noise: bool,
    /// Control gain (PCAN), as the micro frontend does; needs --noise
    #[arg(long, requires = "noise")]
    gain: bool,
    /// Features are natural logarithms times two to this power
    #[arg(long, default_value_t = 6)]
    scale_shift: u32,
}

impl SettingsArguments {
    /// The settings they stand for.
    pub fn settings(&self) -> Result<Settings> {
        if let Some(path) = &self.settings {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot open {}", path.display()))?;
            return serde_json::from_str(&text).with_context(|| format!("{} does not hold settings", path.display()));
        }
        let mut settings = Settings {
            sample_rate: self.sample_rate,
            window_ms: self.window_ms,
            step_ms: self.step_ms,
            channels: self.channels,
            lower_hz: self.lower_hz,
            upper_hz: self.upper_hz,
            noise: self.noise.then(NoiseSettings::default),
            gain: self.gain.then(GainSettings::default),
            ..Settings::default()
        };
        settings.log.scale_shift = self.scale_shift;
        Ok(settings)
    }
}

/// Holds every front end that settings can ask for.
type LargestState = State<1024, 512, 64>;

/// What the metadata says.
#[derive(Serialize)]
struct Description<'a> {
    settings: &'a Settings,
    labels: &'a [String],
    clips: &'a [Clip],
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    let settings = arguments.settings.settings()?;
    let tables = settings.tables()?;
    let length = match arguments.seconds {
        Some(seconds) if seconds > 0.0 => Length::Exactly((seconds * f64::from(settings.sample_rate)).round() as usize),
        Some(seconds) => bail!("--seconds {seconds}: choose a length above 0"),
        None => Length::Whole,
    };
    let work = Work { tables: &tables, settings: &settings, length };
    if arguments.input.extension().is_some_and(|extension| extension == "safetensors") {
        return from_samples(arguments, &work);
    }
    let collection = Collection::open(&arguments.input, arguments.root.as_deref())?;
    let (names, labels) = number_labels(&collection.clips, &arguments.labels)?;
    let frames = work.collection(&collection)?;
    let description = Description { settings: &settings, labels: &names, clips: &collection.clips };
    write(&arguments.output, &frames, tables.front_end().filterbank.channels(), Some(&labels), &description)
}

/// The samples that a clip is brought to.
#[derive(Clone, Copy)]
pub enum Length {
    Whole,
    /// Padded with zeros or cut.
    Exactly(usize),
    /// Padded with zeros where shorter.
    AtLeast(usize),
}

/// Tables, and the length every clip is brought to.
pub struct Work<'a> {
    pub tables: &'a Tables,
    pub settings: &'a Settings,
    pub length: Length,
}

impl Work<'_> {
    /// The frames of every clip, in order; files are decoded once, on all cores.
    pub fn collection(&self, collection: &Collection) -> Result<Vec<Vec<i16>>> {
        let progress = progress(collection.clips.len());
        let groups: Vec<Vec<(usize, Vec<i16>)>> = collection
            .by_file()
            .into_par_iter()
            .map(|group| self.file(collection, &group, &progress))
            .collect::<Result<_>>()?;
        progress.finish_and_clear();
        let mut frames = vec![Vec::new(); collection.clips.len()];
        for (index, clip) in groups.into_iter().flatten() {
            frames[index] = clip;
        }
        Ok(frames)
    }

    /// The samples of one clip, brought to the length.
    pub fn samples(&self, collection: &Collection, index: usize) -> Result<Vec<i16>> {
        let clip = &collection.clips[index];
        let sound = audio::decode(collection.bytes(&clip.file)?, &clip.file)?;
        let mut samples = self.cut(&sound, clip)?;
        samples.resize(self.length(samples.len()), 0);
        Ok(samples)
    }

    /// A clip out of its file, at the front end's sample rate.
    pub fn cut(&self, sound: &Sound, clip: &Clip) -> Result<Vec<i16>> {
        let (name, length) = (&clip.file, sound.samples.len());
        let end = clip.samples.map_or(length, |samples| clip.start + samples);
        let samples = sound
            .samples
            .get(clip.start..end)
            .with_context(|| format!("{name} has {length} samples, but a clip is to span {}..{end}", clip.start))?;
        let samples = Sound { rate: sound.rate, samples: samples.to_vec() };
        audio::resample(samples, self.settings.sample_rate).with_context(|| name.clone())
    }

    fn length(&self, samples: usize) -> usize {
        match self.length {
            Length::Whole => samples,
            Length::Exactly(length) => length,
            Length::AtLeast(length) => samples.max(length),
        }
    }

    fn file(&self, collection: &Collection, group: &[usize], progress: &ProgressBar) -> Result<Vec<(usize, Vec<i16>)>> {
        let Some(&first) = group.first() else {
            return Ok(Vec::new());
        };
        let name = &collection.clips[first].file;
        let sound = audio::decode(collection.bytes(name)?, name)?;
        group
            .par_iter()
            .map(|&index| {
                let samples = self.cut(&sound, &collection.clips[index])?;
                let frames = self.clip(&samples).with_context(|| name.clone())?;
                progress.inc(1);
                Ok((index, frames))
            })
            .collect()
    }

    /// The frames of one clip, one after another.
    fn clip(&self, samples: &[i16]) -> Result<Vec<i16>> {
        let length = self.length(samples.len());
        let frames = self.settings.frames(length);
        ensure!(
            frames > 0,
            "{length} samples are fewer than one frame of {}; pad with --seconds",
            self.settings.window_samples()
        );
        let front_end = self.tables.front_end();
        let channels = front_end.filterbank.channels();
        let mut state = LargestState::new();
        let mut frame = vec![0; channels];
        let mut features = Vec::with_capacity(frames * channels);
        let silence = vec![0; length.saturating_sub(samples.len())];
        for mut part in [&samples[..samples.len().min(length)], &silence] {
            while state.process(&front_end, &mut part, &mut frame) {
                // Settings keep scale_shift at 10 or less, and ln(2³²) · 2¹⁰ < 2¹⁵.
                features.extend(frame.iter().map(|&value| value as i16));
            }
        }
        Ok(features)
    }
}

/// Numbers the clips' labels.
fn number_labels(clips: &[Clip], names: &[String]) -> Result<(Vec<String>, Vec<i64>)> {
    let names: Vec<String> = if names.is_empty() {
        let found: BTreeSet<&String> = clips.iter().map(|clip| &clip.label).collect();
        found.into_iter().cloned().collect()
    } else {
        names.to_vec()
    };
    let number: HashMap<&String, i64> = names.iter().zip(0..).collect();
    let labels = clips
        .iter()
        .map(|clip| {
            number
                .get(&clip.label)
                .copied()
                .with_context(|| format!("{} is labelled {:?}, which --labels does not list", clip.file, clip.label))
        })
        .collect::<Result<_>>()?;
    Ok((names, labels))
}

/// Features of samples that training has mixed already: tensor `samples` (clips, samples) i16; `labels` is passed on.
fn from_samples(arguments: &Arguments, work: &Work) -> Result<()> {
    let name = arguments.input.display();
    let bytes = std::fs::read(&arguments.input).with_context(|| format!("cannot open {name}"))?;
    let file = SafeTensors::deserialize(&bytes).with_context(|| format!("{name} is not a safetensors file"))?;
    let samples = file.tensor("samples").with_context(|| format!("{name} has no tensor samples"))?;
    let &[clips, length] = samples.shape() else {
        bail!("{name}: samples has shape {:?}; expected (clips, samples)", samples.shape());
    };
    ensure!(samples.dtype() == Dtype::I16, "{name}: samples is {:?}; expected i16", samples.dtype());
    ensure!(clips > 0 && length > 0, "{name}: samples is empty");
    let labels = match file.tensor("labels") {
        Ok(labels) if labels.dtype() == Dtype::I64 && labels.shape() == [clips] => {
            Some(labels.data().as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect::<Vec<_>>())
        }
        Ok(labels) => bail!("{name}: labels is {:?} {:?}; expected i64 [{clips}]", labels.dtype(), labels.shape()),
        Err(_) => None,
    };
    let progress = progress(clips);
    let frames = samples
        .data()
        .par_chunks(2 * length)
        .map(|clip| {
            let clip: Vec<i16> = clip.as_chunks().0.iter().map(|&bytes| i16::from_le_bytes(bytes)).collect();
            progress.inc(1);
            work.clip(&clip)
        })
        .collect::<Result<Vec<_>>>()?;
    progress.finish_and_clear();
    let description = Description { settings: work.settings, labels: &arguments.labels, clips: &[] };
    write(&arguments.output, &frames, work.tables.front_end().filterbank.channels(), labels.as_deref(), &description)
}

/// Pads the clips to one length and writes the file, whole or not at all.
fn write(
    path: &Path,
    clips: &[Vec<i16>],
    channels: usize,
    labels: Option<&[i64]>,
    description: &Description,
) -> Result<()> {
    let longest = clips.iter().map(Vec::len).max().unwrap_or(0);
    let mut features = Vec::with_capacity(2 * longest * clips.len());
    for clip in clips {
        features.extend(clip.iter().flat_map(|value| value.to_le_bytes()));
        features.resize(features.len() + 2 * (longest - clip.len()), 0);
    }
    let bytes = |values: &[i64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let lengths: Vec<i64> = clips.iter().map(|clip| (clip.len() / channels) as i64).collect();
    let (lengths, labels) = (bytes(&lengths), labels.map(bytes));
    let shape = vec![clips.len(), longest / channels, channels];
    let mut tensors = vec![
        ("features", TensorView::new(Dtype::I16, shape.clone(), &features)?),
        ("lengths", TensorView::new(Dtype::I64, vec![clips.len()], &lengths)?),
    ];
    if let Some(labels) = &labels {
        tensors.push(("labels", TensorView::new(Dtype::I64, vec![clips.len()], labels)?));
    }
    let metadata = HashMap::from([("features".to_owned(), serde_json::to_string(description)?)]);
    let unfinished = path.with_extension("unfinished");
    safetensors::serialize_to_file(tensors, Some(metadata), &unfinished)
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(std::fs::rename(&unfinished, path)?))
        .inspect_err(|_| drop(std::fs::remove_file(&unfinished)))
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("{}: features {shape:?}", path.display());
    Ok(())
}

fn progress(clips: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} clips, {eta} left").expect("a valid template");
    ProgressBar::new(clips as u64).with_style(style)
}
