//! The signal front end's tables: settings in, window, transform, filterbank and gain tables out, for use on the host
//! or as Rust source for firmware.
//!
//! The floating-point arithmetic is that of TensorFlow Lite Micro's micro frontend, operation by operation and in the
//! same precision, so that every table entry rounds to the same integer.

use microformer::signal::{
    Complex, Fft, Filterbank, FrontEnd, Gain, History, Log, Noise, Window, filterbank, noise, window,
};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// What a front end is to do; a model file carries this, and training and chip both follow it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Samples per second.
    pub sample_rate: u32,
    /// Length of a frame in milliseconds.
    pub window_ms: u32,
    /// Time from frame to frame in milliseconds.
    pub step_ms: u32,
    /// Number of mel channels.
    pub channels: usize,
    /// Where the lowest channel begins.
    pub lower_hz: f32,
    /// Where the highest channel ends.
    pub upper_hz: f32,
    /// Noise suppression, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseSettings>,
    /// Gain control, if any; it needs noise suppression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<GainSettings>,
    /// The logarithm.
    pub log: LogSettings,
}

/// How noise is estimated and removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseSettings {
    /// Fractional bits of the estimates.
    pub smoothing_bits: u32,
    /// Share of a new value in the estimate of even channels.
    pub even_smoothing: f32,
    /// Share of a new value in the estimate of odd channels.
    pub odd_smoothing: f32,
    /// Share of a value that is never removed.
    pub min_signal_remaining: f32,
}

/// How strongly channels are evened out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GainSettings {
    /// Exponent: 0 leaves loudness alone, 1 removes it.
    pub strength: f32,
    /// Energy below which a channel counts as silent.
    pub offset: f32,
    /// Fractional bits of the gain.
    pub gain_bits: u32,
}

/// How logarithms are scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// Features are natural logarithms times two to this power.
    pub scale_shift: u32,
}

impl Default for Settings {
    /// Plain log-mel: 30 ms frames every 10 ms, 40 channels from 125 to 7500 Hz, neither noise nor gain stage.
    fn default() -> Self {
        Self {
            sample_rate: 16000,
            window_ms: 30,
            step_ms: 10,
            channels: 40,
            lower_hz: 125.0,
            upper_hz: 7500.0,
            noise: None,
            gain: None,
            log: LogSettings { scale_shift: 6 },
        }
    }
}

impl Default for NoiseSettings {
    fn default() -> Self {
        Self { smoothing_bits: 10, even_smoothing: 0.025, odd_smoothing: 0.06, min_signal_remaining: 0.05 }
    }
}

impl Default for GainSettings {
    fn default() -> Self {
        Self { strength: 0.95, offset: 80.0, gain_bits: 21 }
    }
}

impl Settings {
    /// What pymicro-features, microWakeWord and ESPHome use: the default with noise suppression and gain control.
    pub fn micro_frontend() -> Self {
        Self { noise: Some(NoiseSettings::default()), gain: Some(GainSettings::default()), ..Self::default() }
    }

    /// Samples in a frame.
    pub fn window_samples(&self) -> usize {
        (self.window_ms * self.sample_rate / 1000) as usize
    }

    /// Samples from frame to frame.
    pub fn step_samples(&self) -> usize {
        (self.step_ms * self.sample_rate / 1000) as usize
    }

    /// How many frames come out of that many samples.
    pub fn frames(&self, samples: usize) -> usize {
        match samples.checked_sub(self.window_samples()) {
            Some(more) => 1 + more / self.step_samples(),
            None => 0,
        }
    }

    /// Computes the tables, or says which setting does not work and what would.
    pub fn tables(&self) -> Result<Tables, String> {
        self.check()?;
        let length = self.window_samples().next_power_of_two();
        let points = length / 2;
        let correction_bits = length.ilog2() - filterbank::WEIGHT_BITS / 2;
        let (start, widths, weights) = channels(self, points)?;
        let noise = self.noise.as_ref().map(|noise| {
            let rate = |share: f32| (share * (1 << noise::RATE_BITS) as f32) as u16;
            Noise {
                smoothing_bits: noise.smoothing_bits,
                even_smoothing: rate(noise.even_smoothing),
                odd_smoothing: rate(noise.odd_smoothing),
                min_signal_remaining: rate(noise.min_signal_remaining),
            }
        });
        let gain = match (&self.gain, &self.noise) {
            (Some(gain), Some(noise)) => Some(gain_table(gain, noise, correction_bits)?),
            _ => None,
        };
        Ok(Tables {
            coefficients: coefficients(self.window_samples()),
            step: self.step_samples(),
            points,
            rotations: rotations(points),
            untangle: untangle(points),
            start,
            widths,
            weights,
            noise,
            gain,
            log: Log { scale_shift: self.log.scale_shift, correction_bits },
        })
    }

