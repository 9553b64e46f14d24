//! Matrices, vectors and rings as tests write them down, and packed for the kernels.

use microformer::packed::{Bits, GROUP, LANES, Layout, Linear, Row, pack_linear, padded};

/// What a result may differ from its exact value when nothing but one rounding to whole units lies between; the second
/// term is the error of f64 in computing the exact value.
pub const ONE_ROUNDING: f64 = 0.5 + 1e-6;

/// A matrix as a test writes it down, unpadded, with the bias and multiplier of each row.
#[derive(Clone, Debug)]
pub struct PlainMatrix {
    pub columns: usize,
    pub weights: Vec<Vec<i8>>,
    pub biases: Vec<i32>,
    pub multipliers: Vec<i32>,
}

/// Its packed words and padded shape.
pub struct PackedMatrix {
    pub rows: usize,
    pub columns: usize,
    words: Vec<u32>,
}

impl PlainMatrix {
    #[must_use]
    pub fn pack(&self, layout: Layout) -> PackedMatrix {
        let (rows, columns) = (self.weights.len().next_multiple_of(GROUP), padded(self.columns));
        let mut words = vec![0; layout.words(rows, columns)];
        let row = |row: usize| match self.weights.get(row) {
            Some(weights) => Row { weights, bias: self.biases[row], multiplier: self.multipliers[row] },
            None => Row::default(),
        };
        pack_linear(layout, columns, row, &mut words);
        PackedMatrix { rows, columns, words }
    }

    /// Row · input + bias, times the row's multiplier, without rounding.
    #[must_use]
    pub fn exact(&self, row: usize, input: &[i8]) -> f64 {
        let products =
            self.weights[row].iter().zip(input).map(|(&weight, &value)| f64::from(weight) * f64::from(value));
        let sum = products.sum::<f64>() + f64::from(self.biases[row]);
        sum * 256.0 * f64::from(self.multipliers[row]) / 2f64.powi(32)
    }
}

impl PackedMatrix {
    #[must_use]
    pub fn linear(&self) -> Linear<'_> {
        Linear { rows: self.rows, columns: self.columns, bits: Bits::Eight, packed: &self.words }
    }
}

/// A vector with zeros up to whole words, as every kernel expects it.
#[must_use]
pub fn pad<T: Copy + Default>(values: &[T]) -> Vec<T> {
    let mut padded = values.to_vec();
    padded.resize(values.len().next_multiple_of(LANES), T::default());
    padded
}

/// Bytes of a ring as the words that the kernels keep it in.
#[must_use]
pub fn words(bytes: &[i8]) -> Vec<u32> {
    let (chunks, rest) = bytes.as_chunks::<LANES>();
    assert!(rest.is_empty(), "rings hold whole words");
    chunks.iter().map(|chunk| u32::from_le_bytes(chunk.map(|byte| byte as u8))).collect()
}
