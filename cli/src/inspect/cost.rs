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
    unpacked: 1.91,
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

/// From the layers of the models in models/ and the kernels of the bench, as `cargo cost --chip m3` counts them.
const M3: Prices = Prices {
    matrix: 192.1,
    group: 23.67,
    mac: 1.214,
    expanded: 2.544,
    unpacked: 2.67,
    norm: 201.9,
    norm_value: 21.96,
    rescaled: 14.02,
    head: 799.0,
    key: 8.392,
    attention_mac: 2.452,
    activation: 3.983,
    filter: 685.8,
    tap: 5.881,
    shifted: 5.037,
    gathered: 14.78,
    stream: 0.0,
    pooled: 28.79,
    frame: 373.9,
    step: 52.15,
    block: 102.0,
};

/// The same, by `cargo cost --chip m0`.
const M0: Prices = Prices {
    matrix: 160.3,
    group: 81.22,
    mac: 1.84,
    expanded: 14.21,
    unpacked: 5.77,
    norm: 952.6,
    norm_value: 82.86,
    rescaled: 36.36,
    head: 1616.0,
    key: 32.63,
    attention_mac: 3.901,
    activation: 3.956,
    filter: 1685.0,
    tap: 11.79,
    shifted: 4.165,
    gathered: 22.57,
    stream: 0.0,
    pooled: 271.0,
    frame: 624.4,
    step: 426.9,
    block: 0.0,
};

/// The instructions of so many units.
pub fn instructions(units: &Units, chip: Chip) -> f64 {
    let price = prices(chip);
    units.values().iter().zip(price.values()).map(|(units, price)| units * price).sum()
}
