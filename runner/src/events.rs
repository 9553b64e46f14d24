//! The same sound through the firmware on this laptop and on an emulated chip: the same words, at the same sample, with
//! the same posteriors at every token.
//!
//! The sound is made of the repository's own: as it is, overdriven, after silence, and very soft.

use crate::cargo::{self, Chip};
use crate::image::Image;
use crate::qemu::{End, Run};
use crate::verify::Tally;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::{env, fs, process::Command};

/// Bytes before the samples in the WAVs that sounds/make.sh writes.
const HEADER: usize = 44;

/// Fewer words than this would show too little: half of those in sounds/demo.wav.
const FEWEST_WORDS: usize = 6;

pub fn check(chip: Chip) -> Result<Tally> {
    let sound = Sound::write(&format!("microformer-events-{}-{}.wav", chip.target, std::process::id()))?;
    compare(&laptop(&sound.path)?, &on_chip(chip, &sound.path)?)
}

/// A file that is removed when it is no longer needed.
struct Sound {
    path: PathBuf,
}

impl Drop for Sound {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Sound {
    fn write(name: &str) -> Result<Self> {
        let (demo, yes) = (read("sounds/demo.wav")?, read("sounds/yes.wav")?);
        let louder = |factor: i16| yes.iter().map(move |sample| sample.saturating_mul(factor));
        let silence = [0; 16000];
        let samples: Vec<i16> = (demo.iter().copied())
            .chain(louder(20))
            .chain(silence)
            .chain(louder(1))
            .chain(demo.iter().map(|sample| sample / 16))
            .collect();
        let header = fs::read(cargo::root().join("sounds/demo.wav"))?[..HEADER - 4].to_vec();
        let bytes = samples.iter().flat_map(|sample| sample.to_le_bytes());
        let length = (2 * samples.len() as u32).to_le_bytes();
        let path = env::temp_dir().join(name);
        fs::write(&path, header.into_iter().chain(length).chain(bytes).collect::<Vec<u8>>())
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path })
    }
}

fn read(name: &str) -> Result<Vec<i16>> {
    let bytes = fs::read(cargo::root().join(name)).with_context(|| format!("cannot read {name}"))?;
    let sound = bytes.get(HEADER..).with_context(|| format!("{name} holds no sound"))?;
    Ok(sound.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect())
}

fn laptop(sound: &Path) -> Result<Vec<String>> {
    let program = cargo::host_binary("firmware")?;
    let output = Command::new(&program).arg(sound).output().context("the firmware cannot be run on this laptop")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "the firmware fails on this laptop: {text}");
    Ok(text.lines().map(str::to_owned).collect())
}

fn on_chip(chip: Chip, sound: &Path) -> Result<Vec<String>> {
    let image = Image::read(&cargo::chip_image(chip, "firmware", &[])?)?;
    let outcome = Run::new(&image)?.arguments(vec![sound.display().to_string()]).execute(|_| {})?;
    match outcome.end {
        End::Exit(0) => Ok(outcome.lines),
        end => bail!("the run ended as {end:?}: {}", outcome.lines.last().map_or("", String::as_str)),
    }
}

/// Every line but those about memory and time, which are the machine's own.
fn compare(laptop: &[String], chip: &[String]) -> Result<Tally> {
    let about_sound = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|line| !line.starts_with("state ") && !line.starts_with("cost ")).cloned().collect()
    };
    let (laptop, chip) = (about_sound(laptop), about_sound(chip));
    let words = laptop.iter().filter(|line| line.starts_with("heard ")).count();
    ensure!(words >= FEWEST_WORDS, "only {words} words were heard on the laptop: too few to compare");
    ensure!(laptop.iter().any(|line| line.starts_with("fingerprint ")), "the laptop tells no fingerprint");
    let first = laptop.iter().zip(&chip).find(|(laptop, chip)| laptop != chip);
    if let Some((laptop, chip)) = first {
        bail!("first line that differs: `{laptop}` on the laptop, `{chip}` on the chip");
    }
    ensure!(laptop.len() == chip.len(), "{} lines on the laptop, {} on the chip", laptop.len(), chip.len());
    Ok(Tally { passed: words + 1, ..Tally::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(end: &str) -> Vec<String> {
        let mut lines: Vec<String> =
            (0..FEWEST_WORDS).map(|word| format!("heard yes {word} ms to 9 ms, 97 %")).collect();
        lines.extend([format!("state {end}"), "fingerprint 01234567".to_owned()]);
        lines
    }

    #[test]
    fn a_sample_or_a_bit_that_differs_is_named() {
        assert_eq!(compare(&log("laptop"), &log("chip")).expect("equal").passed, FEWEST_WORDS + 1);
        let mut other = log("chip");
        other[2] = "heard yes 2 ms to 49 ms, 97 %".to_owned();
        assert!(format!("{:#}", compare(&log(""), &other).err().expect("differs")).contains("to 49 ms"));
        let mut other = log("chip");
        other[FEWEST_WORDS + 1] = "fingerprint 01234568".to_owned();
        assert!(compare(&log(""), &other).is_err());
    }

    #[test]
    fn too_little_is_no_success() {
        assert!(compare(&log("")[1..], &log("")[1..]).is_err());
        assert!(compare(&log(""), &log("")[..FEWEST_WORDS]).is_err());
    }
}
