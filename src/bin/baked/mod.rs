//! Every baked model, and what it takes to run one: memory for the largest, and an input that is the same everywhere.

// Each binary takes its own part.
#![allow(dead_code, unused_macros)]

use crate::board;
use microformer::model::{Probe, State};
use microformer::packed::{Memory, Model};

include!(concat!(env!("OUT_DIR"), "/models.rs"));
#[allow(unused_imports)]
pub(crate) use for_each_model;

/// Tokens that pass a layer together in a whole-sequence pass: whole threes, which the fastest kernels take together.
pub const CHUNK: usize = 6;

/// Tokens of a whole sequence.
pub const SEQUENCE: usize = 49;

/// Words of state, and values of input for [`SEQUENCE`] tokens, of the largest model.
const LARGEST: (usize, usize) = {
    #[allow(unused_mut)]
    let (mut words, mut values) = (1, 1);
    macro_rules! widen {
        ($module:ident, $name:literal) => {
            let model = &$module::MODEL;
            let need = Memory::of(model, CHUNK).words();
            words = if need > words { need } else { words };
            let need = SEQUENCE * model.stride() * model.features();
            values = if need > values { need } else { values };
        };
    }
    for_each_model!(widen);
    (words, values)
};

/// Blocks of the deepest model.
pub const DEEPEST: usize = {
    #[allow(unused_mut)]
    let mut blocks = 0;
    macro_rules! deepen {
        ($module:ident, $name:literal) => {
            let need = $module::MODEL.blocks.len();
            blocks = if need > blocks { need } else { blocks };
        };
    }
    for_each_model!(deepen);
    blocks
};

pub struct Workspace {
    pub words: [u32; LARGEST.0],
    values: [i8; LARGEST.1],
    tokens: [u16; SEQUENCE],
}

impl Workspace {
    pub fn take() -> Result<&'static mut Self, &'static str> {
        board::once!(: Workspace = Workspace { words: [0; LARGEST.0], values: [0; LARGEST.1], tokens: [0; SEQUENCE] })
            .ok_or("the workspace is taken twice")
    }

    /// A model with an empty state for `chunk` tokens at once, and its input from the beginning.
    pub fn begin<'w>(&'w mut self, model: &'static Model<'static>, chunk: usize) -> Run<'w> {
        Run {
            model,
            state: State::with_words(model, chunk, &mut self.words),
            values: &mut self.values,
            tokens: &mut self.tokens,
            random: Random::START,
        }
    }
}

/// A model that runs on the fixed input.
pub struct Run<'w> {
    model: &'static Model<'static>,
    state: State<&'w mut [u32; LARGEST.0]>,
    values: &'w mut [i8; LARGEST.1],
    tokens: &'w mut [u16; SEQUENCE],
    random: Random,
}

impl Run<'_> {
    /// Brings the input of the next `tokens` tokens, at most [`SEQUENCE`]. On its own, so that nobody counts it.
    #[inline(never)]
    pub fn prepare(&mut self, tokens: usize) {
        let vocabulary = self.model.vocabulary();
        if vocabulary > 0 {
            self.tokens[..tokens].fill_with(|| self.random.below(vocabulary) as u16);
        } else {
            self.values[..tokens * self.model.stride() * self.model.features()].fill_with(|| self.random.value());
        }
    }

    /// Takes the first prepared token in: one step of a token model, the stride's frames of a feature model.
    #[inline(never)]
    pub fn step<P: Probe>(&mut self, probe: &mut P) {
        if self.model.vocabulary() > 0 {
            self.state.step_token_probed(self.model, usize::from(self.tokens[0]), probe);
            return;
        }
        let features = self.model.features();
        for frame in self.values[..self.model.stride() * features].chunks_exact(features) {
            self.state.step_probed(self.model, frame, probe);
        }
    }

    /// Takes the first `tokens` prepared tokens in, several at once.
    #[inline(never)]
    pub fn pass<P: Probe>(&mut self, tokens: usize, each: impl FnMut(&[i16]), probe: &mut P) {
        if self.model.vocabulary() > 0 {
            self.state.pass_tokens_probed(self.model, &self.tokens[..tokens], each, probe);
        } else {
            let frames = &self.values[..tokens * self.model.stride() * self.model.features()];
            self.state.pass_probed(self.model, frames, each, probe);
        }
    }
}

/// Marsaglia's xorshift of 32 bits.
struct Random(u32);

impl Random {
    const START: Self = Self(0x2545_f491);

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// An activation: −127 to 127.
    fn value(&mut self) -> i8 {
        (self.below(255) as i16 - 127) as i8
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 8) as usize % limit
    }
}
