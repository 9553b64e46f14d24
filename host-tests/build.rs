//! Writes a front end as firmware gets it, so that `tests/signal.rs` can run what `bake` wrote.

use microformer_bake::signal::Settings;
use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let tables = Settings::micro_frontend().tables().expect("the default settings work");
    let folder = env::var("OUT_DIR").expect("cargo names the folder");
    fs::write(Path::new(&folder).join("front_end.rs"), tables.module()).expect("the folder can be written");
}
