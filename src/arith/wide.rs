//! A product of 64 bits, also where the chip multiplies 32 bits only.

/// `a · b`.
///
/// A Cortex-M0 has no instruction for it, and the compiler's function multiplies 64 bits by 64: four products of halves take
/// half as long.
#[inline(always)]
#[must_use]
pub const fn wide(a: u32, b: u32) -> u64 {
    if !cfg!(armv6m) {
        return a as u64 * b as u64;
    }
    let (upper, lower) = (a >> 16, a & 0xFFFF);
    let (high, low) = (b >> 16, b & 0xFFFF);
    let bottom = lower * low;
    // Neither sum leaves 32 bits: (2¹⁶ − 1)² + 2 · (2¹⁶ − 1) = 2³² − 1.
    let first = upper * low + (bottom >> 16);
    let second = lower * high + (first & 0xFFFF);
    let top = upper * high + (first >> 16) + (second >> 16);
    (top as u64) << 32 | (second << 16 | bottom & 0xFFFF) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_product_is_exact() {
        assert_eq!(wide(u32::MAX, u32::MAX), 0xFFFF_FFFE_0000_0001);
        assert_eq!(wide(0x8000_0001, 0x1_0003), 0x8001_8001_0003);
    }
}
