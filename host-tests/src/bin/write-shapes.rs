//! Writes the models of `SHAPES`, quantised, to host-tests/shapes/: the build script of the firmware bakes them, and
//! `cargo verify` compares every layer of theirs on every chip with the laptop's.

use host_tests::{
    models,
    shapes::{FOUR_BITS, SHAPES},
};
use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shapes");
    let (four_bits, json, bits) = FOUR_BITS;
    let mixed = (four_bits, models::mixed_pair(json, 7, &bits));
    for (name, pair) in SHAPES.into_iter().map(|(name, json)| (name, models::pair(json, 7))).chain([mixed]) {
        let path = folder.join(name).with_extension("safetensors");
        pair.quantized.write(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        println!("{}", path.display());
    }
}
