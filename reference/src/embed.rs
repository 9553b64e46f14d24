//! Frames or token numbers become vectors of the residual stream.
//!
//! Causal: frames before the start count as zeros, and token j sees the frames up to (j + 1) · stride − 1. So T frames
//! give T / stride tokens, rounded down.

use microformer_bake::{
    Matrix,
    config::{Axis, StemShape},
    float::{Linear, Stem},
};

use crate::Observer;
use crate::linear::{dot, linear};

/// The last `frames` frames of each token, oldest first, as one row.
#[must_use]
pub fn gather(frames: usize, stride: usize, input: &Matrix) -> Matrix {
    Matrix::from_fn(input.rows / stride, frames * input.columns, |token, place| {
        let (age, feature) = (place / input.columns, place % input.columns);
        match ((token + 1) * stride + age).checked_sub(frames) {
            Some(frame) => input.row(frame)[feature],
            None => 0.0,
        }
    })
}

/// A row of the table for each token.
#[must_use]
pub fn look_up(table: &Matrix, tokens: &[usize]) -> Matrix {
    Matrix::from_fn(tokens.len(), table.columns, |place, column| table.row(tokens[place])[column])
}

/// Convolution → ReLU → depthwise convolution → ReLU → projection.
///
/// Watched: `embed.convolution` and `embed.depthwise`, after their ReLU, each token as (places, channels).
#[must_use]
pub fn stem(shape: &StemShape, layers: &Stem, input: &Matrix, observe: &mut Observer) -> Matrix {
    let mut wide = convolve(shape, &layers.convolution, input);
    observe("embed.convolution", &mut wide);
    let mut deep = convolve_depthwise(shape, &layers.depthwise, &wide);
    observe("embed.depthwise", &mut deep);
    linear(&layers.projection, &deep)
}

fn convolve(shape: &StemShape, layer: &Linear, input: &Matrix) -> Matrix {
    let kernel = shape.wide.kernel;
    let windows = gather(shape.frames, shape.stride, input);
    Matrix::from_fn(windows.rows, shape.wide.places * shape.channels, |token, index| {
        let (place, channel) = (index / shape.channels, index % shape.channels);
        let mut sum = layer.bias[channel];
        for (frame, weights) in layer.weight.row(channel).chunks_exact(kernel).enumerate() {
            let values = &windows.row(token)[frame * shape.features..][..shape.features];
            sum += dot(weights, &under(&shape.wide, place, |feature| values.get(feature).copied()));
        }
        sum.max(0.0)
    })
}

/// Before the first token there were tokens of zeros.
fn convolve_depthwise(shape: &StemShape, layer: &Linear, wide: &Matrix) -> Matrix {
    let kernel = shape.depth.kernel;
    Matrix::from_fn(wide.rows, shape.depth.places * shape.channels, |token, index| {
        let (place, channel) = (index / shape.channels, index % shape.channels);
        let mut sum = layer.bias[channel];
        for (age, weights) in layer.weight.row(channel).chunks_exact(kernel).enumerate() {
            if let Some(source) = (token + age + 1).checked_sub(shape.depth_tokens) {
                let values = wide.row(source);
                let at = |place: usize| values.get(place * shape.channels + channel).copied();
                sum += dot(weights, &under(&shape.depth, place, at));
            }
        }
        sum.max(0.0)
    })
}

/// The values under the kernel at one place: `value` by index, zeros beyond either end.
fn under(axis: &Axis, place: usize, value: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
    (0..axis.kernel)
        .map(|offset| (place * axis.hop + offset).checked_sub(axis.padding).and_then(&value).unwrap_or(0.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_before_the_start_are_zeros() {
        let input = Matrix { rows: 5, columns: 1, values: vec![1.0, 2.0, 3.0, 4.0, 5.0] };
        assert_eq!(gather(3, 2, &input).values, [0.0, 1.0, 2.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn the_ends_of_a_frame_are_padded() {
        let axis = Axis::over(4, 3, 2);
        let values = [1.0, 2.0, 3.0, 4.0];
        let at = |index: usize| values.get(index).copied();
        assert_eq!((axis.padding, axis.places), (1, 2));
        assert_eq!(under(&axis, 0, at), [0.0, 1.0, 2.0]);
        assert_eq!(under(&axis, 1, at), [2.0, 3.0, 4.0]);
        assert_eq!(under(&Axis::over(4, 3, 1), 3, at), [3.0, 4.0, 0.0]);
    }
}
