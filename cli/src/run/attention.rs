//! Attention weights while a model runs, and their picture: a row for each token, a column for each token it looked at.

use crate::picture::{Cells, Picture};
use microformer::model::{Layer, Output, Part, Probe};
use microformer_packed::Model;

/// Most tokens that one picture shows: the last of a longer sequence.
const SHOWN: usize = 128;

/// Collects the weights of every head.
pub struct Attention {
    window: usize,
    /// By block and head: for each token, weights of the tokens before it, newest first.
    heads: Vec<Vec<Vec<Vec<f64>>>>,
    token: usize,
}

impl Attention {
    pub fn new(model: &Model) -> Self {
        let heads = model.blocks.iter().map(|block| vec![Vec::new(); block.attention.heads]).collect();
        let window = model.blocks.first().map_or(1, |block| block.attention.window);
        Self { window, heads, token: 0 }
    }

    /// One picture: a row of panels for each layer, a panel for each head.
    pub fn picture(&self) -> Picture {
        let shown = self.token.min(SHOWN);
        let first = self.token - shown;
        let size = (256 / shown.max(1)).clamp(2, 16);
        let side = shown * size;
        let mut picture = Picture::default();
        picture.text(
            20,
            20,
            &format!("attention: token (down) looks at token (across), {first} to {}", self.token.saturating_sub(1)),
        );
        for (layer, heads) in self.heads.iter().enumerate() {
            for (head, tokens) in heads.iter().enumerate() {
                let (x, y) = (20 + head * (side.max(120) + 20), 60 + layer * (side + 40));
                picture.text(x, y - 6, &format!("layer {layer}, head {head}"));
                let shade = |row: usize, column: usize| {
                    let weights = &tokens[first + row];
                    row.checked_sub(column).and_then(|age| weights.get(age)).copied().unwrap_or(0.0)
                };
                picture.cells(x, y, &Cells { rows: shown, columns: shown, shade: &shade, size });
            }
        }
        picture
    }
}

impl Probe for Attention {
    fn layer(&mut self, layer: Layer, _output: Output<'_>) {
        if layer.part == Part::Pool {
            self.token += 1;
        }
    }

    /// Weights come by slot of the ring; the newest token's is its count modulo the window.
    fn weights(&mut self, block: usize, head: usize, weights: &[i16], sum: u32) {
        let newest = self.token % self.window;
        let by_age = (0..weights.len()).map(|age| {
            let slot = (newest + self.window - age) % self.window;
            f64::from(weights.get(slot).copied().unwrap_or(0)) / f64::from(sum.max(1))
        });
        self.heads[block][head].push(by_age.collect());
    }
}
