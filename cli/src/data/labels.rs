//! Labels of data as indices into the labels of a model, matched by name.

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

/// The model's number of each label.
pub fn number(labels: &[Option<Label>], classes: &[String], config: &Config, file: &str) -> Result<Vec<Option<usize>>> {
    let by_number = numbers_as_names(labels, config);
    labels
        .iter()
        .map(|label| {
            let Some(label) = label else { return Ok(None) };
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
            match found {
                Some(found) => Ok(Some(found)),
                None => refuse(label, classes, config, file),
            }
        })
        .collect()
}

/// Whether all names are numbers of labels, and none is the name of one.
fn numbers_as_names(labels: &[Option<Label>], config: &Config) -> bool {
    labels.iter().flatten().all(|label| match label {
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
