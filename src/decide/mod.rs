//! Scores → events: posterior, smoothing, trigger. One [`Event`] for each spoken word.
//!
//! Times are tokens since the start; only `pipeline` knows how many samples a token has.

mod posterior;
mod smooth;
mod trigger;

pub use fixed::types::U1F15;
pub use microformer_packed::Decide;
pub use posterior::posteriors;
pub use smooth::Smooth;
pub use trigger::{Event, Trigger};

/// What deciding remembers, for `LABELS` labels.
#[derive(Clone, Debug)]
pub struct State<const LABELS: usize> {
    smooth: Smooth<LABELS>,
    trigger: Trigger,
}

impl<const LABELS: usize> State<LABELS> {
    /// Nothing heard yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { smooth: Smooth::new(), trigger: Trigger::new() }
    }

    /// Takes the scores of one token, `1 << fraction_bits` to a natural-logarithm unit; returns what was just heard.
    pub fn step(&mut self, decide: &Decide, scores: &[i16], fraction_bits: u32) -> Option<Event> {
        let mut newest = [U1F15::ZERO; LABELS];
        posteriors(scores, fraction_bits, &mut newest);
        let smoothed = self.smooth.step(decide.smoothing, &newest);
        self.trigger.step(decide, smoothed)
    }

    /// The smoothed posteriors after the last step.
    #[must_use]
    pub fn posteriors(&self) -> &[U1F15; LABELS] {
        self.smooth.mean()
    }
}

impl<const LABELS: usize> Default for State<LABELS> {
    fn default() -> Self {
        Self::new()
    }
}
