//! Where each ring stands. All blocks move together, so one clock serves them all.

use microformer_packed::{Embed, Model, padded};

/// A place that goes round, and how often it has moved, up to once round.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    /// The slot that the next entry takes.
    pub slot: usize,
    /// Slots that hold something.
    pub filled: usize,
}

impl Turn {
    pub const START: Self = Self { slot: 0, filled: 0 };

    pub fn advance(&mut self, len: usize) {
        self.slot = if self.slot + 1 < len { self.slot + 1 } else { 0 };
        self.filled = (self.filled + 1).min(len);
    }
}

/// All places of a state.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Frames since the last token.
    pub frame: usize,
    /// Tokens since the start, no further than the table of positions.
    pub position: usize,
    pub attention: Turn,
    pub convolution: Turn,
    /// The frames under the stem's kernel, and its convolved tokens.
    pub frames: Turn,
    pub stem: Turn,
    pub pool: Turn,
}

impl Clock {
    pub const START: Self = Self {
        frame: 0,
        position: 0,
        attention: Turn::START,
        convolution: Turn::START,
        frames: Turn::START,
        stem: Turn::START,
        pool: Turn::START,
    };

    /// Called once for each token after all layers have seen it.
    pub fn advance(&mut self, model: &Model) {
        if let Some(block) = model.blocks.first() {
            self.attention.advance(block.attention.window);
            if let Some(convolution) = &block.mlp.convolution {
                self.convolution.advance(convolution.taps);
            }
        }
    }

    /// Called once for each token that was embedded.
    pub fn advance_embed(&mut self, model: &Model) {
        // The last row of positions holds for all that follow.
        if (self.position + 2) * padded(model.width) <= model.positions.len() {
            self.position += 1;
        }
        if let Embed::Convolution(stem) = &model.embed {
            self.stem.advance(stem.depth_tokens);
        }
    }
}
