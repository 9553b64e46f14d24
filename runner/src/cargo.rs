//! Builds what the runner runs, by cargo itself.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One chip build: a target of rustup, linked for a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    pub name: &'static str,
    pub target: &'static str,
    pub board: &'static str,
}

/// The four instruction sets, on machines that are large enough for every model.
pub const M0: Chip = Chip { name: "Cortex-M0", target: "thumbv6m-none-eabi", board: "mps2-an385" };
pub const M3: Chip = Chip { name: "Cortex-M3", target: "thumbv7m-none-eabi", board: "mps2-an385" };
pub const M4: Chip = Chip { name: "Cortex-M4", target: "thumbv7em-none-eabihf", board: "mps2-an386" };
pub const M33: Chip = Chip { name: "Cortex-M33", target: "thumbv8m.main-none-eabihf", board: "mps2-an505" };

/// A board with a microphone.
pub const MICROPHONE: Chip = Chip { name: "nRF52840", board: "nrf52840", ..M4 };
pub const CHIPS: [Chip; 4] = [M0, M3, M4, M33];

/// The project's root folder.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A cargo command in the project's root.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root());
    command
}

/// Builds one of the root's binaries for a chip, in release; returns its image.
pub fn chip_image(chip: Chip, binary: &str, features: &[&str]) -> Result<PathBuf> {
    let features = features.join(",");
    let mut command = cargo(&["build", "--release", "--target", chip.target, "--bin", binary, "--features", &features]);
    command.env("MICROFORMER_BOARD", chip.board);
    artifact(command, binary, &[], "executable").with_context(|| format!("the image `{binary}` for {}", chip.name))
}

/// [`chip_image`], with these models only.
pub fn chip_image_of(chip: Chip, binary: &str, models: Option<&str>, features: &[&str]) -> Result<PathBuf> {
    let features = features.join(",");
    let mut command = cargo(&["build", "--release", "--target", chip.target, "--bin", binary, "--features", &features]);
    command.env("MICROFORMER_BOARD", chip.board);
    command.envs(models.map(|models| ("MICROFORMER_MODELS", models)));
    artifact(command, binary, &[], "executable").with_context(|| format!("the image `{binary}` for {}", chip.name))
}

/// [`chip_image`], linked although functions are missing.
pub fn chip_image_without_checks(chip: Chip, binary: &str, features: &[&str]) -> Result<PathBuf> {
    let features = features.join(",");
    let mut command = cargo(&["rustc", "--release", "--target", chip.target, "--bin", binary, "--features", &features]);
    command.env("MICROFORMER_BOARD", chip.board);
    artifact(command, binary, &["--", "-C", "link-arg=--unresolved-symbols=ignore-all"], "executable")
        .with_context(|| format!("the image `{binary}` for {}", chip.name))
}

/// Builds a library of the laptop's, and returns the file.
pub fn host_library(package: &str, variables: &[(&str, &str)]) -> Result<PathBuf> {
    let mut command = cargo(&["build", "--profile", "host", "--target", "host-tuple", "-p", package]);
    command.envs(variables.iter().copied());
    artifact(command, package, &[], "filenames").with_context(|| format!("the library `{package}`"))
}

/// Builds one of the root's binaries for the laptop.
pub fn host_binary(binary: &str) -> Result<PathBuf> {
    let command = cargo(&["build", "--profile", "host", "--target", "host-tuple", "--bin", binary]);
    artifact(command, binary, &[], "executable").with_context(|| format!("the program `{binary}` for this laptop"))
}

/// Runs a build, with `last` at the end of its command line; what it made is named in cargo's messages for machines.
fn artifact(mut command: Command, target: &str, last: &[&str], field: &str) -> Result<PathBuf> {
    command.args(["--quiet", "--message-format=json-render-diagnostics"]).args(last);
    let output = command.output().context("cargo cannot be run")?;
    if !output.status.success() {
        bail!("does not build:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let made = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == target)
        .filter_map(|message| {
            let file = &message[field];
            file.as_str().or_else(|| file[0].as_str()).map(PathBuf::from)
        })
        .next_back();
    made.with_context(|| format!("cargo built no `{target}`"))
}
