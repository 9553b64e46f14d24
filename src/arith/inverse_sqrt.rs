//! The inverse square root, in integers: a small table and two Newton steps.

use super::wide;

/// First guesses 1/√x in Q16, x in steps of a sixteenth from 1 to 4, each taken at the middle of its step.
const GUESSES: [u32; 48] = guesses();

/// `2⁴⁶ / √value` for a value in [2³⁰, 2³²), at most 2³¹ − 1.
///
/// The relative error is below 2⁻²² (see `host-tests`). Smaller values are treated as 2³⁰.
///
/// ```
/// use microformer::arith::inverse_sqrt_q31;
/// let half = inverse_sqrt_q31(u32::MAX); // 1/√4, in units of 2³¹
/// assert!(half.abs_diff(1 << 30) < 1 << 7);
/// ```
#[must_use]
pub fn inverse_sqrt_q31(value: u32) -> i32 {
    let value = value.max(1 << 30);
    let guess = GUESSES.get((value >> 26) as usize - 16).copied().unwrap_or(0);
    // y ← y · (3 − x·y²) / 2, with x = value / 2³⁰ in [1, 4) and y in Q31, in (1/2, 1].
    let mut root_q31 = guess << 15;
    let mut step = 0;
    while step < 2 {
        let square_q30 = multiply_high(root_q31, root_q31);
        let product_q28 = multiply_high(value, square_q30);
        let factor_q28 = (3 << 28) - product_q28;
        // Q31 · Q28 / 2³² = Q27, twice too large: four more bits, less the halving.
        root_q31 = (wide(root_q31, factor_q28) >> 29) as u32;
        step += 1;
    }
    root_q31.min(i32::MAX as u32) as i32
}

const fn multiply_high(a: u32, b: u32) -> u32 {
    (wide(a, b) >> 32) as u32
}

/// Integer square roots at build time, exact to one unit.
const fn guesses() -> [u32; 48] {
    let mut table = [0; 48];
    let mut index = 0;
    while index < table.len() {
        // x = (i + ½) / 16 with i from 16: y = 1/√x = √(32 / (2i + 1)); y in Q16 is √(2³⁷ / (2i + 1)).
        let odd = 2 * (index as u64 + 16) + 1;
        let root = ((1u64 << 37) / odd).isqrt();
        table[index] = if root > 65535 { 65535 } else { root as u32 };
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_four_are_exact_enough() {
        assert!(inverse_sqrt_q31(1 << 30).abs_diff(i32::MAX) < 1 << 9);
        assert!(inverse_sqrt_q31(9 << 28).abs_diff(((1u64 << 32) / 3) as i32) < 1 << 9);
    }
}
