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

/// From 15 models on mps2-an386; the worst is 2.7 % off.
const DSP: Prices = Prices {
    matrix: 0.0,
    group: 31.32,
    mac: 0.823,
    expanded: 0.0,
    unpacked: 0.225,
    norm: 306.4,
    norm_value: 11.94,
    rescaled: 5.929,
    head: 568.1,
    key: 7.787,
    attention_mac: 0.9778,
    long_head_mac: 0.0,
    activation: 4.99,
    filter: 328.5,
    tap: 4.77,
    shifted: 3.016,
    gathered: 0.0,
    stream: 1.906,
    pooled: 15.44,
    frame: 283.9,
    step: 133.8,
    block: 266.5,
};

/// From the layers of 12 models on mps2-an385, and the bench's matrix of 4-bit weights; the worst of 15 is 2.0 % off.
const M3: Prices = Prices {
    matrix: 37.28,
    group: 32.8,
    mac: 1.185,
    expanded: 0.0,
    unpacked: 0.347,
    norm: 476.9,
    norm_value: 15.86,
    rescaled: 16.85,
    head: 595.9,
    key: 13.87,
    attention_mac: 1.659,
    long_head_mac: 9.71,
    activation: 3.611,
    filter: 601.9,
    tap: 5.972,
    shifted: 4.407,
    gathered: 5.538,
    stream: 1.989,
    pooled: 13.37,
    frame: 257.9,
    step: 227.4,
    block: 272.8,
};

/// The same for a Cortex-M0; the worst is 4.8 % off.
const M0: Prices = Prices {
    matrix: 150.0,
    group: 80.66,
    mac: 1.963,
    expanded: 2.4,
    unpacked: 5.32,
    norm: 1114.0,
    norm_value: 42.27,
    rescaled: 43.79,
    head: 1176.0,
    key: 32.81,
    attention_mac: 2.747,
    long_head_mac: 16.04,
    activation: 3.3,
    filter: 784.8,
    tap: 11.16,
    shifted: 8.003,
    gathered: 0.0,
    stream: 6.806,
    pooled: 269.6,
    frame: 303.3,
    step: 218.5,
    block: 0.0,
};

/// The instructions of so many units.
pub fn instructions(units: &Units, chip: Chip) -> f64 {
    let price = prices(chip);
    units.values().iter().zip(price.values()).map(|(units, price)| units * price).sum()
}
