//! Seeded random numbers, the same on every machine, with a taste for extremes.

/// Marsaglia's xorshift, 32 bits.
pub struct Random(u32);

impl Random {
    pub fn new(seed: u32) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9) ^ 0x5EED_1234);
        // The first numbers of neighbouring seeds resemble each other.
        for _ in 0..8 {
            random.next();
        }
        random
    }

    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// From 0 to `end` − 1.
    pub fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end.max(1)
    }

    /// From `first` to `last`, both included.
    pub fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    /// In [−limit, limit].
    pub fn within(&mut self, limit: i32) -> i32 {
        (self.next() % (2 * limit as u32 + 1)) as i32 - limit
    }

    /// Activations or weights in [−127, 127]: all of them wide, all at the ends, or all small, as the case has it.
    pub fn fill(&mut self, values: &mut [i8]) {
        let kind = self.below(4);
        for value in values {
            *value = match kind {
                0 if self.next() & 1 == 0 => 127,
                0 => -127,
                1 => self.within(3) as i8,
                _ => self.within(127) as i8,
            };
        }
    }

    /// A residual stream, loud, quiet or at the ends.
    pub fn fill_stream(&mut self, values: &mut [i16]) {
        let kind = self.below(4);
        for value in values {
            *value = match kind {
                0 if self.next() & 1 == 0 => i16::MAX,
                0 => i16::MIN,
                1 => self.within(20) as i16,
                _ => self.within(i32::from(i16::MAX)) as i16,
            };
        }
    }

    /// In [−limit, limit], of any size within.
    pub fn sized_within(&mut self, limit: i32) -> i32 {
        let size = self.below(20);
        self.within(limit >> size)
    }

    /// A multiplier of any size and sign.
    pub fn multiplier(&mut self) -> i32 {
        let size = self.below(31);
        self.next() as i32 >> size
    }
}
