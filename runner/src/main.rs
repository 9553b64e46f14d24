//! Behind cargo run, demo, verify and cost: sets the machine up, starts QEMU or probe-rs, decodes defmt.

fn main() {}
