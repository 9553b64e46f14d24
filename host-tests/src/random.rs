//! Seeded random numbers: the same in every run and on every machine.

/// SplitMix64 (Steele et al., 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [−1, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Near to normal: the sum of twelve uniform values, with variance 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit() / 2.0).sum()
    }

    /// Uniform below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// An 8-bit activation.
    pub fn byte(&mut self) -> i8 {
        (self.below(255) as i32 - 127) as i8
    }
}
