//! When a word counts as heard: its posterior reached the threshold, and no word's was higher for a while after it.

use fixed::types::U1F15;
use microformer_packed::Decide;

/// A word that was spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub label: usize,
    /// The token at which its posterior rose over one half, or over a lower threshold, and the one at which it was
    /// highest, counted from the start.
    pub rise: u64,
    pub peak: u64,
    /// The highest posterior.
    pub confidence: U1F15,
}

/// One half, in Q15.
const HALF: u16 = 1 << 14;

/// The word that is being heard, and how long the last one keeps others off.
#[derive(Clone, Debug)]
pub struct Trigger {
    token: u64,
    /// Tokens until the next event may begin.
    hold: usize,
    /// The likeliest word, and the token since which it is.
    rising: Option<(usize, u64)>,
    /// The highest posterior that reached its threshold, until it is certain that none is higher.
    peak: Option<Event>,
}

impl Trigger {
    #[must_use]
    pub const fn new() -> Self {
        Self { token: 0, hold: 0, rising: None, peak: None }
    }

    /// Takes the smoothed posteriors of one token; returns the word whose peak has just become certain.
    pub fn step(&mut self, decide: &Decide, posteriors: &[U1F15]) -> Option<Event> {
        let token = self.token;
        self.token += 1;
        if self.hold > 0 {
            self.hold -= 1;
            return None;
        }
        let (label, confidence) = best(decide, posteriors)?;
        let threshold = decide.thresholds.get(label).copied().unwrap_or(Decide::NEVER);
        let rise = self.rising.filter(|(rising, _)| *rising == label).map_or(token, |(_, rise)| rise);
        self.rising = (confidence.to_bits() >= threshold.min(HALF)).then_some((label, rise));
        let is_higher = self.peak.is_none_or(|peak| confidence > peak.confidence);
        if confidence.to_bits() >= threshold && is_higher {
            self.peak = Some(Event { label, rise, peak: token, confidence });
            return None;
        }
        let event = self.peak?;
        let passed = token.wrapping_sub(event.peak) as usize;
        if passed < patience(decide) {
            return None;
        }
        *self = Self { token: self.token, hold: decide.hold_off.saturating_sub(passed), rising: None, peak: None };
        Some(event)
    }
}

/// Tokens after which a peak is certain. Means over n tokens share all but a few posteriors with their neighbours, so a
/// dip shorter than half of n is not the end of a word.
const fn patience(decide: &Decide) -> usize {
    decide.smoothing.div_ceil(2)
}

/// The likeliest label that is a word.
fn best(decide: &Decide, posteriors: &[U1F15]) -> Option<(usize, U1F15)> {
    let words = posteriors.iter().zip(decide.thresholds).enumerate();
    let words = words.filter(|(_, (_, threshold))| **threshold != Decide::NEVER);
    words.map(|(label, (&posterior, _))| (label, posterior)).max_by_key(|(_, posterior)| *posterior)
}

impl Default for Trigger {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECIDE: Decide<'_> = Decide { smoothing: 1, hold_off: 3, thresholds: &[Decide::NEVER, 16384, 16384] };

    fn run(decide: &Decide, values: &[[f32; 3]]) -> [Option<Event>; 12] {
        let mut trigger = Trigger::new();
        core::array::from_fn(|token| {
            let posteriors = values.get(token).unwrap_or(&[1.0, 0.0, 0.0]).map(U1F15::from_num);
            trigger.step(decide, &posteriors)
        })
    }

    #[test]
    fn one_event_at_the_peak() {
        let heard =
            run(&DECIDE, &[[0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0], [0.4, 0.6, 0.0]]);
        let event = Event { label: 1, rise: 1, peak: 2, confidence: U1F15::from_num(0.8) };
        assert_eq!(heard[3], Some(event));
        assert_eq!(heard.iter().flatten().count(), 1);
    }

    #[test]
    fn too_quiet_a_peak_is_no_event() {
        let heard = run(&DECIDE, &[[0.6, 0.4, 0.0], [0.7, 0.3, 0.0], [0.9, 0.1, 0.0]]);
        assert_eq!(heard.iter().flatten().count(), 0);
    }

    #[test]
    fn a_dip_does_not_end_a_word() {
        let patient = Decide { smoothing: 4, ..DECIDE };
        let (first, second) = ([0.4, 0.6, 0.0], [0.1, 0.0, 0.9]);
        let heard = run(&patient, &[first, [0.5, 0.5, 0.0], second]);
        assert_eq!(heard.iter().flatten().map(|event| (event.label, event.peak)).next(), Some((2, 2)));
        assert_eq!(heard.iter().flatten().count(), 1);
    }

    #[test]
    fn a_second_word_waits_for_the_hold_off() {
        let word = [0.1, 0.9, 0.0];
        let other = [0.1, 0.0, 0.9];
        let heard = run(&DECIDE, &[word, other, other, other, other, other]);
        assert_eq!(heard[1].map(|event| event.label), Some(1));
        // Three tokens after the first word's end there is none; the next begins at token 4.
        assert_eq!(heard.iter().flatten().count(), 2);
        assert_eq!(heard[5].map(|event| (event.label, event.rise)), Some((2, 4)));
    }
}
