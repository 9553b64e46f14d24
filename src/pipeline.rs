//! The whole way, in order: samples → signal → model → decide → event. Owns all state; only this file knows the order.

use microformer_packed::{Model, Pool, signal::FrontEnd, signal::Normalize};

use crate::{decide, model, signal};

/// What a listening application is made of: constants only, all in flash.
#[derive(Clone, Copy, Debug)]
pub struct Listener<'a> {
    pub front_end: FrontEnd<'a>,
    pub normalize: Normalize<'a>,
    pub model: &'a Model<'a>,
    pub decide: decide::Decide<'a>,
}

impl Listener<'_> {
    /// Samples from one token to the next.
    #[must_use]
    pub const fn samples_per_token(&self) -> usize {
        self.front_end.window.step * self.model.stride()
    }

    /// Tokens that a word is taken to last: half of what the scores are a mean of.
    const fn word(&self) -> u64 {
        match self.model.pool {
            Pool::Each => 0,
            Pool::Mean { tokens } => tokens as u64 / 2,
        }
    }
}

/// Everything that a listening application remembers. `bake` writes the type that fits a model.
#[derive(Clone, Debug)]
pub struct Pipeline<
    const WINDOW: usize,
    const POINTS: usize,
    const CHANNELS: usize,
    const WORDS: usize,
    const LABELS: usize,
> {
    signal: signal::State<WINDOW, POINTS, CHANNELS>,
    model: model::State<[u32; WORDS]>,
    decide: decide::State<LABELS>,
    scores: [i16; LABELS],
}

/// What one call has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All samples are taken; more are needed.
    Hungry,
    /// A frame was heard, and no token is complete yet.
    Frame,
    /// A token is complete: there are new scores and posteriors, and perhaps a word was heard.
    Token(Option<Heard>),
}

/// A word that was heard, with its times in samples since the start: it ended about when its posterior rose. When it
/// began is an estimate, as if all words were equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    pub label: usize,
    pub start: u64,
    pub end: u64,
    pub confidence: decide::U1F15,
}

impl<const WINDOW: usize, const POINTS: usize, const CHANNELS: usize, const WORDS: usize, const LABELS: usize>
    Pipeline<WINDOW, POINTS, CHANNELS, WORDS, LABELS>
{
    /// Nothing heard yet.
    ///
    /// # Panics
    /// When the sizes are not the model's: at compile time, in a static.
    #[must_use]
    pub const fn new(listener: &Listener) -> Self {
        assert!(LABELS == listener.model.labels.len(), "one score for each label");
        assert!(CHANNELS == listener.model.features(), "the model takes one feature for each channel");
        Self {
            signal: signal::State::new(),
            model: model::State::new(listener.model, 1),
            decide: decide::State::new(),
            scores: [0; LABELS],
        }
    }

    /// Takes samples until something happens; `samples` keeps those that are not taken yet.
    pub fn listen(&mut self, listener: &Listener, samples: &mut &[i16]) -> Progress {
        let mut features = [0; CHANNELS];
        if !self.signal.process(&listener.front_end, samples, &mut features) {
            return Progress::Hungry;
        }
        let mut frame = [0; CHANNELS];
        signal::normalize::apply(&listener.normalize, &features, &mut frame);
        let Some(scores) = self.model.step(listener.model, &frame) else { return Progress::Frame };
        for (kept, &score) in self.scores.iter_mut().zip(scores) {
            *kept = score;
        }
        let event = self.decide.step(&listener.decide, &self.scores, listener.model.score_fraction_bits);
        Progress::Token(event.map(|event| heard(listener, event)))
    }

    /// The scores of the last token.
    #[must_use]
    pub const fn scores(&self) -> &[i16; LABELS] {
        &self.scores
    }

    /// The smoothed posteriors of the last token.
    #[must_use]
    pub fn posteriors(&self) -> &[decide::U1F15; LABELS] {
        self.decide.posteriors()
    }
}

/// Tokens become samples. The mean of n posteriors rises n/2 tokens after the posteriors themselves.
#[must_use]
pub fn heard(listener: &Listener, event: decide::Event) -> Heard {
    let decide::Event { label, rise, confidence, .. } = event;
    let sample = |tokens: u64| tokens * listener.samples_per_token() as u64;
    let end = (rise + 1).saturating_sub(listener.decide.smoothing as u64 / 2);
    Heard { label, start: sample(end.saturating_sub(listener.word())), end: sample(end), confidence }
}
