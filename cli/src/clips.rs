//! Clips: a folder, tar or CSV manifest in, the list of labelled clips and the bytes of their files out.
//!
//! Without a manifest every audio file is one clip, labelled with the name of the folder it lies in. Clips of one file
//! stay together, so that each file is decoded once.

use crate::audio::EXTENSIONS;
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A stretch of an audio file and what is said in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Clip {
    /// The file's name inside its folder or archive.
    #[serde(alias = "path")]
    pub file: String,
    /// First sample.
    #[serde(default)]
    pub start: usize,
    /// Number of samples; all that follow if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<usize>,
    /// The class.
    #[serde(default)]
    pub label: String,
    /// The word spoken, which may be finer than the class.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub word: String,
    /// Who speaks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub speaker: String,
}

impl Clip {
    /// A whole file as one clip.
    fn whole(file: String, label: String) -> Self {
        Self { file, start: 0, samples: None, label, word: String::new(), speaker: String::new() }
    }
}

/// Clips and where their bytes lie.
pub struct Collection {
    /// In the order of the manifest, or by name.
    pub clips: Vec<Clip>,
    store: Store,
}

enum Store {
    Folder(PathBuf),
    Archive {
        path: PathBuf,
        /// Name to offset and length.
        entries: HashMap<String, (u64, u64)>,
    },
}

impl Collection {
    /// Lists the clips of `input`: a folder, a `.tar`, or a CSV manifest whose files lie under `root` (a folder or a
    /// `.tar`), else in a `.tar` of the manifest's name beside it, else beside it.
    pub fn open(input: &Path, root: Option<&Path>) -> Result<Self> {
        if EXTENSIONS.iter().any(|extension| has_extension(input, extension)) && input.is_file() {
            return Ok(Self::single(input));
        }
        if !has_extension(input, "csv") {
            ensure!(root.is_none(), "--root goes with a CSV manifest, but {} is none", input.display());
            let store = Store::open(input)?;
            let clips = store.list()?;
            ensure!(!clips.is_empty(), "no WAV, FLAC or Ogg file in {}", input.display());
            return Ok(Self { clips, store });
        }
        let clips = manifest(input)?;
        let archive = input.with_extension("tar");
        let beside = input.parent().filter(|folder| !folder.as_os_str().is_empty());
        let store = match root {
            Some(root) => Store::open(root)?,
            None if archive.is_file() => Store::open(&archive)?,
            None => Store::open(beside.unwrap_or(Path::new(".")))?,
        };
        Ok(Self { clips, store })
    }

    /// One audio file, without a label.
    fn single(path: &Path) -> Self {
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { clips: vec![Clip::whole(file, String::new())], store: Store::Folder(folder) }
    }

    /// The clips by file: indices into `clips`, files in order of first appearance.
    pub fn by_file(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut group_of: HashMap<&str, usize> = HashMap::new();
        for (index, clip) in self.clips.iter().enumerate() {
            let group = *group_of.entry(&clip.file).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(index);
        }
        groups
    }

    /// The bytes of one file.
    pub fn bytes(&self, file: &str) -> Result<Vec<u8>> {
        match &self.store {
            Store::Folder(root) => {
                let path = root.join(file);
                std::fs::read(&path).with_context(|| format!("cannot open {}", path.display()))
            }
            Store::Archive { path, entries } => {
                let &(offset, length) =
                    entries.get(file).with_context(|| format!("{file} is not in {}", path.display()))?;
                let mut bytes = vec![0; length as usize];
                let mut archive = File::open(path)?;
                archive.seek(SeekFrom::Start(offset))?;
                archive.read_exact(&mut bytes).with_context(|| format!("{} ends inside {file}", path.display()))?;
                Ok(bytes)
            }
        }
    }
}

impl Store {
    fn open(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Ok(Self::Folder(path.to_owned()));
        }
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        ensure!(has_extension(path, "tar"), "{} is neither a folder, a .tar nor a .csv manifest", path.display());
        let mut entries = HashMap::new();
        let mut archive = tar::Archive::new(file);
        let damaged = || format!("{} is damaged or not a tar", path.display());
        for entry in archive.entries_with_seek().with_context(damaged)? {
            let entry = entry.with_context(damaged)?;
            if entry.header().entry_type().is_file() {
                let name = entry.path()?.to_string_lossy().trim_start_matches("./").to_owned();
                entries.insert(name, (entry.raw_file_position(), entry.size()));
            }
        }
        Ok(Self::Archive { path: path.to_owned(), entries })
    }

    /// Every audio file as a clip, by name.
    fn list(&self) -> Result<Vec<Clip>> {
        let mut names = Vec::new();
        match self {
            Self::Archive { entries, .. } => names.extend(entries.keys().cloned()),
            Self::Folder(root) => walk(root, root, &mut names)?,
        }
        names.retain(|name| EXTENSIONS.iter().any(|extension| has_extension(Path::new(name), extension)));
        names.sort();
        let label = |name: &str| {
            let folder = Path::new(name).parent().and_then(Path::file_name);
            folder.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default()
        };
        Ok(names
            .into_iter()
            .map(|file| {
                let label = label(&file);
                Clip::whole(file, label)
            })
            .collect())
    }
}

fn walk(root: &Path, folder: &Path, names: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            walk(root, &path, names)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

fn manifest(path: &Path) -> Result<Vec<Clip>> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    let headers = reader.headers()?.clone();
    if !headers.iter().any(|header| header == "file" || header == "path") {
        let found: Vec<_> = headers.iter().collect();
        bail!("{} needs a column file or path; it has {}", path.display(), found.join(", "));
    }
    let clips: Vec<Clip> =
        reader.deserialize().collect::<Result<_, _>>().with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(!clips.is_empty(), "{} lists no clips", path.display());
    Ok(clips)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
