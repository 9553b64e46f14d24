//! Runs an image on a connected board by probe-rs, which flashes it and decodes its log from RTT.

use crate::image::Image;
use anyhow::{Context, Result};
use std::process::Command;

/// `--probe` asks for the board's own chip, `--probe=CHIP` for another one of probe-rs's names.
const OPTION: &str = "--probe";

pub struct Probe {
    chip: Option<String>,
}

pub fn requested(arguments: &[String]) -> Option<Probe> {
    let first = arguments.first()?.strip_prefix(OPTION)?;
    match first.strip_prefix('=') {
        Some(chip) => Some(Probe { chip: Some(chip.to_owned()) }),
        None => first.is_empty().then_some(Probe { chip: None }),
    }
}

pub fn run(image: &Image, probe: Probe) -> Result<u8> {
    let mut command = command(image.board()?, probe, &image.path)?;
    let status = command
        .status()
        .context("probe-rs cannot be started: install it with `cargo install probe-rs-tools --locked`")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn command(board: &crate::board::Board, probe: Probe, image: &std::path::Path) -> Result<Command> {
    let chip = probe.chip.or(board.chip.map(str::to_owned)).with_context(|| {
        format!("the board {} exists in QEMU only: set MICROFORMER_BOARD, or say `-- --probe=CHIP`", board.name)
    })?;
    let mut command = Command::new("probe-rs");
    command.args(["run", "--chip", &chip]).arg(image);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn words(board: &str, arguments: &[&str]) -> Result<Vec<String>> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let probe = requested(&arguments).expect("the first argument asks for a probe");
        let command = command(crate::board::find(board)?, probe, Path::new("image"))?;
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        Ok(words.map(|word| word.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn a_board_knows_its_chip() {
        let words = words("nrf52840", &["--probe"]).expect("the board has a chip");
        assert_eq!(words, ["probe-rs", "run", "--chip", "nRF52840_xxAA", "image"]);
    }

    #[test]
    fn a_chip_can_be_named() {
        let words = words("mps2-an386", &["--probe=STM32F446RETx"]).expect("the chip is given");
        assert_eq!(words[3], "STM32F446RETx");
    }

    #[test]
    fn an_emulated_board_has_no_probe() {
        let error = words("mps2-an386", &["--probe"]).expect_err("there is no such silicon");
        assert!(error.to_string().contains("mps2-an386"));
    }

    #[test]
    fn other_arguments_are_the_firmwares() {
        assert!(requested(&["--probes".to_owned()]).is_none());
        assert!(requested(&["my.wav".to_owned(), "--probe".to_owned()]).is_none());
        assert!(requested(&[]).is_none());
    }
}
