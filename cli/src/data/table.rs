//! CSV tables: a row per frame, a column per feature; the columns `label` and `sequence` are optional. A label that changes
//! inside a sequence holds for its rows; where it is empty there, nothing is judged.
//!
//! A header is optional too: the first row is one when it holds anything that is not a number.

use super::{Label, Raw, Truth};
use anyhow::{Context, Result, bail, ensure};
use csv::StringRecord;
use microformer_bake::Matrix;
use std::path::{Path, PathBuf};

/// Whether a CSV lists files rather than frames.
pub fn is_manifest(path: &Path) -> Result<bool> {
    let mut rows = reader(path)?;
    let Some(first) = rows.records().next() else { return Ok(false) };
    let first = first.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(first.iter().any(|name| name == "file" || name == "path"))
}

/// One table: one sequence, or one for each value of the column `sequence`.
pub fn read(path: &Path) -> Result<Raw> {
    let mut raw = Raw { inputs: vec![], names: vec![], truths: vec![], classes: vec![], settings: None };
    read_into(path, None, &mut raw)?;
    Ok(raw)
}

/// A folder of tables, one sequence each, labelled by the column `label`, else by the name of the folder they lie in.
pub fn read_folder(folder: &Path) -> Result<Raw> {
    let mut files = Vec::new();
    walk(folder, &mut files)?;
    files.sort();
    ensure!(!files.is_empty(), "no .csv file in {}", folder.display());
    let mut raw = Raw { inputs: vec![], names: vec![], truths: vec![], classes: vec![], settings: None };
    for file in &files {
        let parent = file.parent().filter(|&parent| parent != folder);
        let label = parent.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        read_into(file, label.as_deref(), &mut raw)?;
    }
    Ok(raw)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
            files.push(path);
        }
    }
    Ok(())
}

fn reader(path: &Path) -> Result<csv::Reader<std::fs::File>> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_path(path)
        .with_context(|| format!("cannot open {}", path.display()))
}

/// Which column is what.
struct Columns {
    names: Vec<String>,
    label: Option<usize>,
    sequence: Option<usize>,
}

impl Columns {
    fn of(first: &StringRecord) -> (Self, bool) {
        let header = first.iter().any(|field| field.parse::<f64>().is_err());
        let names: Vec<String> = if header {
            first.iter().map(str::to_owned).collect()
        } else {
            (0..first.len()).map(|column| column.to_string()).collect()
        };
        let find = |wanted: &[&str]| {
            let position = |name: &String| wanted.iter().any(|wanted| name.eq_ignore_ascii_case(wanted));
            if header { names.iter().position(position) } else { None }
        };
        (Self { label: find(&["label", "class"]), sequence: find(&["sequence", "sequence_id"]), names }, header)
    }
}

fn read_into(path: &Path, folder_label: Option<&str>, raw: &mut Raw) -> Result<()> {
    let file = path.display();
    let mut rows = reader(path)?;
    let mut columns: Option<Columns> = None;
    let mut current: Option<Open> = None;
    let before = raw.inputs.len();
    for record in rows.records() {
        let record = record.with_context(|| format!("cannot read {file}"))?;
        let line = record.position().map_or(0, csv::Position::line);
        let columns = match &mut columns {
            Some(columns) => columns,
            None => {
                let (found, header) = Columns::of(&record);
                let columns = columns.insert(found);
                if header {
                    // A first row with numbers in it is a frame with text in it, not a header.
                    if let Some(text) = text_among_numbers(&record, columns) {
                        bail!(
                            "{file}, row {line}, column {text}; features must be numbers: remove the column, or code it"
                        );
                    }
                    continue;
                }
                columns
            }
        };
        let id = columns.sequence.and_then(|column| record.get(column)).unwrap_or_default().to_owned();
        if current.as_ref().is_none_or(|open| open.id != id) {
            push(raw, current.take(), folder_label, &file.to_string());
            let width =
                columns.names.len() - usize::from(columns.label.is_some()) - usize::from(columns.sequence.is_some());
            current = Some(Open { id, frames: Matrix::zeros(0, width), labels: Vec::new() });
        }
        let Some(Open { frames, labels, .. }) = &mut current else { continue };
        for (column, field) in record.iter().enumerate() {
            if Some(column) == columns.label {
                labels.push(field.to_owned());
            } else if Some(column) != columns.sequence {
                let value: f64 = field.parse().ok().with_context(|| {
                    format!(
                        "{file}, row {line}, column {:?}: {field:?} is not a number; remove the column, or name it label or sequence",
                        columns.names[column]
                    )
                })?;
                ensure!(
                    value.is_finite(),
                    "{file}, row {line}, column {:?} is {field}; replace it",
                    columns.names[column]
                );
                frames.values.push(value);
            }
        }
        frames.rows += 1;
    }
    push(raw, current, folder_label, &file.to_string());
    ensure!(raw.inputs.len() > before, "{file} has no rows of numbers");
    Ok(())
}

/// A sequence that is being read.
struct Open {
    id: String,
    frames: Matrix,
    /// One for each frame, or none at all.
    labels: Vec<String>,
}

fn push(raw: &mut Raw, sequence: Option<Open>, folder_label: Option<&str>, file: &str) {
    let Some(Open { id, frames, labels }) = sequence else { return };
    raw.names.push(if id.is_empty() { file.to_owned() } else { format!("sequence {id}") });
    raw.inputs.push(frames);
    let named = |name: &str| Label::Name(name.to_owned());
    raw.truths.push(match folder_label {
        Some(label) if labels.is_empty() => Truth::Whole(named(label)),
        _ => Truth::of_frames(labels.iter().map(|name| (!name.is_empty()).then(|| named(name)))),
    });
}

fn text_among_numbers(record: &StringRecord, columns: &Columns) -> Option<String> {
    let special = |column: usize| Some(column) == columns.label || Some(column) == columns.sequence;
    let numbers = record.iter().filter(|field| field.parse::<f64>().is_ok()).count();
    let text = record.iter().enumerate().find(|&(column, field)| !special(column) && field.parse::<f64>().is_err());
    // Headers such as "0", "1", "label" are names all the same.
    let counted = record.iter().filter_map(|field| field.parse::<usize>().ok()).eq(0..numbers);
    if numbers == 0 || counted { None } else { text.map(|(column, field)| format!("{column}: {field:?} is text")) }
}
