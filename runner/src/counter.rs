//! Runs an image under counter/, our QEMU plugin, and reads what its marked regions cost.

use crate::image::Image;
use crate::qemu::{self, End, Run};
use crate::{cargo, setup};
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

/// What a region cost: exact instructions, and cycles of a modelled Cortex-M4 without wait states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Cost {
    pub instructions: u64,
    pub cycles: u64,
}

/// The regions in the order in which they ended, and the log.
pub struct Measured {
    pub regions: Vec<Cost>,
    pub lines: Vec<String>,
}

/// Runs an image to its end; it must succeed.
pub fn measure(image: &Image, arguments: &[&str]) -> Result<Measured> {
    measure_watched(image, arguments, |_| {})
}

/// [`measure`]; `line` sees every line of the log as it comes.
pub fn measure_watched(image: &Image, arguments: &[&str], line: impl FnMut(&str)) -> Result<Measured> {
    let report = temporary_file();
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let outcome = Run::new(image)?
        .arguments(arguments)
        .plugin(format!("{},out={}", plugin()?.display(), report.display()))
        .execute(line);
    let text = fs::read_to_string(&report);
    // A report that was never written leaves nothing behind.
    let _ = fs::remove_file(&report);
    let outcome = outcome?;
    outcome.end.verdict().map_err(anyhow::Error::msg)?;
    ensure!(outcome.end == End::Exit(0), "{}", outcome.lines.last().map_or("the firmware failed", String::as_str));
    let text = text.context("the counter plugin wrote nothing: this QEMU may have been built without plugins")?;
    let regions = text.lines().map(region).collect::<Option<Vec<Cost>>>();
    Ok(Measured { regions: regions.context("the counter plugin's report cannot be read")?, lines: outcome.lines })
}

/// `region DEPTH INSTRUCTIONS CYCLES`
fn region(line: &str) -> Option<Cost> {
    let mut words = line.strip_prefix("region ")?.split(' ').skip(1).map(|word| word.parse().ok());
    Some(Cost { instructions: words.next()??, cycles: words.next()?? })
}

/// The plugin, built for the QEMU that is installed.
fn plugin() -> Result<PathBuf> {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    if let Some(plugin) = PLUGIN.get() {
        return Ok(plugin.clone());
    }
    setup::qemu()?;
    let version = Command::new(qemu::PROGRAM).arg("--version").output().context("QEMU cannot be asked its version")?;
    let version = version_of(&String::from_utf8_lossy(&version.stdout)).context("QEMU does not tell its version")?;
    let built = cargo::host_library("counter", &[("MICROFORMER_QEMU", &version)])?;
    Ok(PLUGIN.get_or_init(|| built).clone())
}

/// `QEMU emulator version 7.2.22 (…)`
fn version_of(text: &str) -> Option<String> {
    text.split_once("version ")?.1.split([' ', '\n']).next().map(str::to_owned)
}

fn temporary_file() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("microformer-{}-{count}.regions", process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_read() {
        assert_eq!(region("region 0 2807 3668"), Some(Cost { instructions: 2807, cycles: 3668 }));
        assert_eq!(region("region 0 2807"), None);
        assert_eq!(region("nothing"), None);
    }

    #[test]
    fn versions_are_read() {
        assert_eq!(version_of("QEMU emulator version 7.2.22 (Debian 1:7.2)\nCopyright"), Some("7.2.22".to_owned()));
        assert_eq!(version_of("QEMU emulator version 10.0.0\nCopyright"), Some("10.0.0".to_owned()));
    }
}
