//! `cargo demo`: a microcontroller in QEMU listens to speech and names the words as they are spoken.
//!
//! At the pace of the sound where somebody watches a short one, and under the counter, for the summary.

mod screen;
mod spoken;

use crate::cargo::{self, M4, root};
use crate::counter::{self, Cost};
use crate::image::Image;
use crate::{setup, sound};
use anyhow::{Context, Result};
use screen::{Line, Screen};
use spoken::Spoken;
use std::path::PathBuf;

/// Speech of our own: sounds/make.sh made it.
const OURS: &str = "sounds/demo.wav";

/// The clock of the chip that the summary speaks of: nRF52 boards run at it.
const CLOCK_HZ: f64 = 64e6;

pub fn run(file: Option<PathBuf>) -> Result<u8> {
    setup::everything()?;
    let spoken = if file.is_none() { spoken::read(&root().join("sounds/demo.csv"))? } else { Vec::new() };
    let prepared = sound::prepare(&file.clone().unwrap_or_else(|| root().join(OURS)))?;
    let name = file.map_or(OURS.to_owned(), |file| file.display().to_string());
    let path = prepared.path.to_str().context("the file's name is not plain text")?;
    eprintln!("building the firmware for a Cortex-M4 …");
    let image = Image::read(&cargo::chip_image(M4, "firmware", &[])?)?;

    println!("A {} in QEMU ({}) listens to {name}\n", M4.name, M4.board);
    let mut screen = Screen::new(prepared.seconds()?);
    let measured = counter::measure_watched(&image, &[path, "tokens"], |line| screen.show(line));
    screen.finish();
    let measured = measured?;
    summarize(&measured.lines, &measured.regions, &image, &spoken)?;
    Ok(0)
}

fn summarize(lines: &[String], regions: &[Cost], image: &Image, spoken: &[Spoken]) -> Result<()> {
    let parsed: Vec<Line> = lines.iter().filter_map(|line| Line::read(line)).collect();
    println!();
    spoken::tell(spoken, &parsed);
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
