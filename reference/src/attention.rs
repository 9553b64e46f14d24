//! Causal multi-head attention under a band (Vaswani et al., 2017), with ALiBi (Press et al., 2022) where asked for.

use microformer_bake::{Config, Matrix, config::Positions, float::Block};

use crate::Observer;
use crate::linear::{dot, linear};

/// Token t looks at the tokens t − window + 1 … t. What is returned is the output projection, before the residual sum.
///
/// Watched: `queries`, `keys`, `values`, `head.N.weights` (tokens × tokens, each row sums to one), `mixed`.
#[must_use]
pub fn attention(config: &Config, block: &Block, tokens: &Matrix, observe: &mut Observer) -> Matrix {
    let mut queries = linear(&block.query, tokens);
    let mut keys = linear(&block.key, tokens);
    let mut values = linear(&block.value, tokens);
    observe("queries", &mut queries);
    observe("keys", &mut keys);
    observe("values", &mut values);

    let mut mixed = Matrix::zeros(tokens.rows, config.width);
    for head in 0..config.heads {
        let lanes = head * config.head_len()..(head + 1) * config.head_len();
        let mut weights = Matrix::zeros(tokens.rows, tokens.rows);
        for token in 0..tokens.rows {
            let first = (token + 1).saturating_sub(config.window);
            let scores: Vec<f64> = (first..=token)
                .map(|other| {
                    let product = dot(&queries.row(token)[lanes.clone()], &keys.row(other)[lanes.clone()]);
                    product / (config.head_len() as f64).sqrt() - penalty(config, head, token - other)
                })
                .collect();
            weights.row_mut(token)[first..=token].copy_from_slice(&softmax(&scores));
        }
        observe(&format!("head.{head}.weights"), &mut weights);
        for token in 0..tokens.rows {
            for other in (token + 1).saturating_sub(config.window)..=token {
                let weight = weights.row(token)[other];
                for lane in lanes.clone() {
                    mixed.row_mut(token)[lane] += weight * values.row(other)[lane];
                }
            }
        }
    }
    observe("mixed", &mut mixed);
    linear(&block.output, &mixed)
}

/// What distance takes from a score.
fn penalty(config: &Config, head: usize, distance: usize) -> f64 {
    match config.positions {
        Positions::Alibi => config.slope(head) * distance as f64,
        Positions::None | Positions::Learned | Positions::Sinusoidal => 0.0,
    }
}

/// `e^score / Σ e^score`.
#[must_use]
pub fn softmax(scores: &[f64]) -> Vec<f64> {
    let maximum = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - maximum).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_softmax_by_hand() {
        let weights = softmax(&[0.0, 3f64.ln(), 1000.0f64.ln() - 1000.0]);
        assert!((weights[0] - 0.25).abs() < 1e-15 && (weights[1] - 0.75).abs() < 1e-15 && weights[2] < 1e-300);
    }
}
