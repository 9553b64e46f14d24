//! A matrix of f64, row by row: weights of a float model, and its activations, one token in each row.

/// `rows × columns` values, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

impl Matrix {
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// A matrix whose values are functions of their row and column.
    #[must_use]
    pub fn from_fn(rows: usize, columns: usize, mut value: impl FnMut(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zeros(rows, columns);
        for row in 0..rows {
            for (column, place) in matrix.row_mut(row).iter_mut().enumerate() {
                *place = value(row, column);
            }
        }
        matrix
    }

    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.columns..][..self.columns]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_each_other() {
        let matrix = Matrix::from_fn(2, 3, |row, column| (10 * row + column) as f64);
        assert_eq!(matrix.values, [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
        assert_eq!(matrix.row(1), [10.0, 11.0, 12.0]);
    }
}
