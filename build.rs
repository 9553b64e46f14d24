//! Chooses the board, tells the code which chip it is for, and links the firmware's binaries.
//!
//! Enters: the target, MICROFORMER_BOARD (a file of boards/, without its ending). Leaves: OUT_DIR/board.x, the cfgs
//! `armv6m`, `armv7m`, `armv8m`, `dsp`, and link arguments for our own binaries only, so that a user's firmware that
//! depends on this package as a library links as it likes.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["armv6m", "armv7m", "armv8m", "dsp"] {
        println!("cargo:rustc-check-cfg=cfg({name})");
    }
    let target = variable("TARGET");
    if variable("CARGO_CFG_TARGET_OS") == "none" {
        describe_chip(&target);
        if env::var_os("CARGO_FEATURE_FIRMWARE").is_some() {
            link_firmware(&target);
        }
    }
}

/// Stable rustc hides `target_feature = "dsp"`, so the instruction set becomes cfgs of our own.
fn describe_chip(target: &str) {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let (architecture, dsp) = match target.split('-').next().unwrap_or_default() {
        "thumbv6m" | "thumbv8m.base" => ("armv6m", false),
        "thumbv7m" => ("armv7m", false),
        "thumbv7em" => ("armv7m", true),
        // The DSP extension is an option of ARMv8-M: only the processor's name, or the feature itself, promises it.
        "thumbv8m.main" => (
            "armv8m",
            ["cortex-m33", "cortex-m35p", "cortex-m55", "cortex-m85", "+dsp"].iter().any(|name| flags.contains(name)),
        ),
        _ => return,
    };
    println!("cargo:rustc-cfg={architecture}");
    if dsp && !flags.contains("-dsp") {
        println!("cargo:rustc-cfg=dsp");
    }
}

/// Puts the board's memory where the root's memory.x includes it, under a symbol by which the runner knows the board.
fn link_firmware(target: &str) {
    println!("cargo:rerun-if-env-changed=MICROFORMER_BOARD");
    println!("cargo:rerun-if-changed=boards");
    println!("cargo:rerun-if-changed=memory.x");
    let board = env::var("MICROFORMER_BOARD").unwrap_or_else(|_| default_board(target).to_owned());
    let source = Path::new("boards").join(&board).with_extension("x");
    let memory = fs::read_to_string(&source).unwrap_or_else(|_| {
        panic!(
            "MICROFORMER_BOARD is `{board}`, but there is no {}: name a file of boards/, or add one",
            source.display()
        )
    });
    let out = variable("OUT_DIR");
    let script = format!("{memory}\n\"_board_{board}\" = 0;\n");
    fs::write(Path::new(&out).join("board.x"), script).expect("OUT_DIR can be written");
    fs::copy("boards/stack.x", Path::new(&out).join("stack.x")).expect("OUT_DIR can be written");
    for argument in [&format!("-L{out}"), "--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}

fn default_board(target: &str) -> &'static str {
    match target.split('-').next().unwrap_or_default() {
        "thumbv6m" => "microbit",
        "thumbv7m" => "lm3s6965evb",
        "thumbv8m.main" => "mps2-an505",
        _ => "mps2-an386",
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}
