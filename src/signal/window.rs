//! Window: samples in, windowed samples out, packed as complex pairs for the transform.
//!
//! Each product is `(sample · coefficient) >> 12`, cut to 16 bits. The largest magnitude comes back too: it decides
//! how far the transform may scale the frame up.

use super::{Complex, Window};

/// Writes the windowed samples `x[2k] + i·x[2k + 1]` to `output[k]`, zeros after them, and returns how many bits the
/// largest magnitude has: 0 to 15. A value of −32768 does not count, as it does not in the micro frontend.
pub fn apply(window: &Window, samples: &[i16], output: &mut [Complex]) -> u32 {
    let (samples, _) = samples.as_chunks::<2>();
    let (coefficients, _) = window.coefficients.as_chunks::<2>();
    let Some((output, padding)) = output.split_at_mut_checked(coefficients.len()) else { return 0 };
    let mut magnitudes = 0;
    for ((sample, coefficient), place) in samples.iter().zip(coefficients).zip(output) {
        let re = scale(sample[0], coefficient[0]);
        let im = scale(sample[1], coefficient[1]);
        // All magnitudes or-ed together are as long as the longest.
        magnitudes |= re.unsigned_abs() | im.unsigned_abs();
        *place = Complex::new(re as i16, im as i16);
    }
    padding.fill(Complex::ZERO);
    u32::BITS - (magnitudes & 0x7FFF).leading_zeros()
}

fn scale(sample: i16, coefficient: i16) -> i32 {
    (i32::from(sample) * i32::from(coefficient)) >> Window::COEFFICIENT_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(samples: &[i16]) -> (u32, [Complex; 3]) {
        let window = Window { coefficients: &[0, 2048, 4096, 1], step: 2 };
        let mut output = [Complex { re: 7, im: 7 }; 3];
        (super::apply(&window, samples, &mut output), output)
    }

    #[test]
    fn multiplies_rounds_down_and_pads_with_zeros() {
        let (bits, output) = apply(&[1000, 1001, -1000, -1]);
        assert_eq!(output[0], Complex { re: 0, im: 500 });
        assert_eq!(output[1], Complex { re: -1000, im: -1 });
        assert_eq!(output[2], Complex::ZERO);
        assert_eq!(bits, 10);
    }

    #[test]
    fn lowest_sample_does_not_count() {
        let (bits, output) = apply(&[0, 6, -32768, 0]);
        assert_eq!(output[1].re, -32768);
        assert_eq!(bits, 2);
    }
}
