//! Tells the code which chip it is for, bakes the models, chooses the board, and links the firmware's binaries.
//!
//! Enters: the target, the model files, MICROFORMER_BOARD (a file of boards/, without its ending), MICROFORMER_MODELS
//! (names, or files of one's own, with commas between; all names when absent). Leaves: the cfgs `armv6m`, `armv7m`, `armv8m`, `dsp`, `scalar`;
//! OUT_DIR/models.rs and board.x; and link arguments for our own binaries only, so that a user's firmware that depends
//! on this package as a library, without its feature `firmware`, gets none of it.

use std::env;
#[cfg(feature = "firmware")]
use std::{fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["armv6m", "armv7m", "armv8m", "dsp", "scalar"] {
        println!("cargo:rustc-check-cfg=cfg({name})");
    }
    let target = variable("TARGET");
    let is_chip = variable("CARGO_CFG_TARGET_OS") == "none";
    if is_chip {
        describe_chip(&target);
    }
    #[cfg(feature = "firmware")]
    {
        models::bake();
        models::bake_front_end();
        if is_chip {
            link_firmware(&target);
        }
    }
}

#[cfg(feature = "firmware")]
mod models {
    use std::{env, fs, path::Path, path::PathBuf};

    /// Bakes models/NAME/quantized.safetensors, host-tests/shapes/NAME.safetensors and, where asked for, any other file.
    pub fn bake() {
        println!("cargo:rerun-if-env-changed=MICROFORMER_MODELS");
        println!("cargo:rerun-if-changed=models");
        println!("cargo:rerun-if-changed=host-tests/shapes");
        let chosen = env::var("MICROFORMER_MODELS").ok();
        let chosen: Option<Vec<&str>> = chosen.as_ref().map(|names| names.split(',').collect());
        let is_chosen = |name: &str| chosen.as_ref().is_none_or(|chosen| chosen.contains(&name));
        let folders = files("models").into_iter().map(|folder| (folder.clone(), folder.join("quantized.safetensors")));
        let shapes = files("host-tests/shapes").into_iter().map(|file| (file.with_extension(""), file));
        let mut names = Vec::new();
        for (name, file) in folders.chain(shapes).filter(|(_, file)| file.is_file()) {
            let name = name.file_name().expect("a file has a name").to_string_lossy().into_owned();
            if is_chosen(&name) {
                microformer_bake::bake(&file, &name);
                names.push(name);
            }
        }
        for file in chosen.iter().flatten().map(Path::new).filter(|file| file.extension().is_some()) {
            let name = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            microformer_bake::bake(file, &name);
            names.push(name);
        }
        write_list(&names, chosen_for_firmware(&names));
    }

    /// OUT_DIR/front_end.rs: the front end with all its stages, for src/bin/bench and src/bin/parity.
    pub fn bake_front_end() {
        let tables = microformer_bake::signal::Settings::micro_frontend().tables().expect("these settings work");
        let path = Path::new(&super::variable("OUT_DIR")).join("front_end.rs");
        fs::write(path, tables.module()).expect("OUT_DIR can be written");
    }

    /// A module for each model; `chosen`, the firmware's; and `for_each_model!(call)`, which says
    /// `call!(module, "name");` for each.
    fn write_list(names: &[String], firmware: Option<&str>) {
        let module = |name: &str| format!("model_{}", name.replace(|letter: char| !letter.is_alphanumeric(), "_"));
        let mut text = String::new();
        for name in names {
            text += &format!("pub mod {} {{ ::microformer::include_model!({name:?}); }}\n", module(name));
        }
        if let Some(name) = firmware {
            text += &format!(
                "/// The model of the firmware.\n#[allow(unused_imports)]\npub use {} as chosen;\n",
                module(name)
            );
        }
        text += "macro_rules! for_each_model {\n    ($call:ident) => {\n";
        for name in names {
            text += &format!("        $call!({}, {name:?});\n", module(name));
        }
        text += "    };\n}\n";
        let path = Path::new(&super::variable("OUT_DIR")).join("models.rs");
        fs::write(path, text).expect("OUT_DIR can be written");
    }

    /// The model that src/main.rs listens with; none where other models were asked for.
    fn chosen_for_firmware(names: &[String]) -> Option<&str> {
        println!("cargo:rerun-if-env-changed=MICROFORMER_MODEL");
        let asked = env::var("MICROFORMER_MODEL").ok();
        let name = asked.as_deref().unwrap_or("keyword");
        let found = names.iter().find(|baked| *baked == name);
        if asked.is_some() && found.is_none() {
            println!("cargo::error=MICROFORMER_MODEL is `{name}`; the baked models are {}", names.join(", "));
        }
        found.map(String::as_str)
    }

    /// What a folder holds, in the order of the names; nothing where there is no such folder.
    fn files(folder: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    }
}

/// Stable rustc hides `target_feature = "dsp"`, so the instruction set becomes cfgs of our own. Which kernels run
/// is `microformer_bake::target_layout`'s rule, too: weights and kernels must agree, and `State::new` refuses when they do
/// not.
fn describe_chip(target: &str) {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_any_of = |processors: &[&str]| processors.iter().any(|name| flags.contains(&format!("target-cpu={name}")));
    let (architecture, dsp) = match target.split('-').next().unwrap_or_default() {
        "thumbv6m" | "thumbv8m.base" => ("armv6m", false),
        "thumbv7m" => ("armv7m", false),
        "thumbv7em" => ("armv7m", true),
        // The DSP extension is an option of ARMv8-M: only the processor's name promises it.
        "thumbv8m.main" => ("armv8m", is_any_of(&["cortex-m33", "cortex-m35p", "cortex-m55", "cortex-m85"])),
        _ => return,
    };
    println!("cargo:rustc-cfg={architecture}");
    if env::var_os("CARGO_FEATURE_PLAIN_KERNELS").is_none() {
        println!("cargo:rustc-cfg={}", if dsp { "dsp" } else { "scalar" });
    }
}

/// Puts the board's memory where the root's memory.x includes it, under a symbol by which the runner knows the board.
#[cfg(feature = "firmware")]
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

#[cfg(feature = "firmware")]
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
