//! The boards of boards/NAME.x: what each is in QEMU, and what probe-rs calls its chip.

use anyhow::{Context, Result};

pub struct Board {
    /// The name of its file in boards/.
    pub name: &'static str,
    /// QEMU's name of the machine that emulates it.
    pub machine: Option<&'static str>,
    /// probe-rs's name of its chip.
    pub chip: Option<&'static str>,
}

const BOARDS: [Board; 10] = [
    Board { name: "mps2-an385", machine: Some("mps2-an385"), chip: None },
    Board { name: "mps2-an386", machine: Some("mps2-an386"), chip: None },
    Board { name: "mps2-an505", machine: Some("mps2-an505"), chip: None },
    Board { name: "mps3-an547", machine: Some("mps3-an547"), chip: None },
    Board { name: "lm3s6965evb", machine: Some("lm3s6965evb"), chip: Some("LM3S6965") },
    Board { name: "netduinoplus2", machine: Some("netduinoplus2"), chip: Some("STM32F405RGTx") },
    Board { name: "microbit", machine: Some("microbit"), chip: Some("nRF51822_xxAA") },
    Board { name: "microbit-v2", machine: None, chip: Some("nRF52833_xxAA") },
    Board { name: "nrf52840", machine: None, chip: Some("nRF52840_xxAA") },
    Board { name: "stm32f411", machine: None, chip: Some("STM32F411RETx") },
];

pub fn find(name: &str) -> Result<&'static Board> {
    BOARDS.iter().find(|board| board.name == name).with_context(|| {
        format!("the image is for the board `{name}`, which runner/src/board.rs does not list: add it there")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    #[test]
    fn every_file_of_boards_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../boards");
        let mut files: Vec<String> = fs::read_dir(folder)
            .expect("boards/ exists")
            .map(|entry| entry.expect("boards/ can be read").path())
            .map(|path| path.file_stem().expect("a file has a name").to_string_lossy().into_owned())
            .filter(|name| name != "stack")
            .collect();
        files.sort();
        let mut names: Vec<&str> = BOARDS.iter().map(|board| board.name).collect();
        names.sort();
        assert_eq!(files, names);
    }
}
