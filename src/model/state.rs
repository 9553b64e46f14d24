//! Everything that a running model remembers, in one static, and the two ways through a model.

use bytemuck::cast_slice_mut;
use microformer_packed::{Memory, Model, padded};

use super::block::{Scratch, Watch, enter, run_block};
use super::clock::Clock;
use super::embed::{embed, embed_token};
use super::pool::pool;
use super::probe::{Part, Probe};
use super::words::Words;
use crate::kernels::{LAYOUT, linear_add};

/// The rings and buffers of one running model, in `S`: an array of words in a static, or a vector on a laptop.
#[derive(Clone, Debug)]
pub struct State<S> {
    clock: Clock,
    /// Tokens that pass a layer together; scratch memory grows with it.
    chunk: usize,
    words: S,
}

/// What one step takes in.
#[derive(Clone, Copy, Debug)]
enum Input<'i> {
    Frame(&'i [i8]),
    Token(usize),
}

impl<const WORDS: usize> State<[u32; WORDS]> {
    /// An empty state for `model`, `chunk` tokens wide.
    ///
    /// # Panics
    /// When `WORDS` is not [`Memory::words`], or the weights were packed for another kind of chip: at compile time, in a
    /// static.
    #[must_use]
    pub const fn new(model: &Model, chunk: usize) -> Self {
        assert!(WORDS >= Memory::of(model, chunk).words(), "the state has fewer words than the model needs");
        Self::checked(model, chunk, [0; WORDS])
    }
}

impl<S> State<S> {
    const fn checked(model: &Model, chunk: usize, words: S) -> Self {
        assert!(chunk > 0, "a chunk holds at least one token");
        assert!(model.layout as u8 == LAYOUT as u8, "the model was packed for another kind of chip");
        Self { clock: Clock::START, chunk, words }
    }
}

impl<S: AsMut<[u32]>> State<S> {
    /// An empty state in memory that the caller brings: on a laptop, where sizes are known only at run time.
    ///
    /// # Panics
    /// When there are fewer words than [`Memory::words`], or the weights were packed for another kind of chip.
    #[must_use]
    pub fn with_words(model: &Model, chunk: usize, mut words: S) -> Self {
        assert!(words.as_mut().len() >= Memory::of(model, chunk).words(), "the state has fewer words than needed");
        words.as_mut().fill(0);
        Self::checked(model, chunk, words)
    }

    /// Forgets everything: the next frame is the first.
    pub fn reset(&mut self) {
        self.clock = Clock::START;
        self.words.as_mut().fill(0);
    }

    /// Takes one frame in; returns the scores, one for each label, when it completes a token.
    pub fn step(&mut self, model: &Model, frame: &[i8]) -> Option<&[i16]> {
        self.step_probed(model, frame, &mut ())
    }

    /// [`State::step`], with a look at every layer.
    pub fn step_probed<P: Probe>(&mut self, model: &Model, frame: &[i8], probe: &mut P) -> Option<&[i16]> {
        self.take(model, Input::Frame(frame), probe)
    }

    /// Takes one token in; returns the scores, one for each label.
    pub fn step_token(&mut self, model: &Model, token: usize) -> &[i16] {
        self.step_token_probed(model, token, &mut ())
    }

    /// [`State::step_token`], with a look at every layer.
    pub fn step_token_probed<P: Probe>(&mut self, model: &Model, token: usize, probe: &mut P) -> &[i16] {
        self.take(model, Input::Token(token), probe).unwrap_or(&[])
    }

    /// Takes a whole sequence of frames in, several tokens through each layer at once; `each` sees every score vector.
    pub fn pass(&mut self, model: &Model, frames: &[i8], each: impl FnMut(&[i16])) {
        self.pass_probed(model, frames, each, &mut ());
    }

    /// [`State::pass`], with a look at every layer.
    pub fn pass_probed<P: Probe>(&mut self, model: &Model, frames: &[i8], mut each: impl FnMut(&[i16]), probe: &mut P) {
        let mut run = Run::new(model, self.chunk, &mut self.clock, self.words.as_mut());
        let mut tokens = 0;
        for frame in frames.chunks_exact(model.features().max(1)) {
            if run.embed(tokens, Input::Frame(frame), probe) {
                tokens += 1;
            }
            if tokens == self.chunk {
                run.forward(tokens, &mut each, probe);
                tokens = 0;
            }
        }
        run.forward(tokens, &mut each, probe);
    }

