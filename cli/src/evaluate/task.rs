//! What a model is judged by: the data's labels and the scores of a sequence in, the scores that count and their outcomes out.

use crate::data::{Data, Input, Sequence, Truth};
use crate::model::{best, softmax};
use anyhow::{Result, bail};
use microformer_bake::{Config, Matrix};
use std::path::Path;

/// What the data let a model be judged by.
pub enum Task {
    /// One label for each sequence.
    Classify,
    /// A label for each step, where it changes inside a sequence; so many steps to a token.
    Follow { stride: usize },
    /// The next token, for every token.
    Continue,
}

/// Scores that count, and the label that should be best.
pub struct Judged<'s> {
    pub expected: usize,
    pub scores: &'s [f64],
    /// Which stretch of its sequence.
    pub stretch: usize,
}

/// What was right, and what was said with which probability for the right one.
pub struct Outcome {
    pub expected: usize,
    pub found: usize,
    pub loss: f64,
    /// Which stretch of its sequence.
    pub stretch: usize,
}

impl Outcome {
    pub fn of(judged: &Judged) -> Self {
        let probability = softmax(judged.scores)[judged.expected];
        Self {
            expected: judged.expected,
            found: best(judged.scores),
            loss: -probability.max(f64::MIN_POSITIVE).ln(),
            stretch: judged.stretch,
        }
    }
}

impl Task {
    pub fn of(data: &Data, config: &Config, path: &Path) -> Result<Self> {
        let unknown = |sequence: &&Sequence| sequence.truth == Truth::Unknown;
        let Some(missing) = data.sequences.iter().find(unknown) else {
            let changing = |sequence: &Sequence| matches!(sequence.truth, Truth::Changing(_));
            return Ok(match data.sequences.iter().any(changing) {
                true => Self::Follow { stride: config.stride() },
                false => Self::Classify,
            });
        };
        if config.input == microformer_bake::config::Input::Tokens(config.labels.len()) {
            return Ok(Self::Continue);
        }
        bail!(
            "{}: {} has no label; add y (npz), labels (safetensors), or a column label (CSV)",
            path.display(),
            if missing.name == path.display().to_string() { "it" } else { &missing.name }
        )
    }

    pub fn unit(&self) -> &'static str {
        match self {
            Self::Classify => "sequences",
            Self::Follow { .. } => "time steps",
            Self::Continue => "next tokens",
        }
    }

    /// The scores that count.
    pub fn judged<'s>(&self, sequence: &Sequence, scores: &'s Matrix) -> Vec<Judged<'s>> {
        let judged = |token: usize, expected, stretch| Judged { expected, scores: scores.row(token), stretch };
        match (self, &sequence.input, &sequence.truth) {
            (Self::Continue, Input::Tokens(tokens), _) => {
                (1..tokens.len()).map(|next| judged(next - 1, tokens[next], 0)).collect()
            }
            (Self::Follow { .. }, _, &Truth::Whole(label)) => {
                (0..scores.rows).map(|token| judged(token, label, 0)).collect()
            }
            (&Self::Follow { stride }, _, Truth::Changing(stretches)) => {
                let mut stretch = 0;
                let expected = |token: usize| {
                    // A token is known by the last of its frames.
                    while stretches[stretch].end < (token + 1) * stride {
                        stretch += 1;
                    }
                    Some(judged(token, stretches[stretch].label?, stretch))
                };
                (0..scores.rows).filter_map(expected).collect()
            }
            (_, _, &Truth::Whole(label)) => vec![judged(scores.rows - 1, label, 0)],
            _ => Vec::new(),
        }
    }

    pub fn outcomes(&self, sequence: &Sequence, scores: &Matrix) -> Vec<Outcome> {
        self.judged(sequence, scores).iter().map(Outcome::of).collect()
    }
}
