//! The mean of the last few posteriors: one wild token is no word.

use fixed::types::U1F15;
use microformer_packed::MAX_SMOOTHING;

/// The last posteriors of every label, their sum and their mean.
#[derive(Clone, Debug)]
pub struct Smooth<const LABELS: usize> {
    ring: [[U1F15; LABELS]; MAX_SMOOTHING],
    slot: usize,
    sum: [u32; LABELS],
    mean: [U1F15; LABELS],
}

impl<const LABELS: usize> Smooth<LABELS> {
    #[must_use]
    pub const fn new() -> Self {
        let none = [U1F15::ZERO; LABELS];
        Self { ring: [none; MAX_SMOOTHING], slot: 0, sum: [0; LABELS], mean: none }
    }

    /// Takes the newest posteriors; returns the mean of the last `len`. Before the start there was nothing: zeros. `len` is
    /// the same at every step, as the sum is kept from one to the next.
    pub fn step(&mut self, len: usize, newest: &[U1F15; LABELS]) -> &[U1F15; LABELS] {
        let len = len.clamp(1, MAX_SMOOTHING);
        let mut oldest = [U1F15::ZERO; LABELS];
        if let Some(place) = self.ring.get_mut(self.slot) {
            oldest = core::mem::replace(place, *newest);
        }
        self.slot = if self.slot + 1 < len { self.slot + 1 } else { 0 };
        for (((sum, mean), newest), oldest) in self.sum.iter_mut().zip(&mut self.mean).zip(newest).zip(oldest) {
            *sum = (*sum + u32::from(newest.to_bits())).saturating_sub(u32::from(oldest.to_bits()));
            *mean = U1F15::from_bits((*sum / len as u32) as u16);
        }
        &self.mean
    }

    #[must_use]
    pub const fn mean(&self) -> &[U1F15; LABELS] {
        &self.mean
    }
}

impl<const LABELS: usize> Default for Smooth<LABELS> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_three() {
        let mut smooth = Smooth::<1>::new();
        let one = [U1F15::ONE];
        assert_eq!(smooth.step(3, &one)[0].to_bits(), 32768 / 3);
        smooth.step(3, &one);
        assert_eq!(smooth.step(3, &one)[0], U1F15::ONE);
        smooth.step(3, &[U1F15::ZERO]);
        assert_eq!(smooth.mean()[0].to_bits(), 32768 / 3 * 2 + 1);
    }
}