    fn check(&self) -> Result<(), String> {
        let (window, step) = (self.window_samples(), self.step_samples());
        let length = window.next_power_of_two();
        let share = |value: f32| (0.0..=1.0).contains(&value);
        let refuse = |wrong: bool, message: String| if wrong { Err(message) } else { Ok(()) };
        refuse(
            !(256..=1024).contains(&length) || window % 2 != 0,
            format!(
                "signal: window_ms {} at {} Hz is {window} samples; choose an even number from 130 to 1024",
                self.window_ms, self.sample_rate
            ),
        )?;
        refuse(
            step == 0 || step > window,
            format!("signal: step_ms {} must be at least one sample and at most window_ms", self.step_ms),
        )?;
        refuse(!(1..=64).contains(&self.channels), format!("signal: {} channels; choose 1 to 64", self.channels))?;
        refuse(
            !(self.lower_hz >= 0.0 && self.upper_hz > self.lower_hz),
            format!("signal: channels from {} to {} Hz; choose 0 ≤ lower_hz < upper_hz", self.lower_hz, self.upper_hz),
        )?;
        refuse(
            self.gain.is_some() && self.noise.is_none(),
            "signal: gain works on the noise estimates; set noise too".into(),
        )?;
        if let Some(noise) = &self.noise {
            refuse(
                !share(noise.even_smoothing) || !share(noise.odd_smoothing) || !share(noise.min_signal_remaining),
                "signal: noise smoothing and min_signal_remaining are shares; choose 0 to 1".into(),
            )?;
            refuse(
                noise.smoothing_bits > 12,
                format!("signal: smoothing_bits {}; choose at most 12", noise.smoothing_bits),
            )?;
        }
        refuse(
            self.log.scale_shift > 10,
            format!("signal: scale_shift {} would leave 16 bits; choose at most 10", self.log.scale_shift),
        )
    }
}

/// The Hann window, sampled between its zeros.
fn coefficients(size: usize) -> Vec<i16> {
    let step = PI as f32 * 2.0 / size as f32;
    (0..size)
        .map(|k| {
            let value = 0.5 - 0.5 * (step * (k as f32 + 0.5)).cos();
            (value * (1 << window::COEFFICIENT_BITS) as f32 + 0.5).floor() as i16
        })
        .collect()
}

/// e^(i·phase) with 15 fractional bits.
fn rotation(phase: f64) -> Complex {
    let part = |value: f64| (0.5 + 32767.0 * value).floor() as i16;
    Complex { re: part(phase.cos()), im: part(phase.sin()) }
}

fn rotations(points: usize) -> Vec<[Complex; 3]> {
    let first = if points.ilog2() % 2 == 0 { 4 } else { 2 };
    let spans = std::iter::successors(Some(first), |span| Some(span * 4));
    let at = |k: usize| rotation(-2.0 * PI * k as f64 / points as f64);
    spans
        .take_while(|&span| span < points)
        .flat_map(|span| (0..span).map(move |k| k * points / (4 * span)))
        .map(|k| [at(k), at(2 * k), at(3 * k)])
        .collect()
}

fn untangle(points: usize) -> Vec<Complex> {
    (1..=points / 2).map(|k| rotation(-PI * (k as f64 / points as f64 + 0.5))).collect()
}

fn mel(frequency: f32) -> f32 {
    1127.0 * (frequency / 700.0).ln_1p()
}

/// First bin, bins between centres, and weights.
type Channels = (usize, Vec<u8>, Vec<[i16; 2]>);

fn channels(settings: &Settings, points: usize) -> Result<Channels, String> {
    let (low, high) = (mel(settings.lower_hz), mel(settings.upper_hz));
    let spacing = (high - low) / (settings.channels + 1) as f32;
    let hz_per_bin = 0.5 * settings.sample_rate as f32 / points as f32;
    let start = (1.5 + settings.lower_hz / hz_per_bin) as usize;
    let (mut widths, mut weights) = (Vec::new(), Vec::new());
    let mut bin = start;
    let mut below = low;
    for channel in 0..=settings.channels {
        let centre = low + spacing * (channel + 1) as f32;
        let first = bin;
        while bin < points && mel(bin as f32 * hz_per_bin) <= centre {
            let weight = (centre - mel(bin as f32 * hz_per_bin)) / (centre - below);
            let round = |share: f32| (share * (1 << filterbank::WEIGHT_BITS) as f32 + 0.5).floor() as i16;
            weights.push([round(weight), round(1.0 - weight)]);
            bin += 1;
        }
        let width = u8::try_from(bin - first).map_err(|_| {
            format!("signal: a channel spans more than 255 bins; choose more than {} channels", settings.channels)
        })?;
        widths.push(width);
        below = centre;
    }
    if mel(bin as f32 * hz_per_bin) <= high {
        let half = settings.sample_rate / 2;
        return Err(format!("signal: upper_hz {} must lie below half the sample rate, {half} Hz", settings.upper_hz));
    }
    Ok((start, widths, weights))
}

