//! The tensors of a safetensors file, taken out one by one by name and expected shape.

use std::collections::BTreeSet;

use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorView};

use super::Linear;
use crate::config::METADATA_KEY;
use crate::quantized::KIND;
use crate::{Error, Matrix};

/// An open file, and the names of the tensors that nobody has asked for yet.
pub struct Tensors<'a> {
    metadata: Metadata,
    tensors: SafeTensors<'a>,
    left: BTreeSet<String>,
}

impl<'a> Tensors<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        let broken = |error| Error::new(format!("is not a whole safetensors file: {error}; export the model again"));
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        let left = tensors.names().into_iter().map(str::to_owned).collect();
        Ok(Self { metadata, tensors, left })
    }

    /// The JSON text of the configuration.
    pub fn config(&self) -> Result<&str, Error> {
        let entries = self.metadata.metadata().as_ref();
        if entries.and_then(|entries| entries.get("kind")).is_some_and(|kind| kind == KIND) {
            return Err(Error::new("is already quantised; a float model, as training exports it, is needed here"));
        }
        entries.and_then(|entries| entries.get(METADATA_KEY)).map(String::as_str).ok_or_else(|| {
            Error::new(format!(
                "its metadata has no key `{METADATA_KEY}` with the configuration; was it exported for microformer?"
            ))
        })
    }

    pub fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// `name.weight` of the given shape, flattened to its first dimension, and `name.bias`.
    pub fn linear(&mut self, name: &str, shape: &[usize]) -> Result<Linear, Error> {
        Ok(Linear { weight: self.matrix(&format!("{name}.weight"), shape)?, bias: self.bias(name, shape[0])? })
    }

    /// A tensor as a matrix: all dimensions but the first make a row.
    pub fn matrix(&mut self, name: &str, shape: &[usize]) -> Result<Matrix, Error> {
        let values = self.take(name, shape)?;
        Ok(Matrix { rows: shape[0], columns: shape[1..].iter().product(), values })
    }

    pub fn vector(&mut self, name: &str, len: usize) -> Result<Vec<f64>, Error> {
        self.take(name, &[len])
    }

    /// `name.bias`, or zeros where the file has none.
    pub fn bias(&mut self, name: &str, len: usize) -> Result<Vec<f64>, Error> {
        let name = format!("{name}.bias");
        if self.has(&name) { self.vector(&name, len) } else { Ok(vec![0.0; len]) }
    }

    /// Every tensor must have been asked for.
    pub fn finish(self) -> Result<(), Error> {
        match self.left.first() {
            None => Ok(()),
            Some(name) => Err(Error::new(format!(
                "tensor `{name}` has no place in the model that the configuration describes (docs/model-format.md lists the names)"
            ))),
        }
    }

    fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>, Error> {
        let expected = Shape(shape);
        let Ok(tensor) = self.tensors.tensor(name) else {
            return Err(Error::new(format!("tensor `{name}` is missing; expected shape {expected}")));
        };
        if tensor.shape() != shape {
            let came = Shape(tensor.shape());
            return Err(Error::new(format!("tensor `{name}` has shape {came}, expected {expected}")));
        }
        let values = decode(name, &tensor)?;
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            let value = values[index];
            return Err(Error::new(format!("tensor `{name}` holds {value} at place {index}; expected finite numbers")));
        }
        self.left.remove(name);
        Ok(values)
    }
}

/// The values of a tensor of any float type.
fn decode(name: &str, tensor: &TensorView) -> Result<Vec<f64>, Error> {
    let bytes = tensor.data();
    Ok(match tensor.dtype() {
        Dtype::F64 => bytes.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect(),
        Dtype::F32 => bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes).into()).collect(),
        Dtype::F16 => bytes.as_chunks().0.iter().map(|&bytes| half(u16::from_le_bytes(bytes))).collect(),
        Dtype::BF16 => bytes.as_chunks().0.iter().map(|&bytes| brain(u16::from_le_bytes(bytes))).collect(),
        other => {
            let hint = if other == Dtype::I8 { "; is this an already quantised model?" } else { "" };
            return Err(Error::new(format!(
                "tensor `{name}` holds {other:?}; a float model's tensors are F32, F64, F16 or BF16{hint}"
            )));
        }
    })
}

/// A bfloat16: the upper half of an f32.
fn brain(bits: u16) -> f64 {
    f32::from_bits(u32::from(bits) << 16).into()
}

/// An IEEE half: 1 sign, 5 exponent, 10 fraction bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let fraction = f64::from(bits & 0x3FF);
    sign * match i32::from(bits >> 10 & 0x1F) {
        0 => fraction * (-24f64).exp2(),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * f64::from(exponent - 25).exp2(),
    }
}

/// Dimensions as (a, b, c).
struct Shape<'a>(&'a [usize]);

impl std::fmt::Display for Shape<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        let dimensions: Vec<String> = self.0.iter().map(usize::to_string).collect();
        write!(formatter, "({})", dimensions.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_every_kind() {
        assert_eq!([half(0x3C00), half(0xC000), half(0x7BFF), half(0x0001)], [1.0, -2.0, 65504.0, 2f64.powi(-24)]);
        assert_eq!(half(0x0400), 2f64.powi(-14));
        assert!(half(0x7C00).is_infinite() && half(0x7E00).is_nan());
        assert_eq!([brain(0x3F80), brain(0xC040)], [1.0, -3.0]);
    }
}
