//! A seed in, numbers that look random out: the same ones everywhere.

/// A counter whose steps are scrambled by MurmurHash3's finaliser: 32-bit products only, and no seed is a bad one.
#[derive(Clone, Debug)]
pub struct Random {
    counter: u32,
}

impl Random {
    #[must_use]
    pub const fn new(seed: u32) -> Self {
        Self { counter: seed }
    }

    /// The next 32 bits.
    #[allow(clippy::should_implement_trait)] // It never ends, and an iterator's `Option` would say that it may.
    pub fn next(&mut self) -> u32 {
        // The golden ratio's fraction, odd: the counter meets every value once in 2³² steps.
        self.counter = self.counter.wrapping_add(0x9e37_79b9);
        let mut bits = self.counter;
        bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
        bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
        bits ^ (bits >> 16)
    }

    /// A number from 0 to `limit` − 1; 0 where `limit` is 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(limit)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_seed_never_changes() {
        let mut random = Random::new(1);
        assert_eq!([random.next(), random.next(), random.next()], [0x96a0_f96b, 0x12bc_8390, 0x971e_9964]);
    }

    #[test]
    fn numbers_fill_their_range_evenly() {
        let mut random = Random::new(0);
        let mut counts = [0; 10];
        for _ in 0..10_000 {
            counts[random.below(10) as usize] += 1;
        }
        // 1,000 expected, standard deviation 30.
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!(random.below(0), 0);
    }
}
