//! The mean of the last few posteriors: one wild token is no word.

use fixed::types::U1F15;
use microformer_packed::MAX_SMOOTHING;

/// The last posteriors of every label, and their mean.
#[derive(Clone, Debug)]
pub struct Smooth<const LABELS: usize> {
    ring: [[U1F15; LABELS]; MAX_SMOOTHING],
    slot: usize,
    mean: [U1F15; LABELS],
}

impl<const LABELS: usize> Smooth<LABELS> {
    #[must_use]
    pub const fn new() -> Self {
        Self { ring: [[U1F15::ZERO; LABELS]; MAX_SMOOTHING], slot: 0, mean: [U1F15::ZERO; LABELS] }
    }

    /// Takes the newest posteriors; returns the mean of the last `len`. Before the start there was nothing: zeros.
    pub fn step(&mut self, len: usize, newest: &[U1F15; LABELS]) -> &[U1F15; LABELS] {
        let len = len.clamp(1, MAX_SMOOTHING);
        if let Some(place) = self.ring.get_mut(self.slot) {
            *place = *newest;
        }
        self.slot = if self.slot + 1 < len { self.slot + 1 } else { 0 };
        for (label, mean) in self.mean.iter_mut().enumerate() {
            let values = self.ring.iter().take(len).filter_map(|posteriors| posteriors.get(label));
            let sum: u32 = values.map(|value| u32::from(value.to_bits())).sum();
            *mean = U1F15::from_bits(sum.checked_div(len as u32).unwrap_or(0) as u16);
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
