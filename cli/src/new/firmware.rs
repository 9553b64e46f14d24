//! The files of a firmware crate, from the templates; the folder appears whole or not at all.

use crate::inspect::Board;
use anyhow::{Context, Result, bail, ensure};
use microformer_bake::Config;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the crates of microformer come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Repository(PathBuf),
    Git(String),
}

impl Source {
    /// The repository at a path.
    pub fn at(path: &Path) -> Result<Self> {
        let path = fs::canonicalize(path).with_context(|| format!("cannot open {}", path.display()))?;
        ensure!(
            is_repository(&path),
            "{} is not the microformer repository: it has no bake/Cargo.toml",
            path.display()
        );
        Ok(Self::Repository(path))
    }

    /// The repository that one of the paths lies in, or else the one that this tool was built from.
    pub fn around(paths: &[&Path]) -> Result<Self> {
        for path in paths.iter().copied().chain([Path::new(env!("CARGO_MANIFEST_DIR"))]) {
            let full = std::path::absolute(path).with_context(|| format!("{} is no path", path.display()))?;
            if let Some(found) = full.ancestors().find(|ancestor| is_repository(ancestor)) {
                return Ok(Self::Repository(fs::canonicalize(found)?));
            }
        }
        bail!("the microformer repository is not where this tool was built; say --path FOLDER or --git ADDRESS")
    }

    fn dependency(&self, folder: &str) -> String {
        match self {
            Self::Repository(root) => {
                format!("path = {:?}", root.join(folder).display().to_string().trim_end_matches('/'))
            }
            Self::Git(address) => format!("git = {address:?}"),
        }
    }
}

fn is_repository(folder: &Path) -> bool {
    folder.join("bake/Cargo.toml").is_file()
        && fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| text.contains("name = \"microformer\""))
}

/// Everything that goes into a firmware crate.
pub struct Firmware<'a> {
    pub name: &'a str,
    /// The quantised model file.
    pub model: &'a Path,
    pub config: &'a Config,
    pub board: &'a Board,
    pub source: &'a Source,
    /// The text of src/main.rs.
    pub main: &'a str,
    /// The bytes of src/example.bin.
    pub example: &'a [u8],
}

impl Firmware<'_> {
    /// Writes the crate into a new folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let unfinished = folder.with_extension("unfinished");
        let written = self.write_files(&unfinished).and_then(|()| Ok(fs::rename(&unfinished, folder)?));
        written
            .inspect_err(|_| drop(fs::remove_dir_all(&unfinished)))
            .with_context(|| format!("cannot write {}", folder.display()))
    }

    /// Writes the crate over what may be there.
    pub fn write_files(&self, folder: &Path) -> Result<()> {
        let text = |template: &str| self.fill(template).into_bytes();
        let files = [
            ("Cargo.toml", text(include_str!("../../templates/Cargo.toml.txt"))),
            ("build.rs", text(include_str!("../../templates/build.rs.txt"))),
            ("memory.x", self.board.memory().into_bytes()),
            (".cargo/config.toml", text(include_str!("../../templates/config.toml.txt"))),
            (".gitignore", text(include_str!("../../templates/gitignore.txt"))),
            ("README.md", text(include_str!("../../templates/README.md.txt"))),
            ("model.safetensors", fs::read(self.model)?),
            ("src/main.rs", text(self.main)),
            ("src/log.rs", text(include_str!("../../templates/log.rs.txt"))),
            ("src/example.bin", self.example.to_vec()),
        ];
        fs::create_dir_all(folder.join("src"))?;
        fs::create_dir_all(folder.join(".cargo"))?;
        for (name, bytes) in files {
            write_changed(&folder.join(name), &bytes)?;
        }
        // The versions that are known to work together; cargo drops what is not needed.
        if let Source::Repository(root) = self.source
            && let Ok(lock) = fs::read(root.join("Cargo.lock"))
            && !folder.join("Cargo.lock").exists()
        {
            write_changed(&folder.join("Cargo.lock"), &lock)?;
        }
        Ok(())
    }

    fn fill(&self, template: &str) -> String {
        let target = self.board.target();
        let rustflags =
            if target.starts_with("thumbv8m") { "rustflags = [\"-C\", \"target-cpu=cortex-m33\"]\n" } else { "" };
        let chip = self.board.probe.map_or(String::new(), |chip| {
            format!("; on the board itself: probe-rs run --chip {chip} target/{target}/release/{}", self.name)
        });
        let rate = self.config.signal.as_ref().map_or(0, |signal| signal.sample_rate);
        template
            .replace("{{name}}", self.name)
            .replace("{{model}}", &self.config.name)
            .replace("{{board}}", self.board.name)
            .replace("{{target}}", target)
            .replace("{{runner}}", &self.board.runner())
            .replace("{{rustflags}}", rustflags)
            .replace("{{probe}}", &chip)
            .replace("{{stride}}", &self.config.stride().to_string())
            .replace("{{rate}}", &rate.to_string())
            .replace("{{microformer}}", &self.source.dependency(""))
            .replace("{{bake}}", &self.source.dependency("bake"))
    }
}

/// Leaves a file alone that is as it should be, so that cargo does not build again.
pub fn write_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
