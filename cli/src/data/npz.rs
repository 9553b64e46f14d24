//! NumPy archives: x (N, T, C) or (N, T), optional y (N) or (N, T), length (N) and classes.

use super::{Label, Raw, Truth};
use anyhow::{Context, Result, bail, ensure};
use microformer_bake::{Config, Matrix};
use npyz::{DType, NpyFile, Order, TypeChar};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use zip::ZipArchive;

type Archive = ZipArchive<BufReader<File>>;

/// An array of numbers, row-major.
pub struct Array {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

pub fn read(path: &Path, config: &Config) -> Result<Raw> {
    let file = path.display();
    let opened = File::open(path).with_context(|| format!("cannot open {file}"))?;
    let mut archive = ZipArchive::new(BufReader::new(opened))
        .with_context(|| format!("{file} is damaged or not an .npz; write it again with numpy.savez"))?;
    let inner = |error: anyhow::Error| error.context(format!("cannot use {file}"));
    let x = first(&mut archive, &["x", "X", "features", "tokens", "data"]).map_err(inner)?;
    let Some(x) = x else {
        let names: Vec<_> =
            archive.file_names().filter_map(Result::ok).map(|name| name.trim_end_matches(".npy").to_owned()).collect();
        bail!("{file} has no array x (N, T, C); it has {}", names.join(", "));
    };
    let lengths = first(&mut archive, &["length", "lengths"]).map_err(inner)?;
    let classes = strings(&mut archive, "classes").map_err(inner)?;
    let names = strings(&mut archive, "y").map_err(inner)?;
    let labels = match names {
        Some(names) => Some(names.into_iter().map(Label::Name).collect()),
        None => {
            first(&mut archive, &["y", "label", "labels"]).map_err(inner)?.map(numbered).transpose().map_err(inner)?
        }
    };
    assemble(x, lengths, labels, config).map(|raw| Raw { classes: classes.unwrap_or_default(), ..raw }).map_err(inner)
}

fn numbered(y: Array) -> Result<Vec<Label>> {
    let label = |&value: &f64| {
        ensure!(value.fract() == 0.0, "label {value} is not a whole number");
        Ok(Label::Number(value as i64))
    };
    y.values.iter().map(label).collect()
}

/// Cuts an array into sequences, as npz and safetensors share it.
pub fn assemble(x: Array, lengths: Option<Array>, labels: Option<Vec<Label>>, config: &Config) -> Result<Raw> {
    let features = config.features();
    let (count, time, columns) = match x.shape[..] {
        [count, time, columns] => (count, time, columns),
        // One sequence of frames, or sequences of one value a frame.
        [time, columns] if features > 1 && columns == features => (1, time, columns),
        [count, time] => (count, time, 1),
        [time] => (1, time, 1),
        _ => bail!("x has shape {:?}; expected (sequences, time, features)", x.shape),
    };
    ensure!(count * time * columns > 0, "x has shape {:?}, which holds nothing", x.shape);
    if let Some(lengths) = &lengths {
        ensure!(lengths.values.len() == count, "{} lengths for {count} sequences", lengths.values.len());
    }
    if let Some(labels) = &labels {
        ensure!(
            labels.len() == count || labels.len() == count * time,
            "{} labels for {count} sequences of {time} steps; give one for each sequence, or one for each step",
            labels.len()
        );
    }
    let (mut inputs, mut truths) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (index, values) in x.values.chunks_exact(time * columns).enumerate() {
        let length = lengths.as_ref().map_or(time as f64, |lengths| lengths.values[index]);
        ensure!(
            length >= 1.0 && length <= time as f64,
            "sequence {index} has length {length}; it must lie between 1 and {time}"
        );
        let rows = length as usize;
        inputs.push(Matrix { rows, columns, values: values[..rows * columns].to_vec() });
        truths.push(match &labels {
            None => Truth::Unknown,
            Some(labels) if labels.len() == count => Truth::Whole(labels[index].clone()),
            Some(labels) => Truth::of_frames(labels[index * time..][..rows].iter().map(judged)),
        });
    }
    Ok(Raw {
        names: (0..count).map(|index| format!("sequence {index}")).collect(),
        truths,
        inputs,
        classes: Vec::new(),
        settings: None,
    })
}

/// The label of one step; none where it is negative or empty.
fn judged(label: &Label) -> Option<Label> {
    let blank = match label {
        Label::Number(number) => *number < 0,
        Label::Name(name) | Label::Word(name) => name.is_empty(),
    };
    (!blank).then(|| label.clone())
}

fn first(archive: &mut Archive, names: &[&str]) -> Result<Option<Array>> {
    for name in names {
        #[expect(clippy::redundant_closure, reason = "only a closure takes a reader of any lifetime")]
        if let Some(array) = with(archive, name, |npy| numbers(npy))? {
            return Ok(Some(array));
        }
    }
    Ok(None)
}

/// An array of text, where there is one of that name and it is text; numbers are left to others.
fn strings(archive: &mut Archive, name: &str) -> Result<Option<Vec<String>>> {
    let found = with(archive, name, |npy| {
        let text = matches!(npy.dtype(), DType::Plain(kind) if matches!(kind.type_char(), TypeChar::UnicodeStr | TypeChar::ByteStr));
        if text {
            return Ok(Some(npy.into_vec::<String>()?));
        }
        if name == "classes" {
            return Ok(Some(numbers(npy)?.values.iter().map(f64::to_string).collect()));
        }
        Ok(None)
    })?;
    Ok(found.flatten())
}

fn with<T>(
    archive: &mut Archive,
    name: &str,
    use_it: impl FnOnce(NpyFile<Box<dyn Read + '_>>) -> Result<T>,
) -> Result<Option<T>> {
    let Some(index) = archive.index_for_name(&format!("{name}.npy")) else { return Ok(None) };
    let damaged = || format!("array {name} is damaged");
    let entry = archive.by_index(index).with_context(damaged)?;
    let size = entry.size();
    let npy = NpyFile::new(Box::new(entry) as Box<dyn Read>).with_context(damaged)?;
    ensure!(
        !npy.header().uses_pickled_array(),
        "array {name} holds Python objects; give it a numeric or text type before numpy.savez"
    );
    // Checked before anything is allocated for it.
    let bytes = npy.header().dtype().num_bytes().unwrap_or(0) as u64;
    let shape = npy.header().shape();
    let claimed = shape.iter().try_fold(bytes, |product, &axis| product.checked_mul(axis));
    ensure!(
        claimed.is_some_and(|claimed| claimed <= size),
        "array {name} is truncated: its shape {shape:?} needs more than the {size} bytes that are there"
    );
    use_it(npy).with_context(|| format!("array {name}")).map(Some)
}

fn numbers<R: Read>(npy: NpyFile<R>) -> Result<Array> {
    let shape: Vec<usize> = npy.shape().iter().map(|&axis| axis as usize).collect();
    let fortran = npy.order() == Order::Fortran;
    let DType::Plain(kind) = npy.dtype() else { bail!("has fields; expected plain numbers") };
    macro_rules! read {
        ($type:ty) => {
            npy.into_vec::<$type>()?.into_iter().map(|value| value as f64).collect()
        };
    }
    let values: Vec<f64> = match (kind.type_char(), kind.size_field()) {
        (TypeChar::Float, 4) => read!(f32),
        (TypeChar::Float, 8) => read!(f64),
        (TypeChar::Int, 1) => read!(i8),
        (TypeChar::Int, 2) => read!(i16),
        (TypeChar::Int, 4) => read!(i32),
        (TypeChar::Int, 8) => read!(i64),
        (TypeChar::Uint, 1) => read!(u8),
        (TypeChar::Uint, 2) => read!(u16),
        (TypeChar::Uint, 4) => read!(u32),
        (TypeChar::Uint, 8) => read!(u64),
        _ => bail!("has type {kind}; expected float32, float64 or integers"),
    };
    let values = if fortran && shape.len() > 1 { row_major(&shape, &values) } else { values };
    Ok(Array { shape, values })
}

/// From first index fastest to last index fastest.
fn row_major(shape: &[usize], values: &[f64]) -> Vec<f64> {
    (0..values.len())
        .map(|mut index| {
            let mut place = 0;
            let mut step = values.len();
            for &axis in shape.iter().rev() {
                step /= axis;
                place += index % axis * step;
                index /= axis;
            }
            values[place]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_is_turned_round() {
        // [[0, 1, 2], [3, 4, 5]] by columns.
        assert_eq!(row_major(&[2, 3], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}
