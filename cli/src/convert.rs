//! `microformer convert`: any sound file as a WAV that the firmware hears: 16 kHz, one channel, 16 bits.

use crate::audio;
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;

const RATE: u32 = 16_000;

/// Convert a WAV, FLAC or Ogg file to what the firmware hears: 16 kHz, one channel, 16 bits
#[derive(Args)]
#[command(after_help = "Example:\n  microformer convert speech.flac speech.wav")]
pub struct Arguments {
    input: PathBuf,
    /// Where the WAV goes
    output: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let name = arguments.input.display().to_string();
    let bytes = std::fs::read(&arguments.input).with_context(|| format!("cannot open {name}"))?;
    let samples =
        audio::resample(audio::decode(bytes, &name)?, RATE).with_context(|| format!("cannot resample {name}"))?;
    std::fs::write(&arguments.output, wav(&samples))
        .with_context(|| format!("cannot write {}", arguments.output.display()))
}

/// The plainest WAV: a header of 44 bytes, then the samples.
fn wav(samples: &[i16]) -> Vec<u8> {
    let length = 2 * samples.len() as u32;
    let mut bytes = Vec::with_capacity(44 + 2 * samples.len());
    bytes.extend(b"RIFF");
    bytes.extend((36 + length).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16u32.to_le_bytes());
    bytes.extend([1, 1].map(u16::to_le_bytes).concat());
    bytes.extend([RATE, 2 * RATE].map(u32::to_le_bytes).concat());
    bytes.extend([2, 16].map(u16::to_le_bytes).concat());
    bytes.extend(b"data");
    bytes.extend(length.to_le_bytes());
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let samples = [0, 1, -1, 32767, -32768];
        let sound = audio::decode(wav(&samples), "a.wav").unwrap();
        assert_eq!((sound.rate, sound.samples), (RATE, samples.to_vec()));
    }
}
