//! The boards of boards/NAME.x: how much memory each has, and what its processor can do.

use anyhow::{Context, Result};

/// A board that firmware can be built for.
pub struct Board {
    pub name: &'static str,
    pub chip: Chip,
    /// At which it usually runs.
    pub megahertz: u32,
    memory: &'static str,
}

/// What the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    M0,
    M3,
    /// Cortex-M4 and M33: with the DSP extension.
    Dsp,
}

/// Bytes of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regions {
    pub flash: usize,
    pub stack: usize,
    /// What is left for statics.
    pub ram: usize,
}

macro_rules! board {
    ($name:literal, $chip:expr, $megahertz:literal) => {
        Board {
            name: $name,
            chip: $chip,
            megahertz: $megahertz,
            memory: include_str!(concat!("../../../boards/", $name, ".x")),
        }
    };
}

/// Boards that exist first, emulated ones last.
pub const BOARDS: [Board; 9] = [
    board!("microbit", Chip::M0, 16),
    board!("microbit-v2", Chip::Dsp, 64),
    board!("nrf52840", Chip::Dsp, 64),
    board!("stm32f411", Chip::Dsp, 100),
    board!("netduinoplus2", Chip::Dsp, 168),
    board!("lm3s6965evb", Chip::M3, 50),
    board!("mps2-an385", Chip::M3, 25),
    board!("mps2-an386", Chip::Dsp, 25),
    board!("mps2-an505", Chip::Dsp, 20),
];

impl Board {
    pub fn regions(&self) -> Result<Regions> {
        let length = |name: &str| {
            let line = self.memory.lines().find(|line| line.trim_start().starts_with(name));
            let text = line.and_then(|line| line.split("LENGTH =").nth(1));
            text.and_then(bytes).with_context(|| format!("boards/{}.x has no region {name} with a LENGTH", self.name))
        };
        Ok(Regions { flash: length("FLASH")?, stack: length("STACK")?, ram: length("RAM")? })
    }
}

/// `128K - 16K` in bytes.
fn bytes(text: &str) -> Option<usize> {
    let mut terms = text.split('-').map(|term| {
        let term = term.trim();
        let (digits, unit) = match term.chars().last()? {
            'K' => (term.trim_end_matches('K'), 1 << 10),
            'M' => (term.trim_end_matches('M'), 1 << 20),
            _ => (term, 1),
        };
        Some(digits.parse::<usize>().ok()? * unit)
    });
    let first = terms.next()??;
    terms.try_fold(first, |sum, term| sum.checked_sub(term?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_has_memory() {
        for board in &BOARDS {
            let regions = board.regions().unwrap();
            assert!(regions.flash >= 1 << 18 && regions.ram >= 1 << 13 && regions.stack >= 1 << 10, "{}", board.name);
        }
        let microbit = BOARDS[0].regions().unwrap();
        assert_eq!(microbit, Regions { flash: 256 << 10, stack: 3 << 10, ram: 13 << 10 });
    }

    #[test]
    fn every_file_of_boards_is_listed() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../boards");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .filter(|name| name != "stack")
            .collect();
        files.sort();
        let mut names: Vec<_> = BOARDS.iter().map(|board| board.name).collect();
        names.sort();
        assert_eq!(files, names);
    }
}
