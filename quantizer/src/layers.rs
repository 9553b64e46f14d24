//! One layer at a time: real weights and the codes on either side become integers.

use std::collections::BTreeMap;

use microformer_bake::{Error, Matrix, Tensor, Values, float};
use microformer_packed::{Bits, FOUR_LIMIT, FOUR_OFFSET};

use crate::Precision;
use crate::code::{Code, LIMIT};

/// A sum of 256 times the products stays inside 32 bits below this; `bake` proves it again from the file.
const SUM_LIMIT: f64 = (1 << 23) as f64;

/// What the values entering a layer stand for, one column after the other: `real = scales[j] · code + offset`.
#[derive(Clone, Debug)]
pub struct Columns {
    pub scales: Vec<f64>,
    pub offset: f64,
    /// The mean of each column on the calibration data, at which the layer is made exact.
    pub means: Vec<f64>,
}

impl Columns {
    /// The same code for every column.
    #[must_use]
    pub fn uniform(code: Code, means: Vec<f64>) -> Self {
        Self { scales: vec![code.scale; means.len()], offset: code.offset, means }
    }
}

/// Integer tensors by name, as they are made.
#[derive(Debug, Default)]
pub struct Tensors {
    pub made: BTreeMap<String, Tensor>,
    pub precision: Precision,
}

impl Tensors {
    pub fn insert(&mut self, name: String, shape: &[usize], values: Values) {
        self.made.insert(name, Tensor { shape: shape.to_vec(), values });
    }

    pub fn scalar(&mut self, name: String, value: i32) {
        self.insert(name, &[1], Values::I32(vec![value]));
    }

    /// A matrix with one scale per row, between two codes. `output` is the code of 8 bits, or of the 16-bit stream.
    pub fn linear(&mut self, name: &str, layer: &float::Linear, input: &Columns, output: Code) -> Result<(), Error> {
        let form = Form { bits: self.precision.bits(name), multiplier_bits: 24 };
        self.rows(name, layer, form, (input, output))
    }

    /// A filter for each channel. Its sums are not scaled by 256, so its multipliers are larger.
    pub fn depthwise(&mut self, name: &str, layer: &float::Linear, input: Code, output: Code) -> Result<(), Error> {
        let input = Columns::uniform(input, vec![0.0; layer.weight.columns]);
        self.rows(name, layer, Form { bits: Bits::Eight, multiplier_bits: 32 }, (&input, output))
    }

    fn rows(
        &mut self,
        name: &str,
        layer: &float::Linear,
        form: Form,
        (input, output): (&Columns, Code),
    ) -> Result<(), Error> {
        let Matrix { rows, columns, .. } = layer.weight;
        let mut weights = Vec::with_capacity(rows * columns);
        let mut biases = Vec::with_capacity(rows);
        let mut multipliers = Vec::with_capacity(rows);
        for row in 0..rows {
            let quantized = Row::quantize(form.bits, layer.weight.row(row), layer.bias[row] - output.offset, input);
            weights.extend(quantized.weights.iter().map(|&weight| weight as i8));
            biases.push(quantized.bias as i32);
            multipliers.push(multiplier(name, quantized.scale / output.scale, form.multiplier_bits)?);
        }
        match form.bits {
            Bits::Eight => self.insert(format!("{name}.weight"), &[rows, columns], Values::I8(weights)),
            Bits::Four => {
                let bytes = weights.chunks_exact(columns).flat_map(nibbles).collect();
                self.insert(format!("{name}.weight"), &[rows, columns.div_ceil(2)], Values::U8(bytes));
            }
        }
        self.insert(format!("{name}.bias"), &[rows], Values::I32(biases));
        self.insert(format!("{name}.multiplier"), &[rows], Values::I32(multipliers));
        Ok(())
    }

    /// A norm of the stream, whose unit is `stream`, to an output of `scales`, one for each value.
    pub fn norm(
        &mut self,
        name: &str,
        layer: &float::Norm,
        (stream, epsilon): (f64, f64),
        scales: &[f64],
    ) -> Result<(), Error> {
        let len = layer.weight.len();
        // Outputs are computed in 1/256, from normalised values with these fraction bits.
        let bits = 8 + 32 - microformer_packed::norm_fraction_bits(len);
        let multipliers = layer.weight.iter().zip(scales).map(|(gain, scale)| {
            let size = multiplier(name, gain.abs() / scale, bits)?;
            Ok(if *gain < 0.0 { -size } else { size })
        });
        let multipliers = multipliers.collect::<Result<Vec<_>, Error>>()?;
        // 128 is the half that rounds 1/256 to whole steps.
        let biases = layer.bias.iter().zip(scales).map(|(bias, scale)| (bias / scale * 256.0).round() as i32 + 128);
        let biases = biases.collect();
        let epsilon = (len * len) as f64 * epsilon / (stream * stream);
        self.insert(format!("{name}.multiplier"), &[len], Values::I32(multipliers));
        self.insert(format!("{name}.bias"), &[len], Values::I32(biases));
        self.insert(format!("{name}.epsilon"), &[1], Values::I64(vec![epsilon.round() as i64]));
        Ok(())
    }

