//! `cargo demo`: from a fresh machine to a chip that listens, in one command.

use crate::cargo::{self, M4, root};
use crate::image::Image;
use crate::{emulate, setup};
use anyhow::Result;

/// Speech of our own; sounds/make.sh made it.
const SOUND: &str = "sounds/demo.wav";

pub fn run() -> Result<u8> {
    setup::everything()?;
    println!("building the firmware for a Cortex-M4");
    let image = Image::read(&cargo::chip_image(M4, "firmware", &[])?)?;
    println!("listening to {SOUND} on an emulated {} ({})", M4.name, M4.board);
    let sound = root().join(SOUND);
    let code = emulate(&image, vec![sound.to_string_lossy().into_owned()])?;
    if code == 0 {
        println!("\nnow your own: cargo run --release -- MY.wav (16 kHz, 16 bit, mono)");
    }
    Ok(code)
}
