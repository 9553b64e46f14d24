//! The steps of a Fourier transform on 16-bit complex values, as kissfft with `FIXED_POINT=16` computes them, bit for bit:
//! each first scales its operands down, rounding to nearest, then rotates and adds; sums wrap at 16 bits.

use microformer_packed::signal::Complex;

/// The first step where the number of points is a power of four: four points each, shifted up by `shift` bits.
///
/// kissfft multiplies by 32767/32768 here; after scaling down, no value is large enough for that to change it:
/// (32767·x + 2¹⁴) >> 15 = x for −2¹⁴ < x ≤ 2¹⁴.
pub fn first_fours(points: &mut [Complex], shift: u32) {
    let up = |value: i16| value.wrapping_shl(shift);
    let (blocks, _) = points.as_chunks_mut::<4>();
    for block in blocks {
        *block = combine(block.map(|point| (quarter(up(point.re)), quarter(up(point.im)))));
    }
}

/// The first step where it is none: two points each.
pub fn first_twos(points: &mut [Complex], shift: u32) {
    let up = |value: i16| value.wrapping_shl(shift);
    let (blocks, _) = points.as_chunks_mut::<2>();
    for block in blocks {
        let [a, b] = block.map(|point| (halve(up(point.re)), halve(up(point.im))));
        *block = [wrap((a.0 + b.0, a.1 + b.1)), wrap((a.0 - b.0, a.1 - b.1))];
    }
}

/// Turns each four neighbouring spectra of `SPAN` points into one.
pub fn fours<const SPAN: usize>(points: &mut [Complex], rotations: &[[Complex; 3]; SPAN]) {
    let (spectra, _) = points.as_chunks_mut::<SPAN>();
    let (blocks, _) = spectra.as_chunks_mut::<4>();
    for [p0, p1, p2, p3] in blocks {
        for k in 0..SPAN {
            let [w1, w2, w3] = rotations[k];
            [p0[k], p1[k], p2[k], p3[k]] = combine([
                (quarter(p0[k].re), quarter(p0[k].im)),
                rotate((quarter(p1[k].re), quarter(p1[k].im)), w1),
                rotate((quarter(p2[k].re), quarter(p2[k].im)), w2),
                rotate((quarter(p3[k].re), quarter(p3[k].im)), w3),
            ]);
        }
    }
}

/// From the spectrum of packed pairs to that of the real samples: bins k in `low`, bins N − k in `high`, from its end on.
pub fn untangle(low: &mut [Complex], high: &mut [Complex], rotations: &[Complex]) {
    for ((a, b), &rotation) in low.iter_mut().zip(high.iter_mut().rev()).zip(rotations) {
        (*a, *b) = untangle_bins(*a, *b, rotation);
    }
}

/// Bins k and N − k.
#[inline(always)]
pub fn untangle_bins(low: Complex, high: Complex, rotation: Complex) -> (Complex, Complex) {
    let a = (halve(low.re), halve(low.im));
    let b = (halve(high.re), halve(high.im.wrapping_neg()));
    let even = (a.0 + b.0, a.1 + b.1);
    // Both parts reach 2 · 16383 = 32766, so a product sum stays below 2 · 32766 · 32767 + 2¹⁴ < 2³¹.
    let odd = wrap(rotate((a.0 - b.0, a.1 - b.1), rotation));
    let odd = (i32::from(odd.re), i32::from(odd.im));
    (wrap(((even.0 + odd.0) >> 1, (even.1 + odd.1) >> 1)), wrap(((even.0 - odd.0) >> 1, (odd.1 - even.1) >> 1)))
}

/// The transform of four points. Sums are cut to 16 bits at the end only, which equals cutting each of them.
#[inline(always)]
fn combine([a, b, c, d]: [(i32, i32); 4]) -> [Complex; 4] {
    let even_sum = (a.0 + c.0, a.1 + c.1);
    let even_difference = (a.0 - c.0, a.1 - c.1);
    let odd_sum = (b.0 + d.0, b.1 + d.1);
    let odd_difference = (b.0 - d.0, b.1 - d.1);
    [
        wrap((even_sum.0 + odd_sum.0, even_sum.1 + odd_sum.1)),
        wrap((even_difference.0 + odd_difference.1, even_difference.1 - odd_difference.0)),
        wrap((even_sum.0 - odd_sum.0, even_sum.1 - odd_sum.1)),
        wrap((even_difference.0 - odd_difference.1, even_difference.1 + odd_difference.0)),
    ]
}

#[inline(always)]
fn rotate((re, im): (i32, i32), by: Complex) -> (i32, i32) {
    let (by_re, by_im) = (i32::from(by.re), i32::from(by.im));
    (round(re * by_re - im * by_im), round(re * by_im + im * by_re))
}

/// Back from a product of two values with 15 fractional bits, to nearest.
#[inline(always)]
fn round(product: i32) -> i32 {
    (product + (1 << 14)) >> 15
}

/// A quarter, as kissfft has it: by 32767 / 4, rounded down, over 2¹⁵.
#[inline(always)]
fn quarter(value: i16) -> i32 {
    round(i32::from(value) * 8191)
}

/// Half, likewise.
#[inline(always)]
pub fn halve(value: i16) -> i32 {
    round(i32::from(value) * 16383)
}

/// The low 16 bits of both parts.
#[inline(always)]
fn wrap((re, im): (i32, i32)) -> Complex {
    Complex { re: re as i16, im: im as i16 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_down_rounds_as_kissfft_does() {
        // 8191 / 32768 is a little less than a quarter, and 16383 / 32768 than a half, so that ties round down.
        assert_eq!([0, 1, 2, 3, -2, -3].map(quarter), [0, 0, 0, 1, 0, -1]);
        assert_eq!([32767, -32768].map(quarter), [8191, -8191]);
        assert_eq!([1, 3, -1, 32767, -32768].map(halve), [0, 1, 0, 16383, -16383]);
    }

    #[test]
    fn four_points_are_transformed() {
        // Values 1, i, −1, −i: all of it in the first bin.
        let turning = [(100, 0), (0, 100), (-100, 0), (0, -100)];
        assert_eq!(combine(turning), [Complex::ZERO, Complex::new(400, 0), Complex::ZERO, Complex::ZERO]);
        assert_eq!(
            combine([(0, 0), (10, 0), (0, 0), (0, 0)]).map(|bin| (bin.re, bin.im)),
            [(10, 0), (0, -10), (-10, 0), (0, 10)]
        );
    }

    #[test]
    fn sums_wrap_at_sixteen_bits() {
        let [sum, ..] = combine([(20000, 0), (20000, 0), (0, 0), (0, 0)]);
        assert_eq!(sum.re, (40000i32 - 65536) as i16);
    }

    #[test]
    fn a_quarter_turn_moves_real_to_imaginary() {
        assert_eq!(rotate((8000, 0), Complex::new(0, -32767)), (0, -8000));
        assert_eq!(rotate((8000, -4000), Complex::new(32767, 0)), (8000, -4000));
    }
}
