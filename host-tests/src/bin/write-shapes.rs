//! Writes the models of `SHAPES`, quantised, to host-tests/shapes/: the build script of the firmware bakes them, and
//! `cargo verify` compares every layer of theirs on every chip with the laptop's.

use host_tests::{models, shapes::SHAPES};
use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shapes");
    for (name, json) in SHAPES {
        let path = folder.join(name).with_extension("safetensors");
        models::pair(json, 7).quantized.write(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        println!("{}", path.display());
    }
}
