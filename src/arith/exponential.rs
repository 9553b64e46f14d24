//! The exponential of a difference to the row's maximum, as a table in flash.

/// Steps of the table to one natural-logarithm unit.
pub const STEPS: i32 = 96;

/// `round(32767 · e^(−i / 96))`: 10.7 units wide, where the exponential has fallen below half of the last bit.
///
/// The last entry is zero and stands for everything further away.
pub static EXPONENTIAL: [i16; 1024] = table();

/// Computed by repeated multiplication in Q62, whose error after 1,023 steps stays below 2⁻⁵¹.
const fn table() -> [i16; 1024] {
    // e^(−1/96) · 2⁶²
    const RATIO_Q62: u128 = 4_563_896_955_889_137_360;
    let mut table = [0; 1024];
    let mut power_q62: u128 = 1 << 62;
    let mut index = 0;
    while index < table.len() - 1 {
        table[index] = ((power_q62 * 32767 + (1 << 61)) >> 62) as i16;
        power_q62 = (power_q62 * RATIO_Q62 + (1 << 61)) >> 62;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_one_and_nothing() {
        assert_eq!(EXPONENTIAL[0], 32767);
        assert_eq!(EXPONENTIAL[1023], 0);
    }
}