    /// [`State::pass`] over a sequence of tokens.
    pub fn pass_tokens(&mut self, model: &Model, tokens: &[u16], mut each: impl FnMut(&[i16])) {
        let mut run = Run::new(model, self.chunk, &mut self.clock, self.words.as_mut());
        for chunk in tokens.chunks(self.chunk.max(1)) {
            for (index, &token) in chunk.iter().enumerate() {
                run.embed(index, Input::Token(usize::from(token)), &mut ());
            }
            run.forward(chunk.len(), &mut each, &mut ());
        }
    }

    fn take<P: Probe>(&mut self, model: &Model, input: Input<'_>, probe: &mut P) -> Option<&[i16]> {
        let mut run = Run::new(model, self.chunk, &mut self.clock, self.words.as_mut());
        if !run.embed(0, input, probe) {
            return None;
        }
        run.forward(1, &mut |_: &[i16]| {}, probe);
        let scores: &[i16] = run.scores;
        scores.get(..model.labels.len())
    }
}

/// A state, carved up for its model.
struct Run<'s, 'm> {
    model: &'m Model<'m>,
    clock: &'s mut Clock,
    scores: &'s mut [i16],
    history: &'s mut [u32],
    stream: &'s mut [i16],
    scratch: &'s mut [u32],
    chunk: usize,
}

impl<'s, 'm> Run<'s, 'm> {
    fn new(model: &'m Model<'m>, chunk: usize, clock: &'s mut Clock, words: &'s mut [u32]) -> Self {
        let mut words = Words(words);
        let scores = words.halves(model.scores());
        let history = words.take(model.history_words() - model.score_words());
        let stream = words.halves(chunk * padded(model.width));
        Self { model, clock, scores, history, stream, scratch: words.0, chunk }
    }

    /// Puts the token that `input` completes into place `index` of the chunk.
    fn embed<P: Probe>(&mut self, index: usize, input: Input<'_>, probe: &mut P) -> bool {
        let Some(stream) = self.stream.chunks_exact_mut(padded(self.model.width).max(1)).nth(index) else {
            return false;
        };
        let complete = match input {
            Input::Frame(frame) => {
                let mut history = Words(self.history);
                embed(self.model, self.clock, &mut history, frame, (self.scratch, stream))
            }
            Input::Token(token) => {
                embed_token(self.model, self.clock, token, stream);
                true
            }
        };
        if complete {
            Watch { probe, block: None }.halves(Part::Embed, stream);
        }
        complete
    }

    /// Takes the first `tokens` tokens of the chunk through all blocks to their scores.
    fn forward<P: Probe>(&mut self, tokens: usize, each: &mut impl FnMut(&[i16]), probe: &mut P) {
        let model = self.model;
        let width = padded(model.width);
        let mut history = Words(self.history);
        history.take(model.embed.history_words());
        let (stream, _) = self.stream.split_at_mut((tokens * width).min(self.stream.len()));
        let mut scratch = carve(model, self.chunk, tokens, self.scratch);
        for (index, block) in model.blocks.iter().enumerate() {
            let mut watch = Watch { probe, block: Some(index) };
            run_block(block, self.clock, &mut history, (stream, tokens), &mut scratch, &mut watch);
        }

        let mut watch = Watch { probe, block: None };
        enter(&model.head_entry, stream, scratch.entry, width);
        watch.bytes(Part::HeadEntry, scratch.entry);
        for entry in scratch.entry.chunks_exact(width.max(1)) {
            self.clock.advance(model);
            self.scores.fill(0);
            linear_add(&model.head, entry, scratch.expanded, self.scores);
            watch.halves(Part::Head, self.scores);
            let mut words = Words(&mut *history.0);
            pool(model, &mut self.clock.pool, &mut words, self.scores);
            watch.halves(Part::Pool, self.scores);
            each(self.scores.get(..model.labels.len()).unwrap_or(&[]));
        }
    }
}

/// Buffers for `tokens` tokens out of memory for `chunk`.
fn carve<'s>(model: &Model, chunk: usize, tokens: usize, words: &'s mut [u32]) -> Scratch<'s> {
    let mut wide = 0;
    let mut mixed = 0;
    let mut row = 0;
    for block in model.blocks {
        wide = wide.max(block.wide());
        mixed = mixed.max(block.attention.output.columns);
        row = row.max(block.attention.row());
    }
    let mut words = Words(words);
    let entry = words.bytes(chunk * padded(model.width));
    let used = (tokens * padded(model.width)).min(entry.len());
    let (entry, _) = entry.split_at_mut(used);
    let wide = words.bytes(chunk * wide);
    let mixed = words.bytes(chunk * mixed);
    let row = words.halves(row);
    Scratch { entry, wide, mixed, row, expanded: cast_slice_mut(words.0) }
}
