//! How many words of RAM each part of a model needs: the same figures size the static and carve it up.

use crate::{Activation, Attention, Bits, Block, Embed, GROUP, LANES, Layout, Linear, Mlp, Model, Pool, Stem, padded};

/// Taps that one depthwise convolution may have.
pub const MAX_TAPS: usize = 32;

/// Tokens of a chunk that the fastest kernels take through a matrix, or over a ring, together.
pub const TOGETHER: usize = 3;

/// The state of a model in words of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Frames, keys, values and tokens that the next step looks back at.
    pub history: usize,
    /// What a step of `chunk` tokens needs only while it runs.
    pub scratch: usize,
}

impl Memory {
    /// The memory of `model` when it takes `chunk` tokens through each layer at once.
    #[must_use]
    pub const fn of(model: &Model, chunk: usize) -> Self {
        let history = model.history_words();
        let mut wide = 0;
        let mut mixed = 0;
        let mut row = 0;
        let mut columns = model.head.columns;
        let mut unpacked = model.head.unpacked_words(model.layout);
        let mut index = 0;
        while index < model.blocks.len() {
            let block = &model.blocks[index];
            wide = max(wide, block.wide());
            mixed = max(mixed, block.attention.output.columns);
            row = max(row, block.attention.row());
            columns =
                max(columns, max(block.attention.output.columns, max(block.mlp.up.columns, block.mlp.down.columns)));
            unpacked = max(unpacked, block.unpacked_words(model.layout));
            index += 1;
        }
        let width = padded(model.width);
        let stream = chunk * width / 2;
        let together = if chunk < TOGETHER { chunk } else { TOGETHER };
        let blocks = (chunk * (width + wide + mixed) + 2 * together * row) / LANES
            + together * model.layout.expanded_words(columns)
            + unpacked;
        // The embedding is done before the blocks begin, so both may use the same words.
        let embed = model.embed.input_words(chunk)
            + model.embed.scratch_words(model.layout, together)
            + model.embed.unpacked_words(model.layout);
        Self { history, scratch: stream + max(blocks, embed) }
    }

    #[must_use]
    pub const fn words(&self) -> usize {
        self.history + self.scratch
    }
}

impl Model<'_> {
    /// What the next step looks back at, scores included, in words.
    #[must_use]
    pub const fn history_words(&self) -> usize {
        let mut words = self.embed.history_words() + self.score_words() + self.pool_words();
        let mut index = 0;
        while index < self.blocks.len() {
            words += self.blocks[index].history_words(self.layout);
            index += 1;
        }
        words
    }

    /// Length of the score vector, padded.
    #[must_use]
    pub const fn scores(&self) -> usize {
        self.head.rows
    }

    #[must_use]
    pub const fn score_words(&self) -> usize {
        self.scores() / 2
    }

    /// The sums of the pool, and the ring of what must leave them.
    #[must_use]
    pub const fn pool_words(&self) -> usize {
        match self.pool {
            Pool::Each => 0,
            Pool::Mean { tokens } => self.scores() + tokens * self.scores() / 2,
        }
    }
}

impl Layout {
    /// Words into which the kernels expand `columns` activations before they multiply.
    #[must_use]
    pub const fn expanded_words(self, columns: usize) -> usize {
        match self {
            Self::Plain => 0,
            Self::Paired | Self::Wide | Self::WideInTwos => columns / 2,
        }
    }
}

impl Embed<'_> {
    /// The matrix that takes an input to the stream; a table needs none.
    #[must_use]
    pub const fn projection(&self) -> Option<&Linear<'_>> {
        match self {
            Self::Linear { linear, .. } => Some(linear),
            Self::Table { .. } => None,
            Self::Convolution(stem) => Some(&stem.projection),
        }
    }

    /// The frames under the kernel, and for the stem the tokens under the second kernel.
    #[must_use]
    pub const fn history_words(&self) -> usize {
        match self {
            Self::Linear { linear, .. } => linear.columns / LANES,
            Self::Table { .. } => 0,
            Self::Convolution(stem) => stem.frame_words() + stem.depth_words(),
        }
    }

    /// What [`Embed::projection`] takes of each token of a chunk.
    #[must_use]
    pub const fn input_words(&self, chunk: usize) -> usize {
        match self.projection() {
            Some(linear) => chunk * linear.columns / LANES,
            None => 0,
        }
    }

    /// What is needed beside the inputs while one of them is made, or while they are projected.
    const fn scratch_words(&self, layout: Layout, together: usize) -> usize {
        let projection = match self.projection() {
            Some(linear) => together * layout.expanded_words(linear.columns),
            None => 0,
        };
        match self {
            Self::Convolution(stem) => {
                let convolution = TOGETHER * layout.expanded_words(stem.patch());
                max(stem.spread_len() / LANES + convolution, projection)
            }
            _ => projection,
        }
    }
}

