//! When scores become an event: smoothing, thresholds, hold-off.

/// The longest mean over neighbouring posteriors.
pub const MAX_SMOOTHING: usize = 24;

/// How a stream of scores is turned into events.
#[derive(Clone, Copy, Debug)]
pub struct Decide<'a> {
    /// Posteriors of so many tokens are averaged, 1 to [`MAX_SMOOTHING`].
    pub smoothing: usize,
    /// Tokens after the end of an event in which there is no other.
    pub hold_off: usize,
    /// For each label the posterior in Q15 at which it is heard; [`Decide::NEVER`] for what is no word.
    pub thresholds: &'a [u16],
}

impl Decide<'_> {
    /// A threshold that no posterior reaches.
    pub const NEVER: u16 = u16::MAX;
}
