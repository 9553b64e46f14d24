//! Taking tensors out of a quantised file by name, type and shape; the first that is not as it must be is named.

use std::{borrow::Cow, collections::BTreeSet};

use microformer_packed::{Bits, FOUR_LIMIT, FOUR_OFFSET};

use crate::{Error, Quantized, quantized::Values};

/// The tensors of a file, and which of them have been asked for.
pub struct Tensors<'q> {
    file: &'q Quantized,
    used: BTreeSet<String>,
}

impl<'q> Tensors<'q> {
    pub fn new(file: &'q Quantized) -> Self {
        Self { file, used: BTreeSet::new() }
    }

    /// 8-bit values in [−127, 127].
    pub fn bytes(&mut self, name: &str, shape: &[usize]) -> Result<&'q [i8], Error> {
        let Values::I8(values) = self.values(name, shape, "I8")? else { return Err(wrong_type(name, "I8")) };
        match values.iter().position(|&value| value == i8::MIN) {
            Some(index) => Err(Error::new(format!("tensor `{name}` holds −128 at index {index}; the least is −127"))),
            None => Ok(values),
        }
    }

    /// A matrix of 8-bit weights in [−127, 127], or of 4-bit ones in [−7, 7] which come two to a byte.
    pub fn weights(&mut self, name: &str, rows: usize, columns: usize) -> Result<(Bits, Cow<'q, [i8]>), Error> {
        let is_four = self.file.tensors.get(name).is_some_and(|tensor| matches!(tensor.values, Values::U8(_)));
        if !is_four {
            return Ok((Bits::Eight, Cow::Borrowed(self.bytes(name, &[rows, columns])?)));
        }
        let Values::U8(bytes) = self.values(name, &[rows, columns.div_ceil(2)], "U8")? else {
            return Err(wrong_type(name, "U8"));
        };
        let mut weights = Vec::with_capacity(rows * columns);
        for (row, bytes) in bytes.chunks_exact(columns.div_ceil(2)).enumerate() {
            for column in 0..columns.next_multiple_of(2) {
                let weight = (bytes[column / 2] >> (4 * (column % 2)) & 15) as i8 - FOUR_OFFSET;
                if weight < -FOUR_LIMIT || (column == columns && weight != 0) {
                    let place = if column == columns { "behind its last column" } else { "at a column" };
                    return Err(Error::new(format!(
                        "tensor `{name}`, row {row}: {weight} {place}; 4-bit weights lie between −7 and 7, and padding is 0"
                    )));
                }
                if column < columns {
                    weights.push(weight);
                }
            }
        }
        Ok((Bits::Four, Cow::Owned(weights)))
    }

    pub fn halves(&mut self, name: &str, shape: &[usize]) -> Result<&'q [i16], Error> {
        let Values::I16(values) = self.values(name, shape, "I16")? else { return Err(wrong_type(name, "I16")) };
        Ok(values)
    }

    pub fn words(&mut self, name: &str, shape: &[usize]) -> Result<&'q [i32], Error> {
        let Values::I32(values) = self.values(name, shape, "I32")? else { return Err(wrong_type(name, "I32")) };
        Ok(values)
    }

    /// Multipliers for `requantize`, none negative.
    pub fn multipliers(&mut self, name: &str, len: usize) -> Result<&'q [i32], Error> {
        let values = self.words(name, &[len])?;
        match values.iter().position(|&value| value < 0) {
            Some(index) => Err(Error::new(format!("tensor `{name}` is negative at index {index}"))),
            None => Ok(values),
        }
    }

    /// A single number of 32 bits within `range`.
    pub fn scalar(&mut self, name: &str, range: core::ops::RangeInclusive<i32>) -> Result<i32, Error> {
        let value = self.words(name, &[1])?[0];
        if range.contains(&value) {
            return Ok(value);
        }
        let (least, most) = range.into_inner();
        Err(Error::new(format!("tensor `{name}` is {value}; it must lie between {least} and {most}")))
    }

    pub fn long(&mut self, name: &str) -> Result<i64, Error> {
        let Values::I64(values) = self.values(name, &[1], "I64")? else { return Err(wrong_type(name, "I64")) };
        Ok(values[0])
    }

    /// Scales of real values, all positive and finite.
    pub fn scales(&mut self, name: &str, len: usize) -> Result<&'q [f32], Error> {
        let Values::F32(values) = self.values(name, &[len], "F32")? else { return Err(wrong_type(name, "F32")) };
        match values.iter().find(|value| !(value.is_finite() && **value > 0.0)) {
            Some(value) => Err(Error::new(format!("tensor `{name}` holds {value}; a scale is positive and finite"))),
            None => Ok(values),
        }
    }

    /// Every tensor of the file must have been asked for.
    pub fn finish(self) -> Result<(), Error> {
        match self.file.tensors.keys().find(|name| !self.used.contains(*name)) {
            Some(name) => Err(Error::new(format!("tensor `{name}` has no place in this model's configuration"))),
            None => Ok(()),
        }
    }

    fn values(&mut self, name: &str, shape: &[usize], dtype: &str) -> Result<&'q Values, Error> {
        let tensor =
            self.file.tensors.get(name).ok_or_else(|| {
                Error::new(format!("tensor `{name}` is missing; expected {dtype} of shape {shape:?}"))
            })?;
        if tensor.shape != shape {
            let came = &tensor.shape;
            return Err(Error::new(format!("tensor `{name}` has shape {came:?}; expected {shape:?}")));
        }
        self.used.insert(name.to_owned());
        Ok(&tensor.values)
    }
}

fn wrong_type(name: &str, expected: &str) -> Error {
    Error::new(format!("tensor `{name}` has another type than {expected}, which it must have"))
}
