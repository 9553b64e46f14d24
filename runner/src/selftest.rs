//! Runs src/bin/selftest on a chip: every line of its log is one kernel, and its exit code the verdict.

use crate::cargo::{self, Chip};
use crate::image::Image;
use crate::qemu::{End, Run};
use crate::verify::Tally;
use anyhow::Result;

/// How the self-test marks a kernel that computes other bits, or is too far from floats.
const FAILED: [&str; 2] = ["DIFFERS", "error:"];

pub fn check(chip: Chip) -> Result<Tally> {
    let image = Image::read(&cargo::chip_image(chip, "selftest", &[])?)?;
    let outcome = Run::new(&image)?.execute(|_| {})?;
    let (failed, passed): (Vec<String>, Vec<String>) =
        outcome.lines.into_iter().partition(|line| FAILED.iter().any(|mark| line.contains(mark)));
    let mut tally = Tally { passed: passed.len(), failures: failed, ..Tally::default() };
    if outcome.end != End::Exit(0) || passed.is_empty() {
        tally.failures.push(format!("the run ended as {:?} after {} lines", outcome.end, passed.len()));
    }
    Ok(tally)
}
