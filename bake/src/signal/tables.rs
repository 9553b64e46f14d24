//! The front end's tables, computed from its settings.
//!
//! The floating-point arithmetic is that of TensorFlow Lite Micro's micro frontend, operation by operation and in the
//! same precision, so that every entry rounds to the same integer.

use super::{GainSettings, NoiseSettings, Settings};
use crate::Error;
use microformer_packed::signal::{Complex, Fft, Filterbank, FrontEnd, Gain, Log, Noise, Window};
use std::f64::consts::PI;

/// Owned tables of a front end.
#[derive(Clone, Debug)]
pub struct Tables {
    coefficients: Vec<i16>,
    step: usize,
    swaps: Vec<[u16; 2]>,
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
            fft: Fft { swaps: &self.swaps, rotations: &self.rotations, untangle: &self.untangle },
            filterbank: Filterbank { start: self.start, widths: &self.widths, weights: &self.weights },
            noise: self.noise,
            gain: self.gain.as_ref().map(|(parabolas, shift)| Gain { parabolas, shift: *shift }),
            log: self.log,
        }
    }

    pub(super) fn new(settings: &Settings) -> Result<Self, Error> {
        let length = settings.window_samples().next_power_of_two();
        let points = length / 2;
        let correction_bits = length.ilog2() - Filterbank::WEIGHT_BITS / 2;
        let (start, widths, weights) = channels(settings, points)?;
        let gain = match (&settings.gain, &settings.noise) {
            (Some(gain), Some(noise)) => Some(gain_table(gain, noise, correction_bits)?),
            _ => None,
        };
        Ok(Self {
            coefficients: coefficients(settings.window_samples()),
            step: settings.step_samples(),
            swaps: swaps(points),
            rotations: rotations(points),
            untangle: untangle(points),
            start,
            widths,
            weights,
            noise: settings.noise.as_ref().map(noise),
            gain,
            log: Log { scale_shift: settings.log.scale_shift, correction_bits },
        })
    }
}

/// The Hann window, sampled between its zeros.
fn coefficients(size: usize) -> Vec<i16> {
    let step = PI as f32 * 2.0 / size as f32;
    (0..size)
        .map(|k| {
            let value = 0.5 - 0.5 * (step * (k as f32 + 0.5)).cos();
            (value * (1 << Window::COEFFICIENT_BITS) as f32 + 0.5).floor() as i16
        })
        .collect()
}

/// e^(i·phase) with 15 fractional bits.
fn rotation(phase: f64) -> Complex {
    let part = |value: f64| (0.5 + 32767.0 * value).floor() as i16;
    Complex { re: part(phase.cos()), im: part(phase.sin()) }
}

/// The transform's stages, as radices in order of execution: a 2 first where fours alone do not multiply to `points`.
fn radices(points: usize) -> Vec<usize> {
    let bits = points.ilog2() as usize;
    let mut radices = vec![4; bits.div_ceil(2)];
    if bits % 2 == 1 {
        radices[0] = 2;
    }
    radices
}

/// Exchanges that bring the input into digit-reversed order, the digits being those of the stages.
fn swaps(points: usize) -> Vec<[u16; 2]> {
    // The place of each input: its digits, the last stage's first, become the digits of the place, most significant first.
    let place = |input: usize| {
        let (mut place, mut rest) = (0, input);
        for radix in radices(points).into_iter().rev() {
            place = place * radix + rest % radix;
            rest /= radix;
        }
        place
    };
    let mut at: Vec<usize> = (0..points).collect();
    let mut swaps = Vec::new();
    for here in 0..points {
        // Each exchange brings one more input to its place.
        while place(at[here]) != here {
            let there = place(at[here]);
            at.swap(here, there);
            swaps.push([here as u16, there as u16]);
        }
    }
    swaps
}

