//! The same models on the same input, here and on an emulated chip: a digest for every layer, which must be equal.

use crate::cargo::{self, Chip, M0};
use crate::image::Image;
use crate::qemu::{End, Run};
use crate::verify::Tally;
use anyhow::{Context, Result, bail, ensure};
use std::process::Command;

/// The models that fit a micro:bit, and the chip itself.
const MICROBIT: Chip = Chip { name: "micro:bit", board: "microbit", ..M0 };
const MICROBIT_MODELS: &str = "gelu-alibi,relu-learned-norm-last";
/// What src/bin/parity.rs tells beside the models.
const FRONT_END: &str = "front end";

pub fn check(chip: Chip) -> Result<Tally> {
    compare(&laptop()?, &chip_log(chip, None)?)
}

/// The smallest chip of all, with as many models as it can hold.
pub fn check_microbit() -> Result<Tally> {
    let mut expected = laptop()?;
    let is_there =
        |line: &String| MICROBIT_MODELS.split(',').chain([FRONT_END]).any(|name| line.starts_with(&format!("{name}:")));
    expected.retain(is_there);
    compare(&expected, &chip_log(MICROBIT, Some(MICROBIT_MODELS))?)
}

fn laptop() -> Result<Vec<String>> {
    let program = cargo::host_binary("parity")?;
    let output = Command::new(&program).output().with_context(|| format!("{} cannot be run", program.display()))?;
    ensure!(output.status.success(), "the models do not run on this laptop");
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

fn chip_log(chip: Chip, models: Option<&str>) -> Result<Vec<String>> {
    let image = Image::read(&cargo::chip_image_of(chip, "parity", models, &[])?)?;
    let outcome = Run::new(&image)?.execute(|_| {})?;
    match outcome.end {
        End::Exit(0) => Ok(outcome.lines),
        end => bail!("the run ended as {end:?}: {}", outcome.lines.last().map_or("", String::as_str)),
    }
}

/// Layers come in the order of the way, so the first difference of a model is where its error begins; what follows is
/// only its consequence.
fn compare(expected: &[String], found: &[String]) -> Result<Tally> {
    ensure!(!expected.is_empty(), "no model was compared");
    ensure!(
        expected.len() == found.len(),
        "the laptop has {} layers, the chip {}: they were not built from the same models",
        expected.len(),
        found.len()
    );
    let mut tally = Tally::default();
    let mut broken = String::new();
    for (expected, found) in expected.iter().zip(found) {
        let model = expected.split(':').next().unwrap_or_default();
        if expected == found {
            tally.passed += 1;
        } else if broken != model {
            model.clone_into(&mut broken);
            tally.failures.push(format!("first layer that differs: {expected} on the laptop, {found} on the chip"));
        }
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_first_layer_that_differs_is_named() {
        let laptop = lines("a: embed 1\na: blocks.0.mix 2\na: head 3\nb: embed 4");
        let chip = lines("a: embed 1\na: blocks.0.mix 7\na: head 8\nb: embed 4");
        let tally = compare(&laptop, &chip).expect("the same layers");
        assert_eq!(tally.passed, 2);
        assert_eq!(tally.failures.len(), 1);
        assert!(tally.failures[0].contains("a: blocks.0.mix 2"));
    }

    #[test]
    fn nothing_is_no_success() {
        assert!(compare(&[], &[]).is_err());
        assert!(compare(&lines("a: embed 1"), &[]).is_err());
    }
}
