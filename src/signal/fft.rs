//! Real FFT: 2·N windowed samples in, packed as N complex values; their N lowest frequency bins out, in place.
//!
//! The arithmetic is that of a decimation-in-time FFT of radix 4 on 16-bit values: every stage first scales each
//! operand down by its radix, rounding to nearest, then rotates and adds, and sums wrap at 16 bits. It equals kissfft with
//! `FIXED_POINT=16` bit for bit, which is what the micro frontend runs on.

use super::{Complex, Fft};

/// Transforms in place. Every input is first shifted up by `shift` bits; the spectrum comes out divided by 2·N.
/// Bin 0 is the mean; the bin at half the sample rate is not kept. Sizes other than 128, 256 and 512 points do nothing.
pub fn apply(fft: &Fft, points: &mut [Complex], shift: u32) {
    for &[a, b] in fft.swaps {
        if let Ok([a, b]) = points.get_disjoint_mut([usize::from(a), usize::from(b)]) {
            core::mem::swap(a, b);
        }
    }
    let rotations = &mut { fft.rotations };
    match points.len() {
        128 => {
            first_twos(points, shift);
            radix4::<2>(points, rotations);
            radix4::<8>(points, rotations);
            radix4::<32>(points, rotations);
        }
        256 => {
            first_fours(points, shift);
            radix4::<4>(points, rotations);
            radix4::<16>(points, rotations);
            radix4::<64>(points, rotations);
        }
        512 => {
            first_twos(points, shift);
            radix4::<2>(points, rotations);
            radix4::<8>(points, rotations);
            radix4::<32>(points, rotations);
            radix4::<128>(points, rotations);
        }
        _ => return,
    }
    separate(fft, points);
}

/// From the spectrum of the packed pairs to the spectrum of the real samples.
fn separate(fft: &Fft, points: &mut [Complex]) {
    let half = points.len() / 2;
    let [mean, rest @ ..] = points else { return };
    let (re, im) = (halve(mean.re), halve(mean.im));
    *mean = wrap((re + im, 0));
    let Some((low, high)) = rest.split_at_mut_checked(half.saturating_sub(1)) else {
        return;
    };
    let [middle, high @ ..] = high else { return };
    let pairs = low.iter_mut().zip(high.iter_mut().rev());
    for ((a, b), &rotation) in pairs.zip(fft.untangle) {
        (*a, *b) = untangle(*a, *b, rotation);
    }
    if let Some(&rotation) = fft.untangle.last() {
        (_, *middle) = untangle(*middle, *middle, rotation);
    }
}

/// The first stage, of four points each, which needs no rotation.
///
/// kissfft multiplies by 32767/32768 here; after scaling down, no value is large enough for that to change it:
/// (32767·x + 2¹⁴) >> 15 = x for −2¹⁴ < x ≤ 2¹⁴.
fn first_fours(points: &mut [Complex], shift: u32) {
    let up = |value: i16| value.wrapping_shl(shift);
    let (blocks, _) = points.as_chunks_mut::<4>();
    for block in blocks {
        *block = combine(block.map(|point| (quarter(up(point.re)), quarter(up(point.im)))));
    }
}

/// The first stage, of two points each, where their number is no power of four.
fn first_twos(points: &mut [Complex], shift: u32) {
    let up = |value: i16| value.wrapping_shl(shift);
    let (blocks, _) = points.as_chunks_mut::<2>();
    for block in blocks {
        let [a, b] = block.map(|point| (halve(up(point.re)), halve(up(point.im))));
        *block = [wrap((a.0 + b.0, a.1 + b.1)), wrap((a.0 - b.0, a.1 - b.1))];
    }
}

/// A stage that turns each four neighbouring spectra of `SPAN` points into one; takes its rotations from the front.
fn radix4<const SPAN: usize>(points: &mut [Complex], rotations: &mut &[[Complex; 3]]) {
    let Some((stage, rest)) = rotations.split_first_chunk::<SPAN>() else { return };
    *rotations = rest;
    let (spectra, _) = points.as_chunks_mut::<SPAN>();
    let (blocks, _) = spectra.as_chunks_mut::<4>();
    for [p0, p1, p2, p3] in blocks {
        for k in 0..SPAN {
            let [w1, w2, w3] = stage[k];
            [p0[k], p1[k], p2[k], p3[k]] = combine([
                (quarter(p0[k].re), quarter(p0[k].im)),
                rotate((quarter(p1[k].re), quarter(p1[k].im)), w1),
                rotate((quarter(p2[k].re), quarter(p2[k].im)), w2),
                rotate((quarter(p3[k].re), quarter(p3[k].im)), w3),
            ]);
        }
    }
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

/// Bins k and N − k of the real spectrum, from those of the packed pairs.
#[inline(always)]
fn untangle(low: Complex, high: Complex, rotation: Complex) -> (Complex, Complex) {
    let a = (halve(low.re), halve(low.im));
    let b = (halve(high.re), halve(high.im.wrapping_neg()));
    let even = (a.0 + b.0, a.1 + b.1);
    // Both parts reach 2 · 16383 = 32766, so a product sum stays below 2 · 32766 · 32767 + 2¹⁴ < 2³¹.
    let odd = wrap(rotate((a.0 - b.0, a.1 - b.1), rotation));
    let odd = (i32::from(odd.re), i32::from(odd.im));
    (wrap(((even.0 + odd.0) >> 1, (even.1 + odd.1) >> 1)), wrap(((even.0 - odd.0) >> 1, (odd.1 - even.1) >> 1)))
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
fn halve(value: i16) -> i32 {
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

    #[test]
    fn a_constant_is_all_mean() {
        // 4 for each of 2·128 samples, shifted up by 8, comes to 1024; the rotations do not matter then.
        let fft =
            Fft { swaps: &[], rotations: &[[Complex::new(32767, 0); 3]; 42], untangle: &[Complex::new(0, -32767); 64] };
        let mut points = [Complex::new(4, 4); 128];
        apply(&fft, &mut points, 8);
        assert_eq!(points[0], Complex::new(1024, 0));
        assert!(points[1..].iter().all(|&bin| bin == Complex::ZERO));
    }

    #[test]
    fn another_size_is_left_alone() {
        let mut points = [Complex::new(1, 2); 64];
        apply(&Fft { swaps: &[], rotations: &[], untangle: &[] }, &mut points, 0);
        assert_eq!(points, [Complex::new(1, 2); 64]);
    }
}