fn rotations(points: usize) -> Vec<[Complex; 3]> {
    let spans = std::iter::successors(radices(points).first().copied(), |span| Some(span * 4));
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

fn channels(settings: &Settings, points: usize) -> Result<Channels, Error> {
    let (low, high) = (mel(settings.lower_hz), mel(settings.upper_hz));
    let spacing = (high - low) / (settings.channels + 1) as f32;
    let hz_per_bin = 0.5 * settings.sample_rate as f32 / points as f32;
    let start = (1.5 + settings.lower_hz / hz_per_bin) as usize;
    let (mut widths, mut weights) = (Vec::new(), Vec::new());
    let mut bin = start;
    let (mut below, mut centre) = (low, low);
    for channel in 0..=settings.channels {
        centre = low + spacing * (channel + 1) as f32;
        let first = bin;
        while bin < points && mel(bin as f32 * hz_per_bin) <= centre {
            let weight = (centre - mel(bin as f32 * hz_per_bin)) / (centre - below);
            let round = |share: f32| (share * (1 << Filterbank::WEIGHT_BITS) as f32 + 0.5).floor() as i16;
            weights.push([round(weight), round(1.0 - weight)]);
            bin += 1;
        }
        let width = u8::try_from(bin - first).map_err(|_| {
            Error::new(format!(
                "signal: a channel spans more than 255 bins; choose more than {} channels",
                settings.channels
            ))
        })?;
        widths.push(width);
        below = centre;
    }
    if mel(bin as f32 * hz_per_bin) <= centre {
        let half = settings.sample_rate / 2;
        return Err(Error::new(format!(
            "signal: upper_hz {} must lie below half the sample rate, {half} Hz",
            settings.upper_hz
        )));
    }
    Ok((start, widths, weights))
}

fn noise(settings: &NoiseSettings) -> Noise {
    let share = |value: f32| (value * (1 << Noise::SHARE_BITS) as f32) as u16;
    Noise {
        smoothing_bits: settings.smoothing_bits,
        even_smoothing: share(settings.even_smoothing),
        odd_smoothing: share(settings.odd_smoothing),
        min_signal_remaining: share(settings.min_signal_remaining),
    }
}

/// The gain's parabolas, and the shift that follows it.
type GainTable = ([[i16; 3]; 33], u32);

fn gain_table(gain: &GainSettings, noise: &NoiseSettings, correction_bits: u32) -> Result<GainTable, Error> {
    let shift = gain.gain_bits.checked_sub(correction_bits + Gain::RATIO_BITS);
    let shift = shift.filter(|_| gain.gain_bits < 32).ok_or_else(|| {
        Error::new(format!("signal: gain_bits {}; choose {} to 31", gain.gain_bits, correction_bits + Gain::RATIO_BITS))
    })?;
    let input_bits = noise.smoothing_bits.checked_sub(correction_bits).ok_or_else(|| {
        Error::new(format!(
            "signal: smoothing_bits {}; choose at least {correction_bits} with gain on",
            noise.smoothing_bits
        ))
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
    Ok((parabolas, shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_is_symmetric_and_reaches_one() {
        let coefficients = coefficients(480);
        // Cosines of single precision round differently on the two sides.
        let mut mirrored = coefficients.iter().zip(coefficients.iter().rev());
        assert!(mirrored.all(|(a, b)| a.abs_diff(*b) <= 1));
        assert_eq!((coefficients[0], coefficients[239]), (0, 4096));
    }

    #[test]
    fn rotations_lie_on_the_circle_in_order_of_stages() {
        // 256 points: spans 4, 16, 64; 128 points: spans 2, 8, 32.
        assert_eq!((rotations(256).len(), rotations(128).len()), (84, 42));
        assert_eq!(rotations(256)[0], [Complex::new(32767, 0); 3]);
        // The second of span 4 turns by 1/16, 2/16 and 3/16: cos(π/8) = 0.92388, cos(π/4) = 0.70711.
        let [first, second, third] = rotations(256)[1];
        assert_eq!(first, Complex::new(30273, -12539));
        assert_eq!(second, Complex::new(23170, -23170));
        assert_eq!(third, Complex::new(12539, -30273));
    }

    #[test]
    fn a_bin_is_shared_between_two_channels() {
        let (start, widths, weights) = channels(&Settings::default(), 256).unwrap();
        // 125 Hz is bin 4; the first that counts lies above it.
        assert_eq!(start, 5);
        assert_eq!(widths.len(), 41);
        assert_eq!(widths.iter().map(|&width| usize::from(width)).sum::<usize>(), weights.len());
        assert!(weights.iter().all(|[weight, unweight]| (weight + unweight - 4096).abs() <= 1));
    }

    #[test]
    fn gain_falls_as_noise_grows() {
        let (parabolas, shift) = gain_table(&GainSettings::default(), &NoiseSettings::default(), 3).unwrap();
        // 2²¹ · 80^−0.95 = 32636
        assert_eq!(parabolas[0], [32636, 0, 0]);
        assert_eq!(shift, 6);
        assert!(parabolas.is_sorted_by(|a, b| a[0] >= b[0]));
    }
}
