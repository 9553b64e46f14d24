//! Writes the small models of `host_tests::shapes`, quantised, to host-tests/models/, where the firmware's parity test
//! bakes them. Run after a change of the quantiser or of the file's format: `cargo run --target host-tuple -p host-tests
//! --example write_models`.

use std::path::Path;

use host_tests::{models, shapes::SHAPES};

fn main() -> Result<(), microformer_bake::Error> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    for (name, json) in SHAPES {
        let path = folder.join(name).with_extension("safetensors");
        models::pair(json, 7).quantized.write(&path)?;
        println!("{name}");
    }
    Ok(())
}
