//! Some of the sequences on an emulated chip: a firmware with the model baked in, which reads the sequences from a file.
//!
//! A model that listens gets samples, so that its front end runs on the chip too. What comes back are the scores after
//! the last token, which must equal those of this machine to the bit.

use crate::data::{Data, DataArguments, Input, sound};
use crate::inspect::{self, Board};
use crate::model::Engine;
use crate::new::{Firmware, Source, write_changed};
use anyhow::{Context, Result, bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use microformer_bake::Quantized;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Longest silence of a firmware that still works.
const SILENCE: Duration = Duration::from_secs(300);

/// Where the firmware lies, below the target folder.
const CRATE: &str = "microformer-evaluate";

/// The file that the firmware reads, in its folder.
const SEQUENCES: &str = "sequences.bin";

/// What to run, and where.
pub struct Request<'a> {
    pub model: &'a Path,
    pub quantized: &'a Quantized,
    pub board: &'static Board,
    /// The data as given, for their samples.
    pub path: &'a Path,
    pub options: &'a DataArguments,
}

/// So many sequences, spread over all of them.
pub fn choose(wanted: usize, count: usize) -> Vec<usize> {
    let wanted = wanted.min(count);
    (0..wanted).map(|index| index * count / wanted).collect()
}

/// The scores after the last token of each chosen sequence.
pub fn scores(request: &Request, data: &Data, chosen: &[usize], engine: &Engine) -> Result<Vec<Vec<i16>>> {
    ensure!(request.board.machine.is_some(), "QEMU has no machine for the board {}", request.board.name);
    let sequences = payloads(request, data, chosen, engine)?;
    let image = build(request, &main(request)?, &sequences)?;
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} sequences in QEMU").expect("a valid template");
    let progress = ProgressBar::new(chosen.len() as u64).with_style(style);
    progress.tick();
    let mut scores = Vec::with_capacity(chosen.len());
    run(request.board, &image, |line| {
        if let Some(line) = line.strip_prefix("scores ") {
            scores.push(numbers(line)?);
            progress.inc(1);
        }
        Ok(())
    })?;
    ensure!(scores.len() == chosen.len(), "QEMU ended after {} of {} sequences", scores.len(), chosen.len());
    progress.finish_and_clear();
    Ok(scores)
}

/// The words that are heard in one stretch of sound: label, start, end and confidence as the engine has them.
pub fn events(request: &Request, samples: &[i16]) -> Result<Vec<[u64; 4]>> {
    ensure!(request.board.machine.is_some(), "QEMU has no machine for the board {}", request.board.name);
    let sound: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let image = build(request, include_str!("../../templates/evaluate-sound.rs.txt"), &[sound])?;
    let mut events = Vec::new();
    run(request.board, &image, |line| {
        if let Some(line) = line.strip_prefix("heard ") {
            events.push(numbers(line)?.try_into().ok().context("QEMU printed nonsense")?);
        }
        Ok(())
    })?;
    Ok(events)
}

fn numbers<T: FromStr>(line: &str) -> Result<Vec<T>> {
    line.split(' ').map(str::parse).collect::<Result<_, _>>().ok().context("QEMU printed nonsense")
}

/// Every chosen sequence as the firmware reads it.
fn payloads(request: &Request, data: &Data, chosen: &[usize], engine: &Engine) -> Result<Vec<Vec<u8>>> {
    if listens(request)? {
        let clips = sound::samples(request.path, &request.quantized.config, request.options, chosen)?;
        return Ok(clips
            .iter()
            .map(|(clip, _)| clip.iter().flat_map(|sample| sample.to_le_bytes()).collect())
            .collect());
    }
    let bytes = |&index: &usize| match &data.sequences[index].input {
        Input::Tokens(tokens) => tokens.iter().flat_map(|&token| (token as u16).to_le_bytes()).collect(),
        input @ Input::Features { .. } => engine.codes(input).iter().map(|&code| code as u8).collect(),
    };
    Ok(chosen.iter().map(bytes).collect())
}

