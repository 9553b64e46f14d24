//! Real FFT: 2·N windowed samples in, packed as N complex values; their N lowest frequency bins out, in place.
//!
//! The arithmetic is that of a decimation-in-time FFT of radix 4 on 16-bit values: every stage first scales each
//! operand down by its radix, rounding to nearest, then rotates and adds, and sums wrap at 16 bits. It equals kissfft with
//! `FIXED_POINT=16` bit for bit, which is what the micro frontend runs on.

use super::{Complex, Fft};

/// Transforms in place. Every input is first shifted up by `shift` bits; the spectrum comes out divided by 2·N.
/// Bin 0 is the mean; the bin at half the sample rate is not kept.
pub fn apply(fft: &Fft, points: &mut [Complex], shift: u32) {
    reorder(points);
    let mut span = first_stage(points, shift);
    let mut rotations = fft.rotations;
    while let Some((stage, rest)) = rotations.split_at_checked(span) {
        if stage.is_empty() {
            break;
        }
        radix4(points, stage);
        rotations = rest;
        span *= 4;
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

/// Puts the input into the order in which the stages combine it: base-4 digits reversed, a lone lowest bit last.
fn reorder(points: &mut [Complex]) {
    let bits = points.len().trailing_zeros();
    let unused = usize::BITS.saturating_sub(bits);
    if bits.is_multiple_of(2) {
        swap(points, |k| swap_pairs(k.reverse_bits().wrapping_shr(unused)));
    } else {
        // Not its own inverse, so it is done as two that are: all bits reversed, then the bits of each digit swapped.
        swap(points, |k| k.reverse_bits().wrapping_shr(unused));
        swap(points, |k| (k & 1) | (swap_pairs(k >> 1) << 1));
    }
}

/// Applies a permutation that is its own inverse.
fn swap(points: &mut [Complex], place: impl Fn(usize) -> usize) {
    for k in 0..points.len() {
        let other = place(k);
        if k < other
            && let Ok([a, b]) = points.get_disjoint_mut([k, other])
        {
            core::mem::swap(a, b);
        }
    }
}

fn swap_pairs(k: usize) -> usize {
    const EVEN: usize = usize::MAX / 3;
    ((k & EVEN) << 1) | ((k >> 1) & EVEN)
}

/// The stage that needs no rotation: 4 points each, or 2 when their number is not a power of 4. Returns its span.
///
/// kissfft multiplies by 32767/32768 here; after scaling down, no value is large enough for that to change it:
/// (32767·x + 2¹⁴) >> 15 = x for −2¹⁴ < x ≤ 2¹⁴.
fn first_stage(points: &mut [Complex], shift: u32) -> usize {
    let up = |value: i16| value.wrapping_shl(shift);
    if points.len().trailing_zeros().is_multiple_of(2) {
        let (blocks, _) = points.as_chunks_mut::<4>();
        for block in blocks {
            let operands = block.map(|point| (quarter(up(point.re)), quarter(up(point.im))));
            *block = combine(operands);
        }
        4
    } else {
        let (blocks, _) = points.as_chunks_mut::<2>();
        for block in blocks {
            let [a, b] = block.map(|point| (halve(up(point.re)), halve(up(point.im))));
            *block = [wrap((a.0 + b.0, a.1 + b.1)), wrap((a.0 - b.0, a.1 - b.1))];
        }
        2
    }
}

/// A stage that turns each four neighbouring spectra of `rotations.len()` points into one.
fn radix4(points: &mut [Complex], rotations: &[[Complex; 3]]) {
    let span = rotations.len();
    for block in points.chunks_exact_mut(4 * span) {
        let Some((half0, half1)) = block.split_at_mut_checked(2 * span) else {
            return;
        };
        let (Some((p0, p1)), Some((p2, p3))) = (half0.split_at_mut_checked(span), half1.split_at_mut_checked(span))
        else {
            return;
        };
        for ((((p0, p1), p2), p3), [w1, w2, w3]) in p0.iter_mut().zip(p1).zip(p2).zip(p3).zip(rotations) {
            [*p0, *p1, *p2, *p3] = combine([
                (quarter(p0.re), quarter(p0.im)),
                rotate((quarter(p1.re), quarter(p1.im)), *w1),
                rotate((quarter(p2.re), quarter(p2.im)), *w2),
                rotate((quarter(p3.re), quarter(p3.im)), *w3),
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
