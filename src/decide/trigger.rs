//! When a word counts as heard: its posterior rose over the threshold and has just passed its peak.

use fixed::types::U1F15;
use microformer_packed::Decide;

/// A word that was spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub label: usize,
    /// The token at which its posterior began to rise, and the one at which it was highest, counted from the start.
    pub start: u64,
    pub end: u64,
    /// The highest posterior.
    pub confidence: U1F15,
}

/// The word that is being heard, and how long the last one keeps others off.
#[derive(Clone, Debug)]
pub struct Trigger {
    token: u64,
    /// Tokens until the next event may begin.
    hold: usize,
    rising: Option<Event>,
}

impl Trigger {
    #[must_use]
    pub const fn new() -> Self {
        Self { token: 0, hold: 0, rising: None }
    }

    /// Takes the smoothed posteriors of one token; returns the word that has just passed its peak.
    pub fn step(&mut self, decide: &Decide, posteriors: &[U1F15]) -> Option<Event> {
        let token = self.token;
        self.token += 1;
        if self.hold > 0 {
            self.hold -= 1;
            return None;
        }
        let (label, confidence) = best(decide, posteriors)?;
        let threshold = decide.thresholds.get(label).copied().unwrap_or(Decide::NEVER);
        match self.rising {
            Some(event) if event.label == label && confidence > event.confidence => {
                self.rising = Some(Event { end: token, confidence, ..event });
                None
            }
            // Past its peak: heard, if the peak was high enough; otherwise it goes on waiting for a better word.
            Some(event) if reaches(decide, &event) => {
                self.rising = None;
                self.hold = decide.hold_off;
                Some(event)
            }
            _ => {
                // A word begins to rise at a quarter of its threshold.
                let begins = confidence.to_bits() >= threshold / 4;
                let start = match self.rising {
                    Some(event) if event.label == label => event.start,
                    _ => token,
                };
                self.rising = begins.then_some(Event { label, start, end: token, confidence });
                None
            }
        }
    }
}

/// The likeliest label that is a word.
fn best(decide: &Decide, posteriors: &[U1F15]) -> Option<(usize, U1F15)> {
    let words = posteriors.iter().zip(decide.thresholds).enumerate();
    let words = words.filter(|(_, (_, threshold))| **threshold != Decide::NEVER);
    words.map(|(label, (&posterior, _))| (label, posterior)).max_by_key(|(_, posterior)| *posterior)
}

fn reaches(decide: &Decide, event: &Event) -> bool {
    decide.thresholds.get(event.label).is_some_and(|threshold| event.confidence.to_bits() >= *threshold)
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

    fn run(values: &[[f32; 3]]) -> [Option<Event>; 12] {
        let mut trigger = Trigger::new();
        core::array::from_fn(|token| {
            let posteriors = values.get(token).unwrap_or(&[1.0, 0.0, 0.0]).map(U1F15::from_num);
            trigger.step(&DECIDE, &posteriors)
        })
    }

    #[test]
    fn one_event_at_the_peak() {
        let heard = run(&[[0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0], [0.4, 0.6, 0.0]]);
        let event = Event { label: 1, start: 1, end: 2, confidence: U1F15::from_num(0.8) };
        assert_eq!(heard[3], Some(event));
        assert_eq!(heard.iter().flatten().count(), 1);
    }

    #[test]
    fn too_quiet_a_peak_is_no_event() {
        let heard = run(&[[0.6, 0.4, 0.0], [0.7, 0.3, 0.0], [0.9, 0.1, 0.0]]);
        assert_eq!(heard.iter().flatten().count(), 0);
    }

    #[test]
    fn a_second_word_waits_for_the_hold_off() {
        let word = [0.1, 0.9, 0.0];
        let other = [0.1, 0.0, 0.9];
        let heard = run(&[word, other, other, other, other, other]);
        assert_eq!(heard[1].map(|event| event.label), Some(1));
        assert_eq!(heard[5].map(|event| (event.label, event.start)), None);
        assert_eq!(heard[6].map(|event| (event.label, event.start)), Some((2, 5)));
    }
}
