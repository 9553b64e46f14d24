//! The table that people read.

use super::{Kernel, Report, peer};
use crate::counter::Cost;
use crate::model::{self, Layer, Measurement};
use std::fmt::Write;

pub fn text(report: &Report) -> String {
    let mut text = String::new();
    let chip = report.chip;
    line(&mut text, &format!("{chip}, instructions counted and cycles modelled; peer: {}\n", peer::ORIGIN));
    heading(&mut text, "kernel");
    for kernel in &report.kernels {
        row(&mut text, &format!("{}, {}", kernel.job, kernel.way), kernel.macs, kernel.cost, &peer_of(kernel));
    }
    for (name, measurement) in &report.models {
        model(&mut text, name, measurement);
    }
    text
}

fn model(text: &mut String, name: &str, measurement: &Measurement) {
    let Measurement { state, flash, stack, step, plain_step, layers, pass } = measurement;
    line(text, "");
    heading(text, &format!("model {name}, one token, all rings full"));
    let peers = |job| peer::of_model(name, job).map(|peer| format!("{peer}")).unwrap_or_default();
    sums(text, layers, *step, &peers("step"));
    if let Some(plain) = plain_step {
        row(text, "everything, kernels in plain Rust", model::total(layers).macs, *plain, "");
    }
    heading(text, &format!("model {name}, a sequence of {} tokens, {} at once", pass.tokens, pass.chunk));
    sums(text, &pass.layers, pass.cost, &peers("pass"));
    let chunk = pass.chunk;
    line(text, &format!("{state} bytes of RAM ({} for {chunk} tokens at once), {stack} bytes of stack,", pass.state));
    line(text, &format!("{flash} bytes of flash\n"));
}

fn sums(text: &mut String, layers: &[Layer], whole: Cost, peer: &str) {
    for layer in layers {
        row(text, &layer.name, layer.macs, layer.cost, "");
    }
    let products = model::products(layers);
    row(text, &products.name, products.macs, products.cost, peer);
    let total = model::total(layers);
    row(text, &total.name, total.macs, whole, "");
}

fn peer_of(kernel: &Kernel) -> String {
    match kernel.peer {
        Some(peer) => match peer.cycles {
            Some(cycles) => format!("{} ({cycles})", peer.instructions),
            None => format!("{}", peer.instructions),
        },
        None => String::new(),
    }
}

fn heading(text: &mut String, name: &str) {
    let (macs, instructions, cycles) = ("MACs", "instructions", "cycles");
    let row = format!("{name:<50}{macs:>10}{instructions:>14}{:>8}{cycles:>12}{:>8}  peer", "/MAC", "/MAC");
    line(text, &row);
}

fn row(text: &mut String, name: &str, macs: u64, cost: Cost, peer: &str) {
    let per_mac = |count: u64| match macs {
        0 => "–".to_owned(),
        _ => format!("{:.2}", count as f64 / macs as f64),
    };
    let Cost { instructions, cycles } = cost;
    let row = format!(
        "{name:<50}{macs:>10}{instructions:>14}{:>8}{cycles:>12}{:>8}  {peer}",
        per_mac(instructions),
        per_mac(cycles)
    );
    line(text, row.trim_end());
}

/// Writing to a String cannot fail.
fn line(text: &mut String, line: &str) {
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_what_a_product_costs() {
        let mut text = String::new();
        row(&mut text, "matrix", 4096, Cost { instructions: 3891, cycles: 5734 }, "2.68 (3.36)");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words, ["matrix", "4096", "3891", "0.95", "5734", "1.40", "2.68", "(3.36)"]);
    }
}
