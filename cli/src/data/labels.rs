//! Labels of data as indices into the labels of a model, matched by name: one for a sequence, or one for each stretch of it.

use anyhow::{Context, Result, bail, ensure};
use microformer_bake::Config;

/// The class that stands for every word a keyword model does not know.
const UNKNOWN: &str = "_unknown_";

/// A label as data give it.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// Into the data's classes, or without these into the model's labels.
    Number(i64),
    Name(String),
    /// A spoken word: what the model does not list is `_unknown_` to it, if it has that.
    Word(String),
}

/// What is known of a sequence: labels as data give them, or as the model counts them.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth<L> {
    Unknown,
    Whole(L),
    /// The label changes on the way.
    Changing(Vec<Stretch<L>>),
}

/// Frames under one label, up to the frame before `end`. Without a label they are not judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch<L> {
    pub label: Option<L>,
    pub end: usize,
}

impl<L: PartialEq> Truth<L> {
    /// From the label of every frame.
    pub fn of_frames(labels: impl Iterator<Item = Option<L>>) -> Self {
        let mut stretches: Vec<Stretch<L>> = Vec::new();
        for (frame, label) in labels.enumerate() {
            match stretches.last_mut() {
                Some(last) if last.label == label => last.end = frame + 1,
                _ => stretches.push(Stretch { label, end: frame + 1 }),
            }
        }
        if stretches.len() > 1 {
            return Self::Changing(stretches);
        }
        stretches.pop().and_then(|only| only.label).map_or(Self::Unknown, Self::Whole)
    }

    fn labels(&self) -> Vec<&L> {
        match self {
            Self::Unknown => Vec::new(),
            Self::Whole(label) => vec![label],
            Self::Changing(stretches) => stretches.iter().filter_map(|stretch| stretch.label.as_ref()).collect(),
        }
    }

    fn map<M>(&self, change: impl Fn(&L) -> Result<M>) -> Result<Truth<M>> {
        Ok(match self {
            Self::Unknown => Truth::Unknown,
            Self::Whole(label) => Truth::Whole(change(label)?),
            Self::Changing(stretches) => {
                let one = |stretch: &Stretch<L>| -> Result<Stretch<M>> {
                    Ok(Stretch { label: stretch.label.as_ref().map(&change).transpose()?, end: stretch.end })
                };
                Truth::Changing(stretches.iter().map(one).collect::<Result<_>>()?)
            }
        })
    }
}

/// The model's number of each label.
pub fn number(truths: &[Truth<Label>], classes: &[String], config: &Config, file: &str) -> Result<Vec<Truth<usize>>> {
    let by_number = numbers_as_names(truths, config);
    let number = |label: &Label| {
        let found = match label {
            Label::Number(number) if classes.is_empty() => in_range(*number, config.labels.len()),
            Label::Number(number) => {
                let class = in_range(*number, classes.len()).with_context(|| {
                    format!("{file}: label {number}, but there are {} classes, counted from 0", classes.len())
                })?;
                find(&classes[class], config)
            }
            Label::Name(name) if by_number => {
                name.parse().ok().and_then(|number| in_range(number, config.labels.len()))
            }
            Label::Name(name) => find(name, config),
            Label::Word(word) => find(word, config).or_else(|| find(UNKNOWN, config)),
        };
        found.map_or_else(|| refuse(label, classes, config, file), Ok)
    };
    truths.iter().map(|truth| truth.map(number)).collect()
}

/// Whether all names are numbers of labels, and none is the name of one.
fn numbers_as_names(truths: &[Truth<Label>], config: &Config) -> bool {
    truths.iter().flat_map(Truth::labels).all(|label| match label {
        Label::Name(name) => {
            find(name, config).is_none()
                && name.parse().is_ok_and(|number| in_range(number, config.labels.len()).is_some())
        }
        Label::Number(_) | Label::Word(_) => true,
    })
}

fn find(name: &str, config: &Config) -> Option<usize> {
    config.labels.iter().position(|label| label == name)
}

fn in_range(number: i64, len: usize) -> Option<usize> {
    usize::try_from(number).ok().filter(|&number| number < len)
}

fn refuse<T>(label: &Label, classes: &[String], config: &Config, file: &str) -> Result<T> {
    let name = match label {
        Label::Number(number) => usize::try_from(*number)
            .ok()
            .and_then(|number| classes.get(number).cloned())
            .unwrap_or_else(|| number.to_string()),
        Label::Name(name) | Label::Word(name) => name.clone(),
    };
    ensure!(!name.is_empty(), "{file}: a label is empty; name it, or leave the column out");
    let known =
        if config.labels.len() > 20 { format!("{} labels", config.labels.len()) } else { config.labels.join(", ") };
    bail!("{file}: label {name:?} is none of model `{}`, which has {known}", config.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_frames_become_stretches() {
        let of = |labels: &[Option<u8>]| Truth::of_frames(labels.iter().copied());
        let stretch = |label, end| Stretch { label, end };
        assert_eq!(of(&[]), Truth::Unknown);
        assert_eq!(of(&[None, None]), Truth::Unknown);
        assert_eq!(of(&[Some(1), Some(1)]), Truth::Whole(1));
        assert_eq!(
            of(&[Some(1), Some(1), None, Some(1)]),
            Truth::Changing(vec![stretch(Some(1), 2), stretch(None, 3), stretch(Some(1), 4)])
        );
    }
}
