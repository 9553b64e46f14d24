//! LayerNorm (Ba et al., 2016) and RMSNorm (Zhang and Sennrich, 2019), token by token.

use microformer_bake::{Matrix, config::NormKind, float::Norm};

/// Every token to mean 0 and variance 1 (RMSNorm: to mean square 1), then gain and bias.
#[must_use]
pub fn norm(layer: &Norm, kind: NormKind, epsilon: f64, tokens: &Matrix) -> Matrix {
    let mut output = tokens.clone();
    for token in 0..tokens.rows {
        let values = output.row_mut(token);
        let mean = match kind {
            NormKind::Layer => average(values.iter().copied()),
            NormKind::Rms => 0.0,
        };
        // The population's variance: divided by the length, not by one less.
        let variance = average(values.iter().map(|value| (value - mean).powi(2)));
        for (index, value) in values.iter_mut().enumerate() {
            *value = (*value - mean) / (variance + epsilon).sqrt() * layer.weight[index] + layer.bias[index];
        }
    }
    output
}

fn average(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let len = values.len() as f64;
    values.sum::<f64>() / len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_values_by_hand() {
        let tokens = Matrix { rows: 1, columns: 3, values: vec![1.0, 2.0, 3.0] };
        let layer = Norm { weight: vec![1.0, 1.0, 2.0], bias: vec![0.0, 5.0, 0.0] };
        let deviation = (2.0f64 / 3.0).sqrt();
        assert_eq!(norm(&layer, NormKind::Layer, 0.0, &tokens).values, [-1.0 / deviation, 5.0, 2.0 / deviation]);
        let root = (14.0f64 / 3.0).sqrt();
        assert_eq!(norm(&layer, NormKind::Rms, 0.0, &tokens).values, [1.0 / root, 2.0 / root + 5.0, 3.0 / root * 2.0]);
    }
}
