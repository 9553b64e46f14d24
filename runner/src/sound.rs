//! Sound for the firmware, which hears WAVs of 16 kHz, one channel, 16 bits: any other file is converted beside it.

use crate::cargo::cargo;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// A file that the firmware can hear; a converted one is removed when it is no longer needed.
pub struct Prepared {
    pub path: PathBuf,
    is_temporary: bool,
}

impl Prepared {
    /// How long it lasts, by its size: 16,000 samples of two bytes a second.
    pub fn seconds(&self) -> Result<u32> {
        let bytes = fs::metadata(&self.path).with_context(|| format!("cannot open {}", self.path.display()))?.len();
        Ok((bytes / 32_000) as u32)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if self.is_temporary {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether an argument of the firmware is a sound, by its ending.
pub fn is_sound(argument: &str) -> bool {
    let ending = Path::new(argument).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["wav", "flac", "ogg", "oga"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// The file itself, or a converted copy of it.
pub fn prepare(path: &Path) -> Result<Prepared> {
    let bytes = fs::read(path).with_context(|| format!("cannot open {}", path.display()))?;
    let absolute = path.canonicalize().with_context(|| format!("cannot open {}", path.display()))?;
    if is_ours(&bytes) {
        return Ok(Prepared { path: absolute, is_temporary: false });
    }
    let converted =
        Prepared { path: env::temp_dir().join(format!("microformer-{}.wav", process::id())), is_temporary: true };
    eprintln!("converting {} to 16 kHz, one channel, 16 bits …", path.display());
    eprintln!("(the first time this builds the converter, which takes a minute or two)");
    let command =
        ["run", "--quiet", "--profile", "host", "--target", "host-tuple", "-p", "microformer-cli", "--", "convert"];
    let status = cargo(&command).arg(&absolute).arg(&converted.path).status().context("cargo cannot be run")?;
    if !status.success() {
        bail!("{} cannot be converted", path.display());
    }
    ensure!(converted.path.is_file(), "{} was converted to nothing", path.display());
    Ok(converted)
}

/// The plain header that every tool writes for this format, with all its sound behind it. Anything else is converted,
/// which also finds what is damaged.
fn is_ours(bytes: &[u8]) -> bool {
    let Some((head, sound)) = bytes.split_first_chunk::<44>() else { return false };
    let format = [1, 0, 1, 0, 0x80, 0x3e, 0, 0, 0, 0x7d, 0, 0, 2, 0, 16, 0];
    let promised = u32::from_le_bytes([head[40], head[41], head[42], head[43]]) as usize;
    head.starts_with(b"RIFF")
        && &head[8..16] == b"WAVEfmt "
        && head[20..36] == format
        && &head[36..40] == b"data"
        && (1..=sound.len()).contains(&promised)
}
