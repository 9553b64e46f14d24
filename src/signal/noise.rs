//! Noise suppression: each channel's slow average is taken for noise and subtracted.
//!
//! Channel energies in, the same with their estimated noise removed out; the estimates persist from frame to frame.
//! Even and odd channels follow at different rates. At least a fixed share of every value remains.

use super::Noise;

/// Updates `estimates` and subtracts them from `channels`.
pub fn apply(noise: &Noise, channels: &mut [u32], estimates: &mut [u32]) {
    let rates = [noise.even_smoothing, noise.odd_smoothing];
    for (pair, estimates) in channels.chunks_mut(2).zip(estimates.chunks_mut(2)) {
        for ((value, estimate), rate) in pair.iter_mut().zip(estimates).zip(rates) {
            *value = suppress(noise, *value, estimate, u32::from(rate));
        }
    }
}

fn suppress(noise: &Noise, value: u32, estimate: &mut u32, rate: u32) -> u32 {
    let scaled = value.wrapping_shl(noise.smoothing_bits);
    let kept = (1u32 << Noise::SHARE_BITS).wrapping_sub(rate);
    let sum = (u64::from(scaled) * u64::from(rate)).wrapping_add(u64::from(*estimate) * u64::from(kept));
    *estimate = (sum >> Noise::SHARE_BITS) as u32;
    let floor = (u64::from(value) * u64::from(noise.min_signal_remaining)) >> Noise::SHARE_BITS;
    let remaining = scaled.saturating_sub(*estimate).wrapping_shr(noise.smoothing_bits);
    remaining.max(floor as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOISE: Noise =
        Noise { smoothing_bits: 10, even_smoothing: 8192, odd_smoothing: 4096, min_signal_remaining: 1638 };

    #[test]
    fn even_and_odd_channels_follow_at_their_own_rates() {
        let (mut channels, mut estimates) = ([100, 100, 100], [0; 3]);
        apply(&NOISE, &mut channels, &mut estimates);
        assert_eq!(estimates, [50 << 10, 25 << 10, 50 << 10]);
        assert_eq!(channels, [50, 75, 50]);
    }

    #[test]
    fn a_share_of_the_signal_remains_when_noise_exceeds_it() {
        let (mut channels, mut estimates) = ([100], [1 << 20]);
        apply(&NOISE, &mut channels, &mut estimates);
        // 100 · 1638 / 16384 = 9.99, rounded down.
        assert_eq!(channels, [9]);
    }
}
