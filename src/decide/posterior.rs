//! Scores → probabilities, by the same table as the softmax of attention.

use fixed::types::U1F15;

use crate::arith::EXPONENTIAL;
use crate::arith::exponential::STEPS;

/// Writes the softmax of `scores`, whose unit is `2^-fraction_bits`.
///
/// ```
/// use microformer::decide::{U1F15, posteriors};
/// let mut probabilities = [U1F15::ZERO; 2];
/// posteriors(&[0, 281], 8, &mut probabilities); // ln 3 in Q8
/// assert!((probabilities[1].to_num::<f64>() - 0.75).abs() < 0.003);
/// ```
pub fn posteriors(scores: &[i16], fraction_bits: u32, probabilities: &mut [U1F15]) {
    let maximum = scores.iter().copied().max().unwrap_or(0);
    let weight = |score: i16| {
        // 16 bits times 96 stays below 2²³.
        let distance = ((i32::from(maximum) - i32::from(score)) * STEPS) >> fraction_bits.min(15);
        EXPONENTIAL.get(distance as usize).map_or(0, |&weight| weight as u32)
    };
    let sum: u32 = scores.iter().map(|&score| weight(score)).sum();
    for (&score, probability) in scores.iter().zip(probabilities) {
        // 2¹⁵ · 2¹⁵ + 2¹⁵ · labels / 2 stays below 2³² for up to 65,536 labels.
        let ratio = ((weight(score) << 15) + sum / 2).checked_div(sum).unwrap_or(0);
        *probability = U1F15::from_bits(ratio.min(1 << 15) as u16);
    }
}
