//! Instructions of a step, predicted: each unit of work times its price on a kind of chip.
//!
//! The prices are fitted to counts in QEMU. To fit them again after a kernel has changed: the test `prediction` of
//! cli/tests, with `--nocapture`, prints the units and the counts of models of many shapes; non-negative least squares of
//! counts over units, each row divided by its count, gives the prices.

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

/// From 12 models on mps2-an386; the worst is 2.1 % off.
const DSP: Prices = Prices {
    matrix: 96.95,
    group: 19.81,
    mac: 0.839,
    expanded: 1.0,
    norm: 190.7,
    norm_value: 12.46,
    rescaled: 4.381,
    head: 645.1,
    key: 8.249,
    attention_mac: 0.9338,
    activation: 5.985,
    filter: 0.0,
    tap: 5.387,
    shifted: 10.42,
    gathered: 0.0,
    stream: 1.929,
    pooled: 16.82,
    frame: 131.4,
    step: 240.7,
    block: 289.2,
};

/// From 13 models on mps2-an385; the worst is 0.6 % off.
const M3: Prices = Prices {
    matrix: 77.86,
    group: 138.6,
    mac: 3.762,
    expanded: 0.0,
    norm: 186.2,
    norm_value: 30.14,
    rescaled: 14.19,
    head: 832.6,
    key: 42.48,
    attention_mac: 4.918,
    activation: 3.971,
    filter: 2557.0,
    tap: 13.24,
    shifted: 0.143,
    gathered: 0.0,
    stream: 3.242,
    pooled: 71.67,
    frame: 526.5,
    step: 0.0,
    block: 110.5,
};

/// From the same models, compiled for ARMv6-M, on mps2-an385; the worst is 0.8 % off.
const M0: Prices = Prices {
    matrix: 309.9,
    group: 333.4,
    mac: 5.902,
    expanded: 0.152,
    norm: 906.4,
    norm_value: 124.4,
    rescaled: 62.2,
    head: 2090.0,
    key: 91.21,
    attention_mac: 7.882,
    activation: 4.048,
    filter: 4422.0,
    tap: 24.63,
    shifted: 0.0,
    gathered: 0.0,
    stream: 7.799,
    pooled: 312.4,
    frame: 770.9,
    step: 0.0,
    block: 74.19,
};

/// The instructions of so many units.
pub fn instructions(units: &Units, chip: Chip) -> f64 {
    let price = prices(chip);
    units.values().iter().zip(price.values()).map(|(units, price)| units * price).sum()
}
