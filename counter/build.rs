//! Chooses the plugin interface of the QEMU that is installed: MICROFORMER_QEMU is its version, set by the runner.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MICROFORMER_QEMU");
    println!("cargo:rustc-check-cfg=cfg(instruction_is_copied)");
    let version = env::var("MICROFORMER_QEMU").unwrap_or_else(|_| "7.2".to_owned());
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let (major, minor) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    // Since 9.0 the oldest interface that QEMU takes is 2; interface 3, of 9.1, copies an instruction's bytes.
    let interface = match (major, minor) {
        (..9, _) => 1,
        (9, 0) => 2,
        _ => 3,
    };
    println!("cargo:rustc-env=QEMU_PLUGIN_INTERFACE={interface}");
    if interface >= 3 {
        println!("cargo:rustc-cfg=instruction_is_copied");
    }
    // QEMU itself has the functions that the plugin calls; the macOS linker wants to be told.
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("macos") {
        println!("cargo:rustc-link-arg-cdylib=-Wl,-undefined,dynamic_lookup");
    }
}
