//! Seeded random numbers: the same in every run and on every machine.

/// SplitMix64 (Steele et al., 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [−1, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Near to normal: the sum of twelve uniform values, with variance 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit() / 2.0).sum()
    }

    /// Uniform below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// Uniform in `least ..= most`.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        let span = (i128::from(most) - i128::from(least) + 1) as u128;
        (i128::from(least) + ((u128::from(self.bits()) * span) >> 64) as i128) as i64
    }

    /// An 8-bit activation.
    pub fn byte(&mut self) -> i8 {
        (self.below(255) as i32 - 127) as i8
    }

    /// 8-bit activations; every eighth vector holds nothing but extremes.
    pub fn bytes(&mut self, len: usize) -> Vec<i8> {
        let extreme = self.below(8) == 0;
        (0..len).map(|_| if extreme { [-127, 127][self.below(2)] } else { self.byte() }).collect()
    }
}
