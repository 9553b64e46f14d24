//! Real FFT: 2·N windowed samples in, packed as N complex values; their N lowest frequency bins out, in place.
//!
//! A decimation-in-time FFT of radix 4 on 16-bit values, which equals kissfft with `FIXED_POINT=16` bit for bit: that is
//! what the micro frontend runs on. Its arithmetic is that of [`crate::kernels::portable`]; here is the order of its steps.

use super::{Complex, Fft};
use crate::kernels::{first_fours, first_twos, fours, portable, untangle};

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
            stage::<2>(points, rotations);
            stage::<8>(points, rotations);
            stage::<32>(points, rotations);
        }
        256 => {
            first_fours(points, shift);
            stage::<4>(points, rotations);
            stage::<16>(points, rotations);
            stage::<64>(points, rotations);
        }
        512 => {
            first_twos(points, shift);
            stage::<2>(points, rotations);
            stage::<8>(points, rotations);
            stage::<32>(points, rotations);
            stage::<128>(points, rotations);
        }
        _ => return,
    }
    separate(fft, points);
}

/// Turns each four neighbouring spectra of `SPAN` points into one; takes its rotations from the front.
fn stage<const SPAN: usize>(points: &mut [Complex], rotations: &mut &[[Complex; 3]]) {
    let Some((these, rest)) = rotations.split_first_chunk::<SPAN>() else { return };
    *rotations = rest;
    fours(points, these);
}

/// From the spectrum of the packed pairs to the spectrum of the real samples.
fn separate(fft: &Fft, points: &mut [Complex]) {
    let half = points.len() / 2;
    let [mean, rest @ ..] = points else { return };
    *mean = Complex::new((portable::halve(mean.re) + portable::halve(mean.im)) as i16, 0);
    let Some((low, high)) = rest.split_at_mut_checked(half.saturating_sub(1)) else {
        return;
    };
    let [middle, high @ ..] = high else { return };
    untangle(low, high, fft.untangle);
    if let Some(&rotation) = fft.untangle.last() {
        (_, *middle) = portable::untangle_bins(*middle, *middle, rotation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
