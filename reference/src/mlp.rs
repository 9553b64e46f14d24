//! The perceptron of a block: up, a causal convolution over time, the activation, down.

use microformer_bake::{
    Config, Matrix,
    config::Activation,
    float::{Block, Linear},
};

use crate::Observer;
use crate::linear::linear;

/// What is returned is the second layer, before the residual sum.
///
/// Watched: `up`, `convolution` (where the model has one), `activation`.
#[must_use]
pub fn mlp(config: &Config, block: &Block, tokens: &Matrix, observe: &mut Observer) -> Matrix {
    let mut hidden = linear(&block.up, tokens);
    observe("up", &mut hidden);
    if let Some(layer) = &block.convolution {
        hidden = convolve(layer, &hidden);
        observe("convolution", &mut hidden);
    }
    hidden.values.iter_mut().for_each(|value| *value = activate(config.activation, *value));
    observe("activation", &mut hidden);
    linear(&block.down, &hidden)
}

/// Each channel over its own last tokens; before the first token there were zeros.
fn convolve(layer: &Linear, tokens: &Matrix) -> Matrix {
    let taps = layer.weight.columns;
    Matrix::from_fn(tokens.rows, tokens.columns, |token, channel| {
        let mut sum = layer.bias[channel];
        for (tap, weight) in layer.weight.row(channel).iter().enumerate() {
            // The newest tap lies on the token itself.
            if let Some(source) = (token + tap + 1).checked_sub(taps) {
                sum += weight * tokens.row(source)[channel];
            }
        }
        sum
    })
}

/// The non-linearities as they are defined, without approximation.
#[must_use]
pub fn activate(kind: Activation, value: f64) -> f64 {
    match kind {
        Activation::Relu => value.max(0.0),
        Activation::Gelu => 0.5 * value * (1.0 + libm::erf(value / 2f64.sqrt())),
        Activation::Silu => value / (1.0 + (-value).exp()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_convolution_looks_back_only() {
        let layer = Linear { weight: Matrix { rows: 1, columns: 3, values: vec![100.0, 10.0, 1.0] }, bias: vec![0.5] };
        let tokens = Matrix { rows: 4, columns: 1, values: vec![1.0, 2.0, 3.0, 4.0] };
        assert_eq!(convolve(&layer, &tokens).values, [1.5, 12.5, 123.5, 234.5]);
    }

    #[test]
    fn activations_at_known_places() {
        assert_eq!(activate(Activation::Relu, -2.0), 0.0);
        assert!((activate(Activation::Gelu, 1.0) - 0.841_344_746_068_542_9).abs() < 1e-15);
        assert!((activate(Activation::Silu, 1.0) - 0.731_058_578_630_004_9).abs() < 1e-15);
    }
}
