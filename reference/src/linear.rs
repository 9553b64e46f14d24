//! Matrix × token, for every token.

use microformer_bake::{Matrix, float::Linear};

/// `y = W·x + b` for each row x of `tokens`.
#[must_use]
pub fn linear(layer: &Linear, tokens: &Matrix) -> Matrix {
    Matrix::from_fn(tokens.rows, layer.weight.rows, |token, row| {
        dot(layer.weight.row(row), tokens.row(token)) + layer.bias[row]
    })
}

/// Σ a·b.
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "a product of two vectors of one length");
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `a + b`, value by value.
#[must_use]
pub fn add(a: &Matrix, b: &Matrix) -> Matrix {
    assert_eq!((a.rows, a.columns), (b.rows, b.columns), "a sum of two matrices of one shape");
    Matrix::from_fn(a.rows, a.columns, |row, column| a.row(row)[column] + b.row(row)[column])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_product_and_its_bias() {
        let weight = Matrix { rows: 2, columns: 2, values: vec![1.0, 2.0, 3.0, 4.0] };
        let layer = Linear { weight, bias: vec![0.5, 0.0] };
        let tokens = Matrix { rows: 1, columns: 2, values: vec![10.0, 1.0] };
        assert_eq!(linear(&layer, &tokens).values, [12.5, 34.0]);
    }
}
