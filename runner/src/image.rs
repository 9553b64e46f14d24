//! An image as the compiler left it: an ELF file, its symbols, and the board it was linked for.

use crate::board::{self, Board};
use anyhow::{Context, Result};
use object::{Object, ObjectSegment, ObjectSymbol};
use std::fs;
use std::path::{Path, PathBuf};

pub struct Image {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    symbols: Vec<Symbol>,
}

pub struct Symbol {
    pub name: String,
    pub address: u64,
    pub size: u64,
    pub is_code: bool,
}

/// How build.rs marks the board in the image.
const BOARD_PREFIX: &str = "_board_";

impl Image {
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read the image {}", path.display()))?;
        let file = object::File::parse(&*bytes).with_context(|| format!("{} is not an ELF image", path.display()))?;
        let symbols = file
            .symbols()
            .map(|symbol| Symbol {
                name: String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default()).into_owned(),
                address: symbol.address(),
                size: symbol.size(),
                is_code: symbol.kind() == object::SymbolKind::Text,
            })
            .collect();
        Ok(Self { path: path.to_owned(), bytes, symbols })
    }

    pub fn elf(&self) -> Result<object::File<'_>> {
        object::File::parse(&*self.bytes).with_context(|| format!("{} is not an ELF image", self.path.display()))
    }

    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address)
    }

    pub fn board(&self) -> Result<&'static Board> {
        let mut names = self.symbols.iter().filter_map(|symbol| symbol.name.strip_prefix(BOARD_PREFIX));
        let name = names.next().with_context(|| {
            format!("{} names no board: it was not linked by this project's build.rs", self.path.display())
        })?;
        board::find(name)
    }

    /// Bytes of flash that the image takes: what is loaded, at the address where it is loaded.
    pub fn flash_bytes(&self) -> Result<u64> {
        let elf = self.elf()?;
        Ok(elf.segments().map(|segment| segment.file_range().1).sum())
    }

    /// The function that holds an address, by its readable name.
    pub fn function_at(&self, address: u64) -> Option<String> {
        let address = address & !1;
        let holds = |symbol: &&Symbol| {
            let start = symbol.address & !1;
            symbol.is_code && start <= address && address < start + symbol.size
        };
        self.symbols.iter().find(holds).map(|symbol| format!("{:#}", rustc_demangle::demangle(&symbol.name)))
    }
}
