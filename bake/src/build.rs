//! The one call of a build script.

use std::{env, fs, path::Path, process};

use microformer_packed::Layout;

use crate::{Error, Quantized, emit};

/// Reads a quantised model file and writes it as a Rust module, for `microformer::include_model!(NAME)`.
///
/// For use in a build script:
///
/// ```no_run
/// microformer_bake::bake("models/keyword/quantized.safetensors", "keyword");
/// ```
///
/// A model that cannot run ends the build with one sentence that names what is wrong.
pub fn bake(path: impl AsRef<Path>, name: &str) {
    let path = path.as_ref();
    println!("cargo::rerun-if-changed={}", path.display());
    if let Err(error) = try_bake(path, name) {
        println!("cargo::error={error}");
        process::exit(1);
    }
}

fn try_bake(path: &Path, name: &str) -> Result<(), Error> {
    let in_file = |error: Error| error.in_file(&path.display().to_string());
    let assembled = Quantized::read(path)?.assemble(target_layout()).map_err(in_file)?;
    let out = env::var_os("OUT_DIR").ok_or_else(|| Error::new("OUT_DIR is not set: bake runs in a build script"))?;
    let module = Path::new(&out).join(format!("{name}.rs"));
    fs::write(&module, emit::module(&assembled))
        .map_err(|error| Error::new(format!("{}: cannot be written: {error}", module.display())))
}

/// The order of weights that the kernels of the target eat.
#[must_use]
pub fn target_layout() -> Layout {
    let target = env::var("TARGET").unwrap_or_default();
    let is = |names: &[&str]| names.iter().any(|name| target.starts_with(name));
    if env::var_os("CARGO_FEATURE_PLAIN_KERNELS").is_some() {
        Layout::Plain
    } else if target_has_dsp() {
        Layout::Paired
    } else if is(&["thumbv6m", "thumbv8m.base"]) {
        Layout::WideInTwos
    } else if is(&["thumbv7m", "thumbv8m.main"]) {
        Layout::Wide
    } else {
        Layout::Plain
    }
}

/// Whether the target of this build has the DSP extension. Stable rustc does not tell, so the target's name and the
/// processor in the flags do.
#[must_use]
pub fn target_has_dsp() -> bool {
    let target = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let named = |processors: &[&str]| processors.iter().any(|name| flags.contains(&format!("target-cpu={name}")));
    target.starts_with("thumbv7em")
        || (target.starts_with("thumbv8m.main") && named(&["cortex-m33", "cortex-m35p", "cortex-m55", "cortex-m85"]))
}
