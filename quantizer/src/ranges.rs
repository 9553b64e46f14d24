//! What every tensor of a model looks like on the calibration data.

use std::collections::HashMap;

use microformer_bake::{Error, FloatModel, Matrix};
use reference::{Input, forward};

use crate::histogram::Histogram;

/// Everything that was seen, by the names of `reference::Observer`, and `input` for the features.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    tensors: HashMap<String, Seen>,
}

/// One tensor: all its values, and those of each channel.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub histogram: Histogram,
    pub channels: Vec<Channel>,
}

/// One channel of a tensor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Channel {
    pub max_abs: f64,
    sum: f64,
    count: f64,
}

impl Channel {
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count > 0.0 { self.sum / self.count } else { 0.0 }
    }
}

impl Ranges {
    /// Runs the float model over all sequences; `progress` is called after each.
    ///
    /// # Errors
    /// When a sequence does not fit the model, or there is none.
    pub fn observe(model: &FloatModel, sequences: &[Input], mut progress: impl FnMut()) -> Result<Self, Error> {
        if sequences.is_empty() {
            return Err(Error::new("calibration needs at least one sequence"));
        }
        let mut ranges = Self::default();
        for (index, &sequence) in sequences.iter().enumerate() {
            if let Input::Features(frames) = sequence {
                ranges.add("input", frames);
            }
            // Attention weights have a code of their own.
            forward(model, sequence, &mut |name, tokens| {
                if !name.ends_with(".weights") {
                    ranges.add(name, tokens);
                }
            })
            .map_err(|error| Error::new(format!("calibration sequence {index}: {error}")))?;
            progress();
        }
        Ok(ranges)
    }

    /// # Panics
    /// When no tensor of that name was seen: the names are the reference's own.
    #[must_use]
    pub fn of(&self, name: &str) -> &Seen {
        self.tensors.get(name).unwrap_or_else(|| panic!("tensor `{name}` was never seen"))
    }

    fn add(&mut self, name: &str, tokens: &Matrix) {
        if !self.tensors.contains_key(name) {
            let channels = vec![Channel::default(); tokens.columns];
            self.tensors.insert(name.to_owned(), Seen { histogram: Histogram::default(), channels });
        }
        let Some(seen) = self.tensors.get_mut(name) else { return };
        for row in 0..tokens.rows {
            for (&value, channel) in tokens.row(row).iter().zip(&mut seen.channels) {
                seen.histogram.add(value);
                channel.max_abs = channel.max_abs.max(value.abs());
                channel.sum += value;
                channel.count += 1.0;
            }
        }
    }
}