    /// An activation between two codes, for every 8-bit value as an unsigned index.
    pub fn table(&mut self, name: String, activate: impl Fn(f64) -> f64, input: Code, output: Code) {
        let entry = |index: usize| {
            let code = f64::from(index as u8 as i8).max(-LIMIT);
            output.quantize(activate(input.real(code))) as i8
        };
        self.insert(name, &[256], Values::I8((0..256).map(entry).collect()));
    }

    /// Rows of the 16-bit stream.
    pub fn stream_rows(&mut self, name: &str, rows: &Matrix, scale: f64) {
        let limit = f64::from(i16::MAX);
        let values = rows.values.iter().map(|value| (value / scale).round().clamp(-limit, limit) as i16).collect();
        self.insert(name.to_owned(), &[rows.rows, rows.columns], Values::I16(values));
    }
}

/// How the rows of a layer are written: bits of a weight, fraction bits of a multiplier.
#[derive(Clone, Copy)]
struct Form {
    bits: Bits,
    multiplier_bits: u32,
}

/// One row as integers: `real sum = scale · (Σ weight · code + bias)`.
struct Row {
    weights: Vec<f64>,
    bias: f64,
    scale: f64,
}

impl Row {
    fn quantize(bits: Bits, weights: &[f64], bias: f64, input: &Columns) -> Self {
        let limit = match bits {
            Bits::Eight => LIMIT,
            Bits::Four => f64::from(FOUR_LIMIT),
        };
        let folded: Vec<f64> = weights.iter().zip(&input.scales).map(|(weight, scale)| weight * scale).collect();
        let most = folded.iter().fold(0.0f64, |most, weight| most.max(weight.abs()));
        // A row of zeros has only its bias, which any scale of about its size can hold.
        let mut scale = if most > 0.0 { most / limit } else { bias.abs().max(f64::MIN_POSITIVE) / LIMIT };
        if bits == Bits::Four && most > 0.0 {
            scale = best_scale(&folded, most, limit);
        }
        loop {
            let quantized = Self::with_scale(weights, &folded, bias, input, (scale, limit));
            let reach = quantized.weights.iter().map(|weight| weight.abs() * LIMIT).sum::<f64>() + quantized.bias.abs();
            if reach < SUM_LIMIT {
                return quantized;
            }
            scale *= (reach / SUM_LIMIT * 1.001).max(1.001);
        }
    }

    fn with_scale(weights: &[f64], folded: &[f64], bias: f64, input: &Columns, (scale, limit): (f64, f64)) -> Self {
        let quantized: Vec<f64> = folded.iter().map(|weight| (weight / scale).round().clamp(-limit, limit)).collect();
        // The row is exact where every column stands at its mean, whatever the rounding of its weights.
        let mut exact = bias;
        for (column, &weight) in quantized.iter().enumerate() {
            let coded = scale * weight / input.scales[column];
            exact += weights[column] * input.means[column] - coded * (input.means[column] - input.offset);
        }
        Self { weights: quantized, bias: (exact / scale).round(), scale }
    }
}

/// With few steps it pays to cut a row's largest weights, and have finer steps for all others.
fn best_scale(weights: &[f64], most: f64, limit: f64) -> f64 {
    let error = |scale: f64| {
        let coded = |weight: f64| (weight / scale).round().clamp(-limit, limit) * scale;
        weights.iter().map(|&weight| (weight - coded(weight)).powi(2)).sum::<f64>()
    };
    let scales = (0..=48).map(|step| most / limit * (1.0 - f64::from(step) / 96.0));
    scales.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(most / limit)
}

/// Weights of a row two to a byte, the first in the lower half, with an offset that leaves none negative.
fn nibbles(row: &[i8]) -> impl Iterator<Item = u8> + '_ {
    let nibble = |weight: Option<&i8>| (weight.copied().unwrap_or(0) + FOUR_OFFSET) as u8;
    row.chunks(2).map(move |pair| nibble(pair.first()) | nibble(pair.get(1)) << 4)
}

/// `ratio · 2^bits` as a multiplier.
fn multiplier(name: &str, ratio: f64, bits: u32) -> Result<i32, Error> {
    let scaled = (ratio * f64::from(bits).exp2()).round();
    if scaled.is_finite() && scaled < f64::from(i32::MAX) {
        return Ok(scaled as i32);
    }
    Err(Error::new(format!(
        "`{name}`: its output is {ratio:.3e} times finer than its weights, beyond a 32-bit multiplier; is the layer's \
         output constant on the calibration data?"
    )))
}
