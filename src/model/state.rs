//! Everything that a running model remembers, in one static, and the two ways through a model.

use bytemuck::cast_slice_mut;
use microformer_packed::{Memory, Model, TOGETHER, padded};

use super::block::{Scratch, Watch, enter, run_block};
use super::clock::Clock;
use super::embed::{embed_token, project, take_frame};
use super::pool::pool;
use super::probe::{Part, Probe};
use super::words::{Words, piece, piece_mut};
use crate::kernels::{LAYOUT, linear_add};

/// The rings and buffers of one running model, in `S`: an array of words in a static, or a vector on a laptop.
#[derive(Clone, Debug)]
pub struct State<S> {
    clock: Clock,
    /// Tokens that pass a layer together; scratch memory grows with it.
    chunk: usize,
    /// Words of history, which come first.
    history: usize,
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
        Self { clock: Clock::START, chunk, history: Memory::of(model, chunk).history, words }
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
        let mut run = self.run(model);
        let mut tokens = 0;
        for frame in frames.chunks_exact(model.features().max(1)) {
            if run.embed(tokens, Input::Frame(frame)) {
                tokens += 1;
            }
            if tokens == run.chunk {
                run.forward(tokens, &mut each, probe);
                tokens = 0;
            }
        }
        if tokens > 0 {
            run.forward(tokens, &mut each, probe);
        }
    }

    /// [`State::pass`] over a sequence of tokens.
    pub fn pass_tokens(&mut self, model: &Model, tokens: &[u16], each: impl FnMut(&[i16])) {
        self.pass_tokens_probed(model, tokens, each, &mut ());
    }

    /// [`State::pass_tokens`], with a look at every layer.
    pub fn pass_tokens_probed<P: Probe>(
        &mut self,
        model: &Model,
        tokens: &[u16],
        mut each: impl FnMut(&[i16]),
        probe: &mut P,
    ) {
        let mut run = self.run(model);
        for chunk in tokens.chunks(run.chunk.max(1)) {
            for (index, &token) in chunk.iter().enumerate() {
                run.embed(index, Input::Token(usize::from(token)));
            }
            run.forward(chunk.len(), &mut each, probe);
        }
    }

    fn run<'s, 'm>(&'s mut self, model: &'m Model<'m>) -> Run<'s, 'm> {
        let mut words = Words(self.words.as_mut());
        let scores = words.halves(model.scores());
        let history = words.take(self.history - model.score_words());
        let stream = words.halves(self.chunk * padded(model.width));
        Run { model, clock: &mut self.clock, scores, history, stream, scratch: words.0, chunk: self.chunk }
    }

    fn take<P: Probe>(&mut self, model: &Model, input: Input<'_>, probe: &mut P) -> Option<&[i16]> {
        let mut run = self.run(model);
        if !run.embed(0, input) {
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
    /// Puts what `input` completes into place `index` of the chunk; says whether it completes a token.
    fn embed(&mut self, index: usize, input: Input<'_>) -> bool {
        let model = self.model;
        let stream = piece_mut(self.stream, index, padded(model.width));
        match input {
            Input::Frame(frame) => {
                let mut scratch = Words(&mut *self.scratch);
                let inputs = scratch.bytes(4 * model.embed.input_words(self.chunk));
                let input = piece_mut(inputs, index, 4 * model.embed.input_words(1));
                take_frame(model, self.clock, &mut Words(self.history), frame, (scratch.0, input, stream))
            }
            Input::Token(token) => {
                embed_token(model, self.clock, token, stream);
                true
            }
        }
    }

    /// Takes the first `tokens` tokens of the chunk through all blocks to their scores.
    fn forward<P: Probe>(&mut self, tokens: usize, each: &mut impl FnMut(&[i16]), probe: &mut P) {
        let model = self.model;
        let width = padded(model.width);
        let mut history = Words(self.history);
        history.take(model.embed.history_words());
        let (stream, _) = self.stream.split_at_mut((tokens * width).min(self.stream.len()));
        let mut words = Words(&mut *self.scratch);
        let inputs = words.bytes(4 * model.embed.input_words(self.chunk));
        let inputs = piece(inputs, 0, 4 * model.embed.input_words(tokens));
        project(model, inputs, words.0, stream);
        Watch { probe, block: None }.halves(Part::Embed, stream);
        let mut scratch = carve(model, self.chunk, tokens, self.scratch);
        for (index, block) in model.blocks.iter().enumerate() {
            let mut watch = Watch { probe, block: Some(index) };
            run_block(block, self.clock, &mut history, (stream, tokens), &mut scratch, &mut watch);
        }

        let mut watch = Watch { probe, block: None };
        enter(&model.head_entry, (stream, tokens), scratch.entry, width);
        watch.bytes(Part::HeadEntry, scratch.entry);
        for token in 0..tokens {
            let entry = piece(scratch.entry, token, width);
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
    let rows = words.halves(chunk.min(TOGETHER) * row);
    Scratch { entry, wide, mixed, rows, expanded: cast_slice_mut(words.0) }
}
