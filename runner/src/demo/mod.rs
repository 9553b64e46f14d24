//! `cargo demo`: a microcontroller in QEMU listens to speech and names the words as they are spoken.
//!
//! Twice through the sound: once for the eye, at the pace of the sound where there is a terminal; once under the
//! counter, for the summary.

mod screen;

use crate::cargo::{self, M4, root};
use crate::counter::{self, Cost};
use crate::image::Image;
use crate::{qemu, setup, sound};
use anyhow::{Context, Result, ensure};
use screen::{Line, Screen};
use std::fs;
use std::path::{Path, PathBuf};

/// Speech of our own: sounds/make.sh made it.
const OURS: &str = "sounds/demo.wav";

/// The clock of the chip that the summary speaks of: nRF52 boards run at it.
const CLOCK_HZ: f64 = 64e6;

pub fn run(file: Option<PathBuf>) -> Result<u8> {
    setup::everything()?;
    let spoken = if file.is_none() { words(&root().join("sounds/demo.csv"))? } else { Vec::new() };
    let prepared = sound::prepare(&file.clone().unwrap_or_else(|| root().join(OURS)))?;
    let name = file.map_or(OURS.to_owned(), |file| file.display().to_string());
    let path = prepared.path.to_str().context("the file's name is not plain text")?.to_owned();
    eprintln!("building the firmware for a Cortex-M4 …");
    let image = Image::read(&cargo::chip_image(M4, "firmware", &[])?)?;

    println!("A {} in QEMU ({}) listens to {name}\n", M4.name, M4.board);
    let mut screen = Screen::new();
    let arguments = vec![path.clone(), "tokens".to_owned()];
    let outcome = qemu::Run::new(&image)?.arguments(arguments).execute(|line| screen.show(line))?;
    screen.finish();
    outcome.end.verdict().map_err(anyhow::Error::msg)?;
    ensure!(outcome.end.code() == 0, "{}", outcome.lines.last().map_or("the firmware failed", String::as_str));

    let measured = counter::measure(&image, &[&path])?;
    summarize(&outcome.lines, &measured.regions, &image, &spoken)?;
    Ok(0)
}

/// The words of a list, in the order in which they are spoken.
fn words(list: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(list).with_context(|| format!("cannot open {}", list.display()))?;
    Ok(text.lines().skip(1).filter_map(|line| line.split(',').next()).map(str::to_owned).collect())
}

fn summarize(lines: &[String], regions: &[Cost], image: &Image, spoken: &[String]) -> Result<()> {
    let parsed: Vec<Line> = lines.iter().filter_map(|line| Line::read(line)).collect();
    let heard: Vec<&str> = parsed.iter().filter_map(Line::word).collect();
    println!();
    if spoken.is_empty() {
        println!("heard     {} words: {}", heard.len(), heard.join(" "));
    } else {
        println!("spoken    {}", spoken.join(" "));
        println!("heard     {}   ({} of {} words; `house` is none)", heard.join(" "), heard.len(), spoken.len() - 1);
    }
    let milliseconds = parsed.iter().rev().find_map(Line::end).context("the firmware did not report its end")?;
    // A frame every 10 ms: what all calls cost, shared among them.
    let frames = f64::from(milliseconds) / 10.0;
    let total = |field: fn(&Cost) -> u64| regions.iter().map(field).sum::<u64>() as f64;
    let (instructions, cycles) = (total(|cost| cost.instructions) / frames, total(|cost| cost.cycles) / frames);
    println!(
        "cost      {:.0} instructions, {:.0} modelled cycles per 10 ms frame: {:.1} % of a 64 MHz Cortex-M4",
        instructions,
        cycles,
        100.0 * cycles * 100.0 / CLOCK_HZ
    );
    let (state, stack) =
        parsed.iter().rev().find_map(Line::memory).context("the firmware did not report its memory")?;
    println!(
        "memory    {:.1} KB RAM ({state} bytes of state, {stack} of stack), {:.1} KB flash with the model",
        f64::from(state + stack) / 1024.0,
        image.flash_bytes()? as f64 / 1024.0
    );
    Ok(())
}
