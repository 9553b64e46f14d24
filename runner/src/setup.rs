//! Makes a fresh machine ready: the chip targets by rustup, QEMU by the system's package manager. What cannot be done
//! here is said in one sentence.

use crate::qemu;
use anyhow::{Result, bail};
use std::process::{Command, Stdio};

pub const TARGETS: [&str; 4] =
    ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "thumbv7em-none-eabihf", "thumbv8m.main-none-eabihf"];

/// Package managers, in the order in which they are looked for; each line is tried until one leaves QEMU behind.
const INSTALLERS: [(&str, &[&[&str]]); 4] = [
    (
        "apt-get",
        &[
            &["install", "--yes", "--no-install-recommends", "qemu-system-arm"],
            &["update"],
            &["install", "--yes", "--no-install-recommends", "qemu-system-arm"],
        ],
    ),
    ("dnf", &[&["install", "--assumeyes", "qemu-system-arm"]]),
    ("pacman", &[&["--sync", "--refresh", "--noconfirm", "qemu-system-arm"]]),
    ("brew", &[&["install", "qemu"]]),
];

pub fn everything() -> Result<()> {
    targets()?;
    qemu()
}

pub fn targets() -> Result<()> {
    let advice = format!("install the chip targets: rustup target add {}", TARGETS.join(" "));
    let Ok(listing) = Command::new("rustup").args(["target", "list", "--installed"]).output() else {
        // Rust without rustup may well have the targets; the build says so if it does not.
        return Ok(());
    };
    let installed = String::from_utf8_lossy(&listing.stdout);
    let missing: Vec<&str> =
        TARGETS.into_iter().filter(|target| !installed.lines().any(|line| line.trim() == *target)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("setting up: rustup target add {}", missing.join(" "));
    match Command::new("rustup").args(["target", "add"]).args(&missing).status() {
        Ok(status) if status.success() => Ok(()),
        _ => bail!("{advice}"),
    }
}

pub fn qemu() -> Result<()> {
    if works(qemu::PROGRAM) {
        return Ok(());
    }
    let Some((manager, steps)) = INSTALLERS.into_iter().find(|(manager, _)| works(manager)) else {
        bail!("install QEMU for Arm ({}), version 7.2 or later", qemu::PROGRAM);
    };
    for step in steps {
        let mut command = installer(manager);
        command.args(*step);
        eprintln!("setting up: {manager} {}", step.join(" "));
        // That a step fails is told by what it should have left behind.
        let _ = command.stdout(Stdio::null()).status();
        if works(qemu::PROGRAM) {
            return Ok(());
        }
    }
    bail!("QEMU could not be installed from here: as root, {manager} {}", steps[steps.len() - 1].join(" "))
}

/// System packages need root; `sudo -n` never asks for a password.
fn installer(manager: &str) -> Command {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    if manager == "brew" || is_root {
        return Command::new(manager);
    }
    let mut command = Command::new("sudo");
    command.args(["-n", manager]);
    command
}

fn works(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