fn listens(request: &Request) -> Result<bool> {
    Ok(request.quantized.config.signal.is_some() && sound::is_sound(request.path)?)
}

/// The main.rs that suits the data.
fn main(request: &Request) -> Result<String> {
    if listens(request)? {
        return Ok(include_str!("../../templates/evaluate-sound.rs.txt").to_owned());
    }
    let steps = match request.quantized.config.input {
        microformer_bake::config::Input::Tokens(_) => include_str!("../../templates/evaluate-tokens.rs.txt"),
        microformer_bake::config::Input::Features(_) => include_str!("../../templates/evaluate-features.rs.txt"),
    };
    Ok(include_str!("../../templates/evaluate.rs.txt").replace("{{steps}}", steps.trim()))
}

/// Builds the firmware, and writes the sequences beside it, each after its length.
fn build(request: &Request, main: &str, sequences: &[Vec<u8>]) -> Result<PathBuf> {
    inspect::check_fit(request.quantized, request.board)?;
    let (source, folder) = folder()?;
    let firmware = Firmware {
        name: CRATE,
        model: request.model,
        config: &request.quantized.config,
        board: request.board,
        source: &source,
        main,
        example: &[],
    };
    firmware.write_files(&folder)?;
    write_changed(&folder.join("src/file.rs"), include_bytes!("../../templates/evaluate-file.rs.txt"))?;
    let bytes = sequences.iter().flat_map(|sequence| [&(sequence.len() as u32).to_le_bytes()[..], sequence].concat());
    fs::write(folder.join(SEQUENCES), bytes.collect::<Vec<u8>>())
        .with_context(|| format!("cannot write {}", folder.join(SEQUENCES).display()))?;
    let output = Command::new("cargo")
        .args(["build", "--release", "--quiet"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", folder.with_file_name(""))
        .env_remove("CARGO_BUILD_TARGET")
        .output()
        .context("cargo cannot be started; --qemu builds a firmware")?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let line = words.lines().find(|line| line.starts_with("error")).unwrap_or("cargo build failed");
        bail!("the firmware for QEMU does not build: {line} (see `cargo build --release` in {})", folder.display());
    }
    Ok(folder.with_file_name(request.board.target()).join("release").join(CRATE))
}

/// Where microformer comes from, and the folder of the firmware, below a target folder that later runs find again.
fn folder() -> Result<(Source, PathBuf)> {
    let source = Source::around(&[Path::new(".")])?;
    let target = match &source {
        Source::Repository(root) => root.join("target"),
        Source::Git(_) => std::env::temp_dir().join("microformer"),
    };
    Ok((source, target.join(CRATE)))
}

/// Runs the image to its end; `each` sees every line.
fn run(board: &Board, image: &Path, mut each: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let runner = board.runner();
    let mut words = runner.split(' ');
    let program = words.next().context("a runner has a name")?;
    let mut child = Command::new(program)
        .args(words)
        .arg(image)
        .current_dir(folder()?.1)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("{program} cannot be started; install QEMU for Arm"))?;
    let lines = BufReader::new(child.stdout.take().context("the output of QEMU is a pipe")?).lines();
    let (sender, receiver) = channel();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
    loop {
        match receiver.recv_timeout(SILENCE) {
            Ok(line) if line.starts_with("error") => return stop(&mut child, &line),
            Ok(line) => each(&line)?,
            Err(RecvTimeoutError::Timeout) => return stop(&mut child, "no word from it for too long"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait().context("QEMU cannot be waited for")?;
    ensure!(status.success(), "QEMU failed ({status})");
    Ok(())
}

fn stop(child: &mut Child, reason: &str) -> Result<()> {
    // That it may already be gone is no error.
    let _ = child.kill();
    let _ = child.wait();
    bail!("the firmware in QEMU failed: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_sequences_are_spread() {
        assert_eq!(choose(3, 9), [0, 3, 6]);
        assert_eq!(choose(9, 3), [0, 1, 2]);
        assert!(choose(0, 3).is_empty());
    }
}
