//! One number for everything that a run has found, so that two machines can compare hours by it (FNV-1a, 32 bits).

use microformer::decide::U1F15;
use microformer::pipeline::Heard;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub u32);

impl Fingerprint {
    pub const fn new() -> Self {
        Self(0x811c_9dc5)
    }

    /// Takes the posteriors of a token and, where a word was heard, all that is known about it.
    pub fn take(&mut self, posteriors: &[U1F15], heard: Option<&Heard>) {
        for posterior in posteriors {
            self.eat(&posterior.to_bits().to_le_bytes());
        }
        if let Some(Heard { label, start, end, confidence }) = heard {
            self.eat(&[*label as u8]);
            self.eat(&start.to_le_bytes());
            self.eat(&end.to_le_bytes());
            self.eat(&confidence.to_bits().to_le_bytes());
        }
    }

    fn eat(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_or_one_sample_changes_it() {
        let print = |bits: u16, heard: Option<Heard>| {
            let mut print = Fingerprint::new();
            print.take(&[U1F15::ZERO, U1F15::from_bits(bits)], heard.as_ref());
            print
        };
        let heard = Heard { label: 1, start: 640, end: 6400, confidence: U1F15::ONE };
        assert_ne!(print(100, None), print(101, None));
        assert_ne!(print(100, None), print(100, Some(heard)));
        assert_ne!(print(100, Some(heard)), print(100, Some(Heard { end: 6401, ..heard })));
        assert_eq!(print(100, Some(heard)), print(100, Some(heard)));
    }
}