impl Embed<'_> {
    const fn unpacked_words(&self, layout: Layout) -> usize {
        match self {
            Self::Linear { linear, .. } => linear.unpacked_words(layout),
            Self::Table { .. } => 0,
            Self::Convolution(stem) => {
                max(stem.convolution.unpacked_words(layout), stem.projection.unpacked_words(layout))
            }
        }
    }
}

impl Stem<'_> {
    #[must_use]
    pub const fn frame_words(&self) -> usize {
        padded(self.frames * self.features) / LANES
    }

    /// Bytes of all frames under the kernel side by side, with the zeros around them.
    #[must_use]
    pub const fn spread_len(&self) -> usize {
        let values = (self.padding + self.features) * self.column;
        padded(max(values, (self.places - 1) * self.hop * self.column + self.patch()))
    }

    /// Places of one token in the ring of convolved tokens, those that are always zero included.
    #[must_use]
    pub const fn ring_places(&self) -> usize {
        max(self.depth_padding + self.places, (self.depth_places - 1) * self.depth_hop + self.depth_kernel)
    }

    /// The ring of convolved tokens.
    #[must_use]
    pub const fn depth_words(&self) -> usize {
        self.depth_tokens * self.ring_places() * self.channels() / LANES
    }
}

impl Block<'_> {
    const fn unpacked_words(&self, layout: Layout) -> usize {
        let attention =
            max(self.attention.query_key_value.unpacked_words(layout), self.attention.output.unpacked_words(layout));
        max(attention, max(self.mlp.up.unpacked_words(layout), self.mlp.down.unpacked_words(layout)))
    }

    /// Bytes for each token that queries, keys and values share with the perceptron's hidden layer, in turn.
    #[must_use]
    pub const fn wide(&self) -> usize {
        max(self.attention.query_key_value.rows, self.mlp.wide())
    }

    #[must_use]
    pub const fn history_words(&self, layout: Layout) -> usize {
        self.attention.ring_words(layout) + self.mlp.ring_words()
    }
}

impl Attention<'_> {
    /// Words of one head's ring of keys, in whole groups of those that are scored together; where they are wide, two values
    /// fill a word.
    #[must_use]
    pub const fn key_words(&self, layout: Layout) -> usize {
        match layout {
            Layout::Plain | Layout::Paired => self.row() * self.head_len / LANES,
            Layout::Wide | Layout::WideInTwos => self.window.next_multiple_of(layout.rows()) * self.head_len / 2,
        }
    }

    /// Words of one head's ring of values, as long as that of keys.
    #[must_use]
    pub const fn value_words(&self) -> usize {
        self.row() * self.head_len / LANES
    }

    /// Words of all heads' rings.
    #[must_use]
    pub const fn ring_words(&self, layout: Layout) -> usize {
        self.heads * (self.key_words(layout) + self.value_words())
    }

    /// Length of a row of scores, and slots of a ring: the window in whole groups.
    #[must_use]
    pub const fn row(&self) -> usize {
        self.window.next_multiple_of(GROUP)
    }
}

impl Mlp<'_> {
    /// Words of the ring under the convolution.
    #[must_use]
    pub const fn ring_words(&self) -> usize {
        match &self.convolution {
            Some(convolution) => convolution.taps * convolution.channels / LANES,
            None => 0,
        }
    }

    const fn wide(&self) -> usize {
        self.up.rows
    }
}

impl Activation<'_> {
    /// Bytes of flash that the activation takes.
    #[must_use]
    pub const fn flash_bytes(&self) -> usize {
        match self {
            Self::Saturation => 0,
            Self::Table(table) => table.len(),
        }
    }
}

impl Linear<'_> {
    /// Words that the kernels need for four 4-bit rows while they multiply with it.
    #[must_use]
    pub const fn unpacked_words(&self, layout: Layout) -> usize {
        match self.bits {
            Bits::Eight => 0,
            Bits::Four => layout.words(GROUP, self.columns),
        }
    }

    /// Multiplications with weights in one pass.
    #[must_use]
    pub const fn macs(&self) -> usize {
        self.rows * self.columns
    }
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}
