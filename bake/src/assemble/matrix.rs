//! Matrices: rows and columns put where the kernels expect them, bounds proved, words packed.

use microformer_packed::{Bits, Depthwise, Layout, Linear, Row, pack_four, pack_linear, padded};

use super::{leak, tensors::Tensors};
use crate::Error;

/// A sum of 256 times the products stays inside 32 bits below this.
const SUM_LIMIT: i64 = 1 << 23;

/// Where a chip has only 32 bits for a product, the parts of sum · multiplier stay inside them below this.
const MULTIPLIER_LIMIT: i32 = 127 << 24;

/// Where rows and columns of a file's matrix go: runs of `run` values, each with padding of its own.
#[derive(Clone, Copy)]
pub struct Runs {
    count: usize,
    run: usize,
    /// A run with its padding.
    room: usize,
    /// The file holds the first value of every run, then the second of every run …
    turned: bool,
}

impl Runs {
    /// One run: values stay together.
    pub const fn whole(len: usize) -> Self {
        Self::of(1, len)
    }

    /// Runs that follow each other in the file, each padded to whole words.
    pub const fn of(count: usize, run: usize) -> Self {
        Self { count, run, room: padded(run), turned: false }
    }

    /// Runs whose values lie `count` apart in the file, each padded to `room`.
    pub const fn turned(count: usize, run: usize, room: usize) -> Self {
        Self { count, run, room, turned: true }
    }

    pub const fn len(self) -> usize {
        self.count * self.run
    }

    pub const fn padded(self) -> usize {
        self.count * self.room
    }

    /// The index in the file of a padded index; none for padding.
    fn source(self, index: usize) -> Option<usize> {
        let (run, lane) = (index / self.room, index % self.room);
        (lane < self.run).then(|| if self.turned { lane * self.count + run } else { run * self.run + lane })
    }
}

/// Several matrices of the file, by name, as one: their rows follow each other.
pub struct Matrix<'n> {
    pub names: &'n [String],
    pub rows: Runs,
    pub columns: Runs,
}

struct PackedRow {
    weights: Vec<i8>,
    bias: i32,
    multiplier: i32,
}

impl Matrix<'_> {
    pub fn pack(&self, layout: Layout, tensors: &mut Tensors) -> Result<Linear<'static>, Error> {
        let mut rows: Vec<Option<PackedRow>> = Vec::new();
        let mut bits = None;
        for name in self.names {
            let (own, weights) = tensors.weights(&format!("{name}.weight"), self.rows.len(), self.columns.len())?;
            if *bits.get_or_insert(own) != own {
                return Err(Error::new(format!(
                    "tensor `{name}.weight` has another number of bits than `{}.weight`, with which it shares a matrix",
                    self.names[0]
                )));
            }
            let biases = tensors.words(&format!("{name}.bias"), &[self.rows.len()])?;
            let multipliers = tensors.multipliers(&format!("{name}.multiplier"), self.rows.len())?;
            if let Some(row) = multipliers.iter().position(|&multiplier| multiplier >= MULTIPLIER_LIMIT) {
                return Err(Error::new(format!(
                    "tensor `{name}.multiplier`, row {row}: {} is beyond the {MULTIPLIER_LIMIT} that every chip can multiply \
                     with; the row's output is too fine for its weights",
                    multipliers[row]
                )));
            }
            for index in 0..self.rows.padded() {
                let Some(row) = self.rows.source(index) else {
                    rows.push(None);
                    continue;
                };
                let source = &weights[row * self.columns.len()..][..self.columns.len()];
                prove(name, row, source, biases[row])?;
                let weights = (0..self.columns.padded())
                    .map(|column| self.columns.source(column).map_or(0, |column| source[column]))
                    .collect();
                rows.push(Some(PackedRow { weights, bias: biases[row], multiplier: multipliers[row] }));
            }
        }
        let columns = padded(self.columns.padded());
        let bits = bits.unwrap_or_default();
        let mut packed = vec![0; layout.stored_words(bits, padded(rows.len()), columns)];
        let row = |index: usize| match rows.get(index) {
            Some(Some(row)) => Row { weights: &row.weights, bias: row.bias, multiplier: row.multiplier },
            _ => Row::default(),
        };
        match bits {
            Bits::Eight => pack_linear(layout, columns, row, &mut packed),
            Bits::Four => pack_four(layout, columns, row, &mut packed),
        }
        Ok(Linear { rows: padded(rows.len()), columns, bits, packed: leak(packed) })
    }
}

/// The largest sum that any input can reach, from the actual weights.
fn prove(name: &str, row: usize, weights: &[i8], bias: i32) -> Result<(), Error> {
    let reach = weights.iter().map(|&weight| i64::from(weight).abs() * 127).sum::<i64>() + i64::from(bias).abs();
    if reach < SUM_LIMIT {
        return Ok(());
    }
    Err(Error::new(format!(
        "tensor `{name}.weight`, row {row}: its sum can reach {reach}, beyond the {SUM_LIMIT} that a 32-bit accumulator \
         proves; the matrix has too many columns or its scale is too fine"
    )))
}

/// One filter for each channel; the file holds `(channels, taps)`, the kernels eat `(taps, channels)`.
pub fn pack_depthwise(
    name: &str,
    channels: usize,
    taps: usize,
    tensors: &mut Tensors,
) -> Result<Depthwise<'static>, Error> {
    let weights = tensors.bytes(&format!("{name}.weight"), &[channels, taps])?;
    let biases = tensors.words(&format!("{name}.bias"), &[channels])?;
    let multipliers = tensors.multipliers(&format!("{name}.multiplier"), channels)?;
    if let Some(channel) = biases.iter().position(|bias| bias.unsigned_abs() >= 1 << 30) {
        return Err(Error::new(format!("tensor `{name}.bias` is beyond 2³⁰ at channel {channel}")));
    }
    let width = padded(channels);
    let weights = (0..taps * width).map(|index| {
        let (tap, channel) = (index / width, index % width);
        if channel < channels { weights[channel * taps + tap] } else { 0 }
    });
    let affine =
        (0..width).map(|channel| if channel < channels { [biases[channel], multipliers[channel]] } else { [0, 0] });
    Ok(Depthwise { channels: width, taps, weights: leak(weights.collect()), affine: leak(affine.collect()) })
}
