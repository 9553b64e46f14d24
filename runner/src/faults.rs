//! The bad ends of src/bin/fault.rs, seen from outside: one readable line and a failing exit code for each.

use crate::cargo::{self, Chip};
use crate::image::Image;
use crate::qemu::{End, Outcome, Run};
use crate::verify::Tally;
use anyhow::{Result, ensure};
use std::time::Duration;

/// What is asked for, and what the line must say.
const FAULTS: [(&str, &str); 5] = [
    ("panic", "error: panic at src/bin/fault.rs"),
    ("hard-fault", "error: hard fault at pc 0x"),
    ("undefined", "error: hard fault at pc 0x"),
    ("overflow", "error: stack overflow: all "),
    ("error", "error: as asked"),
];

/// Long enough for QEMU to start on a busy laptop, short enough to wait for.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn check(chip: Chip) -> Result<Tally> {
    let image = Image::read(&cargo::chip_image(chip, "fault", &[])?)?;
    let mut tally = Tally::default();
    for (fault, line) in FAULTS {
        tally.check(run(&image, fault).and_then(|outcome| ends_with(fault, line, &outcome)));
    }
    tally.check(run(&image, "none").and_then(|outcome| {
        ensure!(outcome.end == End::Exit(0), "no fault, but the run ended as {:?}", outcome.end);
        Ok(())
    }));
    tally.check(run(&image, "hang").and_then(|outcome| {
        ensure!(outcome.end == End::Silence(PATIENCE), "a hang ended as {:?}", outcome.end);
        ensure!(outcome.end.code() != 0, "a hang counts as a success");
        Ok(())
    }));
    Ok(tally)
}

fn run(image: &Image, fault: &str) -> Result<Outcome> {
    Run::new(image)?.arguments(vec![fault.to_owned()]).silence(PATIENCE).execute(|_| {})
}

fn ends_with(fault: &str, expected: &str, outcome: &Outcome) -> Result<()> {
    ensure!(outcome.end == End::Exit(1), "{fault}: the run ended as {:?}, not with exit code 1", outcome.end);
    ensure!(
        outcome.lines.len() == 1 && outcome.lines[0].starts_with(expected),
        "{fault}: expected one line `{expected}…`, got {:?}",
        outcome.lines
    );
    Ok(())
}
