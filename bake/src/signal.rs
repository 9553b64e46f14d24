//! The signal front end: settings in, its tables out, for use on the host or as Rust source for firmware.
//!
//! ```
//! use microformer::signal::State;
//! use microformer_bake::signal::Settings;
//!
//! let settings: Settings = serde_json::from_str(
//!     r#"{"sample_rate": 16000, "window_ms": 30, "step_ms": 10, "channels": 40,
//!         "lower_hz": 60, "upper_hz": 7600, "log": {"scale_shift": 6}}"#,
//! )?;
//! let tables = settings.tables()?;
//!
//! // In firmware, `tables.module()` has become a static, and the state is one too.
//! let front_end = tables.front_end();
//! let mut state = State::<480, 256, 40>::new();
//! let tone: Vec<i16> = (0..16000).map(|k| (8000.0 * (k as f64 * 0.3927).sin()) as i16).collect();
//! let (mut samples, mut features, mut frames) = (&tone[..], [0; 40], 0);
//! while state.process(&front_end, &mut samples, &mut features) {
//!     frames += 1;
//! }
//! assert_eq!(frames, 98);
//! // 1000 Hz is loudest in channel 13.
//! assert_eq!((0..40).max_by_key(|&channel| features[channel]), Some(13));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod module;
mod tables;

use crate::Error;
use serde::{Deserialize, Serialize};
pub use tables::Tables;

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
        samples(self.window_ms, self.sample_rate)
    }

    /// Samples from frame to frame.
    pub fn step_samples(&self) -> usize {
        samples(self.step_ms, self.sample_rate)
    }

    /// How many frames come out of that many samples.
    pub fn frames(&self, samples: usize) -> usize {
        match samples.checked_sub(self.window_samples()) {
            Some(more) => 1 + more / self.step_samples(),
            None => 0,
        }
    }

    /// Computes the tables, or says which setting does not work and what would.
    pub fn tables(&self) -> Result<Tables, Error> {
        self.check()?;
        Tables::new(self)
    }

    fn check(&self) -> Result<(), Error> {
        let (window, step) = (self.window_samples(), self.step_samples());
        let length = window.next_power_of_two();
        let share = |value: f32| (0.0..=1.0).contains(&value);
        let refuse = |wrong: bool, message: String| if wrong { Err(Error::new(message)) } else { Ok(()) };
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

fn samples(milliseconds: u32, sample_rate: u32) -> usize {
    (u64::from(milliseconds) * u64::from(sample_rate) / 1000) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = Settings::micro_frontend();
        change(&mut settings);
        settings.tables().expect_err("these settings cannot work").to_string()
    }

    #[test]
    fn what_cannot_work_is_refused_by_name() {
        assert!(refusal(|s| s.window_ms = 100).contains("window_ms 100"));
        assert!(refusal(|s| s.sample_rate = u32::MAX).contains("window_ms 30 at 4294967295 Hz"));
        assert!(refusal(|s| s.step_ms = 0).contains("step_ms 0"));
        assert!(refusal(|s| s.step_ms = 31).contains("step_ms 31"));
        assert!(refusal(|s| s.channels = 65).contains("65 channels"));
        assert!(refusal(|s| s.upper_hz = 100.0).contains("lower_hz < upper_hz"));
        assert!(refusal(|s| s.upper_hz = f32::NAN).contains("lower_hz < upper_hz"));
        assert!(refusal(|s| s.upper_hz = 8000.0).contains("upper_hz 8000"));
        assert!(refusal(|s| s.noise = None).contains("set noise too"));
        assert!(refusal(|s| s.log.scale_shift = 11).contains("scale_shift 11"));
        assert!(refusal(|s| s.gain.as_mut().unwrap().gain_bits = 14).contains("gain_bits 14"));
        assert!(refusal(|s| s.noise.as_mut().unwrap().odd_smoothing = 1.5).contains("choose 0 to 1"));
    }

    #[test]
    fn settings_survive_the_way_through_json() {
        for settings in [Settings::default(), Settings::micro_frontend()] {
            let text = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
        }
        let unknown = r#"{"sample_rate": 16000, "windows_ms": 30}"#;
        assert!(serde_json::from_str::<Settings>(unknown).unwrap_err().to_string().contains("windows_ms"));
    }

    #[test]
    fn frames_are_counted_as_they_come() {
        let settings = Settings::default();
        assert_eq!([479, 480, 639, 640, 16000].map(|samples| settings.frames(samples)), [0, 1, 1, 2, 98]);
    }
}
