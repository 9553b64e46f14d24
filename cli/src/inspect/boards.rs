//! The boards of boards/NAME.x: how much memory each has, and what its processor can do.

use anyhow::{Context, Result, bail};
use microformer_packed::Layout;

/// A board that firmware can be built for.
pub struct Board {
    pub name: &'static str,
    pub chip: Chip,
    /// At which it usually runs.
    pub megahertz: u32,
    /// QEMU's name of the machine that emulates it.
    pub machine: Option<&'static str>,
    /// probe-rs's name of its chip.
    pub probe: Option<&'static str>,
    regions: &'static str,
}

/// What the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    M0,
    M3,
    M4,
    M33,
}

impl Chip {
    /// The order of weights that its kernels eat.
    pub const fn layout(self) -> Layout {
        match self {
            Self::M0 => Layout::WideInTwos,
            Self::M3 => Layout::Wide,
            Self::M4 | Self::M33 => Layout::Paired,
        }
    }
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
    ($name:literal, $chip:expr, $megahertz:literal, $machine:expr, $probe:expr) => {
        Board {
            name: $name,
            chip: $chip,
            megahertz: $megahertz,
            machine: $machine,
            probe: $probe,
            regions: include_str!(concat!("../../../boards/", $name, ".x")),
        }
    };
}

/// Boards that exist first, emulated ones last.
pub static BOARDS: [Board; 10] = [
    board!("microbit", Chip::M0, 16, Some("microbit"), Some("nRF51822_xxAA")),
    board!("microbit-v2", Chip::M4, 64, None, Some("nRF52833_xxAA")),
    board!("nrf52840", Chip::M4, 64, None, Some("nRF52840_xxAA")),
    board!("stm32f411", Chip::M4, 100, None, Some("STM32F411RETx")),
    board!("netduinoplus2", Chip::M4, 168, Some("netduinoplus2"), Some("STM32F405RGTx")),
    board!("lm3s6965evb", Chip::M3, 50, Some("lm3s6965evb"), Some("LM3S6965")),
    board!("mps2-an385", Chip::M3, 25, Some("mps2-an385"), None),
    board!("mps2-an386", Chip::M4, 25, Some("mps2-an386"), None),
    board!("mps2-an505", Chip::M33, 20, Some("mps2-an505"), None),
    board!("mps3-an547", Chip::M33, 32, Some("mps3-an547"), None),
];

impl Board {
    /// The compiler's name of the chip.
    pub const fn target(&self) -> &'static str {
        match self.chip {
            Chip::M0 => "thumbv6m-none-eabi",
            Chip::M3 => "thumbv7m-none-eabi",
            Chip::M4 => "thumbv7em-none-eabihf",
            Chip::M33 => "thumbv8m.main-none-eabihf",
        }
    }

    /// The command before the image that runs it: in QEMU where that knows the board, else on the board itself.
    pub fn runner(&self) -> String {
        match (self.machine, self.probe) {
            (Some(machine), _) => format!(
                "qemu-system-arm -machine {machine} -nographic -monitor none -serial none -semihosting-config \
                 enable=on,target=native -kernel"
            ),
            (None, probe) => format!("probe-rs run --chip {}", probe.unwrap_or("CHIP")),
        }
    }

    /// The linker's memory.x, in one piece.
    pub fn memory(&self) -> String {
        self.regions.replace("INCLUDE stack.x", include_str!("../../../boards/stack.x").trim_end())
    }

    pub fn regions(&self) -> Result<Regions> {
        let length = |name: &str| {
            let line = self.regions.lines().find(|line| line.trim_start().starts_with(name));
            let text = line.and_then(|line| line.split("LENGTH =").nth(1));
            text.and_then(bytes).with_context(|| format!("boards/{}.x has no region {name} with a LENGTH", self.name))
        };
        Ok(Regions { flash: length("FLASH")?, stack: length("STACK")?, ram: length("RAM")? })
    }
}

/// The board of a name.
pub fn find(name: &str) -> Result<&'static Board> {
    match BOARDS.iter().find(|board| board.name == name) {
        Some(board) => Ok(board),
        None => bail!("no board {name}; choose one of {}", BOARDS.each_ref().map(|board| board.name).join(", ")),
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
