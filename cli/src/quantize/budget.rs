//! Which matrices get 4-bit weights so that a model fits its flash: those first whose loss for each byte saved is least.

use super::fidelity::Fidelity;
use crate::inspect::flash_bytes;
use crate::model::Engine;
use anyhow::{Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use microformer_bake::Quantized;
use quantizer::Precision;
use serde::Serialize;

/// What 4 bits cost one matrix, all others having the bits they had before.
#[derive(Serialize)]
pub struct Candidate {
    pub matrix: String,
    pub bytes_saved: usize,
    /// Decibels that the scores lose.
    pub loss_db: f64,
    pub chosen: bool,
}

/// `64K`, `1M` or plain bytes.
pub fn bytes(text: &str) -> Result<usize> {
    let (digits, unit) = match text.trim_end_matches(['B', 'b']) {
        text if text.ends_with(['K', 'k']) => (&text[..text.len() - 1], 1024),
        text if text.ends_with(['M', 'm']) => (&text[..text.len() - 1], 1024 * 1024),
        text => (text, 1),
    };
    let number: usize = digits.parse().map_err(|_| anyhow!("`{text}` is no size: say 64K, 1M or a number of bytes"))?;
    number.checked_mul(unit).ok_or_else(|| anyhow!("`{text}` is too large"))
}

/// A model quantised with such a precision.
pub type Make<'a> = &'a dyn Fn(&Precision) -> Result<Quantized>;

/// Gives matrices 4 bits, beside those that have them already, until the image takes no more than `limit` bytes of flash.
pub fn fit(
    limit: usize,
    board: &str,
    precision: &mut Precision,
    make: Make,
    measure: &dyn Fn(&Engine) -> Result<Fidelity>,
) -> Result<Vec<Candidate>> {
    let whole = make(precision)?;
    let (whole_bytes, whole_db) = (flash_bytes(&whole, board)?, measure(&engine(&whole)?)?.scores_db);
    if whole_bytes <= limit {
        return Ok(Vec::new());
    }
    let open: Vec<String> = Precision::inner_matrices(&whole.config)
        .into_iter()
        .filter(|matrix| precision.bits(matrix) == microformer_packed::Bits::Eight)
        .collect();
    let bar = ProgressBar::new(open.len() as u64)
        .with_style(ProgressStyle::with_template("weighing 4 bits {wide_bar} {pos}/{len} {eta}")?);
    let mut candidates = Vec::new();
    for matrix in open {
        let mut tried = precision.clone();
        tried.set_four(&matrix);
        let quantized = make(&tried)?;
        let bytes_saved = whole_bytes.saturating_sub(flash_bytes(&quantized, board)?);
        let loss_db = whole_db - measure(&engine(&quantized)?)?.scores_db;
        candidates.push(Candidate { matrix, bytes_saved, loss_db, chosen: false });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let price = |candidate: &Candidate| candidate.loss_db.max(0.0) / candidate.bytes_saved.max(1) as f64;
    candidates.sort_by(|a, b| price(a).total_cmp(&price(b)));
    let mut bytes = whole_bytes;
    for candidate in &mut candidates {
        if bytes <= limit {
            break;
        }
        precision.set_four(&candidate.matrix);
        candidate.chosen = true;
        bytes = flash_bytes(&make(precision)?, board)?;
    }
    if bytes > limit {
        bail!(
            "the model takes {bytes} bytes of flash on {board} with 4 bits in every block, {} more than the {limit} of \
             --flash; give embedding and head 4 bits too (--bits embed=4 --bits head=4), or train a smaller model",
            bytes - limit
        );
    }
    Ok(candidates)
}

fn engine(quantized: &Quantized) -> Result<Engine> {
    Engine::new(quantized, std::path::Path::new("the quantised model"))
}

pub fn print(candidates: &[Candidate]) {
    println!("{:<40} {:>5} {:>12}   loss alone", "matrix", "bits", "bytes saved");
    for Candidate { matrix, bytes_saved, loss_db, chosen } in candidates {
        println!("{matrix:<40} {:>5} {bytes_saved:>12}   {loss_db:.1} dB", if *chosen { 4 } else { 8 });
    }
    println!("");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(bytes("64K").expect("a size"), 65536);
        assert_eq!(bytes("1MB").expect("a size"), 1 << 20);
        assert_eq!(bytes("1000").expect("a size"), 1000);
        assert!(bytes("much").is_err() && bytes("-1").is_err());
    }
}
