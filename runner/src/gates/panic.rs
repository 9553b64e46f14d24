//! Gate: no panic can be reached from the step of a baked model, nor from the firmware's way from samples to events, in a
//! release build.
//!
//! src/bin/panic-free.rs calls every way into every model and the firmware's pipeline, and its panic handler calls a
//! function that does not exist: the linker drops the handler where nothing can reach it, and fails where something can.
//! A second build adds one bounds check on purpose, and must fail.

use crate::cargo::{self, Chip, M0, M4, M33};
use crate::image::Image;
use crate::verify::Tally;
use anyhow::{Context, Result, bail, ensure};
use object::{Object, ObjectSection};
use std::collections::BTreeSet;

const BINARY: &str = "panic-free";
const MISSING_FUNCTION: &str = "a_panic_can_be_reached_from_the_step";

pub fn check() -> Result<Tally> {
    let mut tally = Tally::default();
    for chip in [M0, M4, M33] {
        tally.check(links(chip));
    }
    tally.check(control(M4));
    Ok(tally)
}

fn links(chip: Chip) -> Result<()> {
    let Err(reason) = cargo::chip_image(chip, BINARY, &["panic-free"]) else { return Ok(()) };
    ensure!(format!("{reason:#}").contains(MISSING_FUNCTION), "{reason:#}");
    let places = places(chip, &["panic-free"])?;
    bail!("a panic can be reached from the step on {}:\n{}", chip.name, places.join("\n"))
}

/// The same image with one check that can fail.
fn control(chip: Chip) -> Result<()> {
    let Err(reason) = cargo::chip_image(chip, BINARY, &["panic-control"]) else {
        bail!("an image with a bounds check that can fail links all the same: the gate sees nothing");
    };
    ensure!(format!("{reason:#}").contains(MISSING_FUNCTION), "{reason:#}");
    let places = places(chip, &["panic-control"])?;
    ensure!(
        places.iter().any(|place| place.contains("panic-free.rs")),
        "the check that was added is not among the places found: {places:?}"
    );
    Ok(())
}

/// Links in spite of the missing function, and reads the source places that panics would name.
fn places(chip: Chip, features: &[&str]) -> Result<Vec<String>> {
    let image = Image::read(&cargo::chip_image_without_checks(chip, BINARY, features)?)?;
    let elf = image.elf()?;
    let mut sections = Vec::new();
    for section in elf.sections().filter(|section| section.address() > 0 || section.name() == Ok(".vector_table")) {
        sections.push((section.address(), section.data().context("unreadable section")?));
    }
    let text = |address: u64, len: usize| {
        let bytes = sections.iter().find_map(|(start, data)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            data.get(at..at.checked_add(len)?)
        })?;
        std::str::from_utf8(bytes).ok()
    };
    let mut places = BTreeSet::new();
    for (_, data) in &sections {
        for words in data.chunks_exact(4).collect::<Vec<_>>().windows(4) {
            let word = |index: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| words[index][byte]));
            // core::panic::Location: the file's name without and with its length, line, column. Lengths count a zero.
            let (address, len, line) = (u64::from(word(0)), word(1) as usize, word(2));
            let name = (4..256).contains(&len).then(|| text(address, len)).flatten();
            if let Some(name) = name.map(|name| name.trim_end_matches('\0')).filter(|name| name.ends_with(".rs")) {
                places.insert(format!("{name}:{line}"));
            }
        }
    }
    Ok(places.into_iter().collect())
}
