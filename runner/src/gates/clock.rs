//! Gate: what the firmware says it cost is what the counter plugin saw from outside.

use crate::cargo::{self, Chip, M0, M4};
use crate::counter;
use crate::image::Image;
use crate::verify::Tally;
use anyhow::{Context, Result, ensure};

/// The firmware reads its clock inside the region that the plugin counts, some ten instructions each time.
const TOLERANCE: f64 = 0.005;

pub fn check() -> Result<Tally> {
    let mut tally = Tally::default();
    for chip in [M4, M0] {
        tally.check(compare(chip));
    }
    Ok(tally)
}

fn compare(chip: Chip) -> Result<()> {
    let measured = counter::measure(&Image::read(&cargo::chip_image(chip, "firmware", &[])?)?, &[])?;
    let (mean, dearest) = measured.lines.iter().find_map(|line| cost(line)).context("the firmware tells no cost")?;
    let seen = measured.regions.iter().map(|region| region.instructions).max().context("no region was counted")?;
    let difference = (dearest as f64 - seen as f64).abs() / seen as f64;
    ensure!(
        difference < TOLERANCE && mean <= dearest,
        "{}: the firmware says {dearest} instructions for its dearest frame, the counter {seen}",
        chip.name
    );
    Ok(())
}

/// `cost 92279 instructions a frame, 205000 the dearest`
fn cost(line: &str) -> Option<(u64, u64)> {
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["cost", mean, "instructions", "a", "frame", dearest, ..] => Some((mean.parse().ok()?, dearest.parse().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_firmwares_line_is_read() {
        assert_eq!(cost("cost 92279 instructions a frame, 205000 the dearest"), Some((92_279, 205_000)));
        assert_eq!(cost("cost 92279 cycles a frame, 205000 the dearest"), None);
    }
}
