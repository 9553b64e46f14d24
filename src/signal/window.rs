//! Window: samples in, windowed samples out, packed as complex pairs for the transform.
//!
//! Each product is `(sample · coefficient) >> 12`, cut to 16 bits. The largest magnitude comes back too: it decides
//! how far the transform may scale the frame up.

use super::{Complex, Window};

/// Writes the windowed samples `x[2k] + i·x[2k + 1]` to `output[k]`, zeros after them, and returns the largest
/// magnitude. A value of −32768 counts as negative in that comparison, as it does in the micro frontend.
pub fn apply(window: &Window, samples: &[i16], output: &mut [Complex]) -> u16 {
    let (samples, _) = samples.as_chunks::<2>();
    let (coefficients, _) = window.coefficients.as_chunks::<2>();
    let mut largest = 0;
    let mut rest = output.iter_mut();
    for ((sample, coefficient), place) in samples.iter().zip(coefficients).zip(&mut rest) {
        let [re, im] = [scale(sample[0], coefficient[0]), scale(sample[1], coefficient[1])];
        largest = largest.max(re.wrapping_abs()).max(im.wrapping_abs());
        *place = Complex { re, im };
    }
    rest.for_each(|place| *place = Complex::ZERO);
    largest.cast_unsigned()
}

fn scale(sample: i16, coefficient: i16) -> i16 {
    ((i32::from(sample) * i32::from(coefficient)) >> Window::COEFFICIENT_BITS) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(samples: &[i16]) -> (u16, [Complex; 3]) {
        let window = Window { coefficients: &[0, 2048, 4096, 1], step: 2 };
        let mut output = [Complex { re: 7, im: 7 }; 3];
        (super::apply(&window, samples, &mut output), output)
    }

    #[test]
    fn multiplies_rounds_down_and_pads_with_zeros() {
        let (largest, output) = apply(&[1000, 1001, -1000, -1]);
        assert_eq!(output[0], Complex { re: 0, im: 500 });
        assert_eq!(output[1], Complex { re: -1000, im: -1 });
        assert_eq!(output[2], Complex::ZERO);
        assert_eq!(largest, 1000);
    }

    #[test]
    fn lowest_sample_does_not_count_as_largest() {
        let (largest, output) = apply(&[0, 6, -32768, 0]);
        assert_eq!(output[1].re, -32768);
        assert_eq!(largest, 3);
    }
}
