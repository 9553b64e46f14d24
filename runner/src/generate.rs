//! The same text, here and on an emulated chip, for the same prompt and seed: greedy and drawn.

use crate::cargo::{self, Chip};
use crate::counter;
use crate::image::Image;
use crate::verify::Tally;
use anyhow::{Context, Result, ensure};
use std::process::Command;

/// The model that src/bin/generate.rs writes with.
const MODEL: &str = "characters";

/// Prompt, characters to add, temperature in thousandths, top-k, seed. The window is passed more than once.
const REQUESTS: [[&str; 5]; 3] = [
    ["The ", "150", "0", "0", "1"],
    ["Ownership is", "150", "800", "0", "7"],
    ["fn main() {", "80", "600", "5", "4294967295"],
];

pub fn check(chip: Chip) -> Result<Tally> {
    let program = cargo::host_binary("generate")?;
    let image = Image::read(&cargo::chip_image_of(chip, "generate", Some(MODEL), &[])?)?;
    let mut tally = Tally::default();
    for request in REQUESTS {
        let output = Command::new(&program).args(request).output().context("the program cannot be run here")?;
        ensure!(output.status.success(), "the program fails here: {}", String::from_utf8_lossy(&output.stdout));
        let laptop = String::from_utf8_lossy(&output.stdout);
        let measured = counter::measure(&image, &request)?;
        tally.check(compare(&text(laptop.lines()), &text(measured.lines.iter().map(String::as_str))));
        // The first region holds the prompt, too.
        let dearest = measured.regions.iter().skip(1).map(|cost| cost.instructions).max().context("no character")?;
        tally.notes.push(format!("{:?}: at most {dearest} instructions a character", request[0]));
    }
    Ok(tally)
}

/// All lines of the text; what follows tells the memory, which differs.
fn text<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<&'l str> {
    lines.take_while(|line| !line.starts_with("state ")).collect()
}

fn compare(laptop: &[&str], chip: &[&str]) -> Result<()> {
    ensure!(laptop.len() > 1, "the laptop wrote nothing");
    ensure!(laptop == chip, "the laptop wrote {laptop:?}, the chip {chip:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_text_or_none_fails() {
        let lines = text("The chip\nwrites\nend after 9 characters\nstate 5 bytes, stack 3 bytes".lines());
        assert_eq!(lines.len(), 3);
        assert!(compare(&lines, &lines).is_ok());
        assert!(compare(&lines, &lines[..2]).is_err());
        assert!(compare(&[], &[]).is_err());
    }
}