/// The gain's parabolas and the shift that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GainTable {
    /// Value, slope and curvature for each bit length of the estimate.
    pub parabolas: [[i16; 3]; 33],
    /// Bits to drop from value × gain.
    pub shift: u32,
}

fn gain_table(gain: &GainSettings, noise: &NoiseSettings, correction_bits: u32) -> Result<GainTable, String> {
    let ratio_bits = 12;
    let shift = gain.gain_bits.checked_sub(correction_bits + ratio_bits);
    let shift = shift.filter(|_| gain.gain_bits < 32).ok_or_else(|| {
        format!("signal: gain_bits {}; choose {} to 31", gain.gain_bits, correction_bits + ratio_bits)
    })?;
    let input_bits = noise.smoothing_bits.checked_sub(correction_bits).ok_or_else(|| {
        format!("signal: smoothing_bits {}; choose at least {correction_bits} with gain on", noise.smoothing_bits)
    })?;
    let at = |estimate: u32| {
        let energy = estimate as f32 / (1u32 << input_bits) as f32;
        let value = (1u32 << gain.gain_bits) as f32 * (energy + gain.offset).powf(-gain.strength);
        if value > 32767.0 { 32767 } else { (value + 0.5) as i16 }
    };
    let mut parabolas = [[0; 3]; 33];
    parabolas[0][0] = at(0);
    parabolas[1][0] = at(1);
    for (length, parabola) in (0..).zip(&mut parabolas).skip(2) {
        let from = 1u32 << (length - 1);
        let middle = from + (from >> 1);
        let to = if length == 32 { u32::MAX } else { 2 * from };
        let [y0, y1, y2] = [from, middle, to].map(|x| i32::from(at(x)));
        let slope = 4 * (y1 - y0) - (y2 - y0);
        *parabola = [y0 as i16, slope as i16, (y2 - y0 - slope) as i16];
    }
    Ok(GainTable { parabolas, shift })
}

/// Owned tables of a front end.
#[derive(Clone, Debug)]
pub struct Tables {
    coefficients: Vec<i16>,
    step: usize,
    points: usize,
    rotations: Vec<[Complex; 3]>,
    untangle: Vec<Complex>,
    start: usize,
    widths: Vec<u8>,
    weights: Vec<[i16; 2]>,
    noise: Option<Noise>,
    gain: Option<GainTable>,
    log: Log,
}

impl Tables {
    /// The front end that reads these tables.
    pub fn front_end(&self) -> FrontEnd<'_> {
        FrontEnd {
            window: Window { coefficients: &self.coefficients, step: self.step },
            fft: Fft { rotations: &self.rotations, untangle: &self.untangle },
            filterbank: Filterbank { start: self.start, widths: &self.widths, weights: &self.weights },
            noise: self.noise,
            gain: self.gain.as_ref().map(|table| Gain { parabolas: &table.parabolas, shift: table.shift }),
            log: self.log,
        }
    }

    /// Number of mel channels.
    pub fn channels(&self) -> usize {
        self.widths.len() - 1
    }

    /// A fresh state for these tables, on the heap.
    pub fn listener(&self) -> Listener<'_> {
        Listener {
            front_end: self.front_end(),
            samples: vec![0; self.coefficients.len()],
            filled: 0,
            spectrum: vec![Complex::ZERO; self.points],
            channels: vec![0; self.channels()],
            estimates: vec![0; self.channels()],
            features: vec![0; self.channels()],
        }
    }
}

/// A front end on the host: its tables, and a state whose sizes are known at run time only.
pub struct Listener<'a> {
    front_end: FrontEnd<'a>,
    samples: Vec<i16>,
    filled: usize,
    spectrum: Vec<Complex>,
    channels: Vec<u32>,
    estimates: Vec<u32>,
    features: Vec<u16>,
}

impl Listener<'_> {
    /// Takes samples until a frame is complete and returns its features; `None` when more samples are needed.
    pub fn process(&mut self, samples: &mut &[i16]) -> Option<&[u16]> {
        let mut history = History { samples: &mut self.samples, filled: &mut self.filled };
        if !history.fill(samples) {
            return None;
        }
        self.front_end.transform(history.samples, &mut self.spectrum, &mut self.channels);
        self.front_end.finish(&mut self.channels, &mut self.estimates, &mut self.features);
        history.advance(self.front_end.window.step);
        Some(&self.features)
    }

    /// Forgets everything heard.
    pub fn reset(&mut self) {
        self.filled = 0;
        self.samples.fill(0);
        self.estimates.fill(0);
    }
}
