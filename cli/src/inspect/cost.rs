//! Instructions of a step, predicted: each unit of work times its price on a kind of chip.
//!
//! The prices are fitted to counts in QEMU. To fit them again after a kernel has changed: `cargo cost` (or the test
//! `prediction` of cli/tests, which prints units and counts) over models of different shapes, then least squares of the
//! counts over the units of `inspect --json`.

use super::boards::Chip;
use super::work::Units;

/// Instructions for one unit of each kind of work; the names are those of [`Units`].
pub type Prices = Units;

pub const fn prices(chip: Chip) -> &'static Prices {
    match chip {
        Chip::M4 | Chip::M33 => &DSP,
        Chip::M3 => &M3,
        Chip::M0 => &M0,
    }
}

const DSP: Prices = Prices {
    matrix: 60.0,
    group: 30.0,
    mac: 0.75,
    expanded: 0.75,
    norm: 250.0,
    norm_value: 18.0,
    rescaled: 8.0,
    head: 150.0,
    key: 22.0,
    score_mac: 0.75,
    mix_mac: 0.75,
    activation: 5.0,
    channel: 14.0,
    tap: 4.0,
    shifted: 1.0,
    gathered: 4.0,
    stream: 4.0,
    pooled: 20.0,
    frame: 100.0,
    step: 300.0,
    block: 300.0,
};

const M3: Prices = DSP;
const M0: Prices = DSP;

/// The instructions of so many units.
pub fn instructions(units: &Units, chip: Chip) -> f64 {
    let price = prices(chip);
    units.values().iter().zip(price.values()).map(|(units, price)| units * price).sum()
}
