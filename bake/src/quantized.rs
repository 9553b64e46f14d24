//! The quantised model file: a configuration and integer tensors, as `docs/model-format.md` lists them.
//!
//! What [`Quantized::read`] returns is well formed as a file; whether its tensors make a model is [`crate::assemble`]'s
//! to say. [`Quantized::write`] leaves either the whole file or none.

use std::{borrow::Cow, collections::BTreeMap, collections::HashMap, fs, path::Path};

use safetensors::{Dtype, SafeTensors, View};

use crate::{Config, Error, config::METADATA_KEY};

/// A model as integers, by name.
#[derive(Clone, Debug)]
pub struct Quantized {
    pub config: Config,
    pub tensors: BTreeMap<String, Tensor>,
}

/// One tensor: row-major values and their shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub values: Values,
}

/// The values of a tensor, in the type that the file gives them.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    I8(Vec<i8>),
    /// 4-bit weights, two to a byte.
    U8(Vec<u8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
}

/// The value of the metadata key `kind` that tells a quantised file from a float one.
pub(crate) const KIND: &str = "quantized";

impl Quantized {
    /// # Errors
    /// When the file cannot be read, is damaged, or is not a quantised model.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| Error::new(format!("{file}: cannot be read: {error}")))?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(&file))
    }

    /// # Errors
    /// When the bytes are damaged or are not a quantised model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = |error| Error::new(format!("is not a whole safetensors file: {error}"));
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let json = metadata.get(METADATA_KEY).ok_or_else(|| {
            Error::new(format!("has no metadata `{METADATA_KEY}`, so it is no model of ours (docs/model-format.md)"))
        })?;
        if metadata.get("kind").map(String::as_str) != Some(KIND) {
            return Err(Error::new("is a float model: run `microformer quantize` on it first"));
        }
        let config = Config::from_json(json)?;
        let file = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let mut tensors = BTreeMap::new();
        for (name, view) in file.tensors() {
            let values = Values::read(view.dtype(), view.data()).ok_or_else(|| {
                Error::new(format!("tensor `{name}` is {:?}, which no quantised model has", view.dtype()))
            })?;
            tensors.insert(name, Tensor { shape: view.shape().to_vec(), values });
        }
        Ok(Self { config, tensors })
    }

    /// # Errors
    /// When the file cannot be written; nothing is left behind then.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let cannot =
            |error: &dyn std::fmt::Display| Error::new(format!("{}: cannot be written: {error}", path.display()));
        let metadata =
            HashMap::from([(METADATA_KEY.to_owned(), self.config.to_json()), ("kind".to_owned(), KIND.to_owned())]);
        let bytes = safetensors::serialize(&self.tensors, Some(metadata)).map_err(|error| cannot(&error))?;
        // Beside the goal, so that the rename stays within one file system.
        let partial = path.with_extension("partial");
        fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path)).map_err(|error| {
            let _ = fs::remove_file(&partial);
            cannot(&error)
        })
    }
}

impl Values {
    fn read(dtype: Dtype, bytes: &[u8]) -> Option<Self> {
        Some(match dtype {
            Dtype::I8 => Self::I8(bytes.iter().map(|&byte| byte as i8).collect()),
            Dtype::U8 => Self::U8(bytes.to_vec()),
            Dtype::I16 => Self::I16(elements(bytes, i16::from_le_bytes)),
            Dtype::I32 => Self::I32(elements(bytes, i32::from_le_bytes)),
            Dtype::I64 => Self::I64(elements(bytes, i64::from_le_bytes)),
            Dtype::F32 => Self::F32(elements(bytes, f32::from_le_bytes)),
            _ => return None,
        })
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::I8(values) => values.iter().map(|&value| value as u8).collect(),
            Self::U8(values) => values.clone(),
            Self::I16(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::I32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::I64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    }

    const fn dtype(&self) -> Dtype {
        match self {
            Self::I8(_) => Dtype::I8,
            Self::U8(_) => Dtype::U8,
            Self::I16(_) => Dtype::I16,
            Self::I32(_) => Dtype::I32,
            Self::I64(_) => Dtype::I64,
            Self::F32(_) => Dtype::F32,
        }
    }
}

fn elements<const N: usize, T>(bytes: &[u8], read: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&element| read(element)).collect()
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.values.dtype()
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.values.bytes().into()
    }

    fn data_len(&self) -> usize {
        self.values.bytes().len()
    }
}
