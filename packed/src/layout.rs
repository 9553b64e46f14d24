//! The order of a matrix in flash: rows in groups, so that one run through memory feeds several sums.
//!
//! A group is one bias for each row, then for every few columns one word of each row, then one multiplier for each row:
//! what opens the sums, what they eat, what closes them. How many rows share a group, and how a word holds weights, is
//! what differs between chips.

use core::ops::Range;

use crate::LANES;

/// How a matrix lies in flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A word is four signed bytes, first column lowest; four rows share a group: for the portable kernels.
    Plain,
    /// A word is two halfwords `256 · odd + even`; four rows share a group: for chips with the DSP extension.
    Paired,
    /// A word is `65536 · first + third` of four columns, the next `65536 · second + fourth`; four rows share a group: for
    /// Cortex-M3.
    Wide,
    /// [`Layout::Wide`] in groups of two rows: for Cortex-M0, whose loop has registers for two.
    WideInTwos,
}

/// How many bits a weight takes in flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Bits {
    #[default]
    Eight,
    /// Weights in [−7, 7], which become the words of an 8-bit matrix before the kernels eat them.
    Four,
}

/// What a 4-bit weight has more in flash than it stands for, so that none is negative.
pub const FOUR_OFFSET: i8 = 8;

/// In [`Layout::Paired`], odd columns in the upper halves of bytes have no offset but a sign, so that a halfword has one:
/// this flips between the two.
const PAIRED_SIGNS: u32 = 0x8000_8000;

/// The largest 4-bit weight; the least is its negative.
pub const FOUR_LIMIT: i8 = 7;

/// Rows whose number is a multiple of this fill groups in every layout.
pub const GROUP: usize = 4;

/// What a packed word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Bias {
        row: usize,
    },
    /// The weights of `row` from `column` on.
    Weights {
        row: usize,
        column: usize,
    },
    Multiplier {
        row: usize,
    },
}

impl Layout {
    /// Rows that share a group.
    #[must_use]
    pub const fn rows(self) -> usize {
        match self {
            Self::Plain | Self::Paired | Self::Wide => 4,
            Self::WideInTwos => 2,
        }
    }

    /// Columns that share a word.
    #[must_use]
    pub const fn columns(self) -> usize {
        match self {
            Self::Plain | Self::Paired => 4,
            Self::Wide | Self::WideInTwos => 2,
        }
    }

    /// Words of a group of `columns` columns, padded.
    #[must_use]
    pub const fn group_words(self, columns: usize) -> usize {
        self.rows() * (2 + columns / self.columns())
    }

    /// Words that a matrix of `rows` × `columns` takes, both padded.
    #[must_use]
    pub const fn words(self, rows: usize, columns: usize) -> usize {
        rows / self.rows() * self.group_words(columns)
    }

    /// Words of a group whose weights take so many bits.
    #[must_use]
    pub const fn stored_group_words(self, bits: Bits, columns: usize) -> usize {
        match bits {
            Bits::Eight => self.group_words(columns),
            Bits::Four => self.rows() * 2 + self.rows() * columns / self.columns() / self.words_in_four_bits(),
        }
    }

    /// Words of a matrix whose weights take so many bits.
    #[must_use]
    pub const fn stored_words(self, bits: Bits, rows: usize, columns: usize) -> usize {
        rows / self.rows() * self.stored_group_words(bits, columns)
    }

    /// Words of 8-bit weights that one word of 4-bit weights becomes.
    #[must_use]
    pub const fn words_in_four_bits(self) -> usize {
        8 / self.columns()
    }

    /// The word of 8-bit weights that stands in the nibbles `index` of a word of 4-bit ones.
    ///
    /// Every weight comes with [`FOUR_OFFSET`] in a field of its own, which is taken away from all fields at once. Where a
    /// field must not borrow from the next, its highest bit is lent to it meanwhile.
    #[must_use]
    #[inline(always)]
    pub const fn unpack(self, word: u32, index: u32) -> u32 {
        let word = word >> (4 * index);
        match self {
            Self::Plain => ((word & 0x0F0F_0F0F) + 0x7878_7878) ^ 0x8080_8080,
            Self::Paired => (((word ^ (PAIRED_SIGNS >> (4 * index))) & 0x0F0F_0F0F) + 0x77F8_77F8) ^ 0x8000_8000,
            Self::Wide | Self::WideInTwos => (word & 0x000F_000F).wrapping_sub(0x0008_0008),
        }
    }

    /// The fields of [`Layout::unpack`] for the next weights of a row, all in [−7, 7].
    const fn nibbles(self, weights: [i8; LANES]) -> u32 {
        let [first, second, third, fourth] = weights;
        match self {
            Self::Plain | Self::Paired => {
                u32::from_le_bytes([field(first), field(second), field(third), field(fourth)])
            }
            Self::Wide | Self::WideInTwos => (field(third) as u32) | (field(first) as u32) << 16,
        }
    }

    /// What a word of 4-bit weights differs in from all its weights with their offset.
    const fn signs(self) -> u32 {
        match self {
            Self::Paired => PAIRED_SIGNS,
            Self::Plain | Self::Wide | Self::WideInTwos => 0,
        }
    }

    /// What the word at `index` of a matrix of `columns` columns, padded, holds.
    #[must_use]
    pub const fn place(self, columns: usize, index: usize) -> Place {
        let (group, index) = (index / self.group_words(columns), index % self.group_words(columns));
        let row = group * self.rows() + index % self.rows();
        let step = index / self.rows();
        if step == 0 {
            Place::Bias { row }
        } else if step > columns / self.columns() {
            Place::Multiplier { row }
        } else {
            let column = match self {
                Self::Plain | Self::Paired => (step - 1) * LANES,
                Self::Wide | Self::WideInTwos => (step - 1) / 2 * LANES + (step - 1) % 2,
            };
            Place::Weights { row, column }
        }
    }

    /// A bias as the kernels want it: in the unit of their sums, which is 1/256 of a product where weights are paired.
    #[must_use]
    pub const fn bias(self, bias: i32) -> u32 {
        match self {
            Self::Plain | Self::Paired => (bias << 8) as u32,
            Self::Wide | Self::WideInTwos => bias as u32,
        }
    }

    /// A multiplier as the kernels want it, which is never negative. On a Cortex-M3, whose sums are whole products, it is 256
    /// times as large. Where one is not below [`Layout::small`], the highest bit says so: on a Cortex-M3 of all multipliers
    /// of a matrix, on a Cortex-M0 of those of a group.
    #[must_use]
    pub const fn multiplier(self, multiplier: i32, all_are_small: bool) -> u32 {
        match self {
            Self::Plain | Self::Paired => multiplier as u32,
            Self::Wide if all_are_small => (multiplier as u32) << 8,
            Self::WideInTwos if all_are_small => multiplier as u32,
            Self::Wide | Self::WideInTwos => multiplier as u32 | 1 << 31,
        }
    }

    /// Multipliers below this are small: they fit a word 256 times as large, or half a word, for which an M0 needs half the
    /// products.
    #[must_use]
    pub const fn small(self) -> i32 {
        match self {
            Self::Plain | Self::Paired => i32::MAX,
            Self::Wide => 1 << 23,
            Self::WideInTwos => 1 << 16,
        }
    }

    /// The next weights of a row as a word; of four, those that share a word count: all, or the first and the third.
    #[must_use]
    pub const fn weights(self, weights: [i8; LANES]) -> u32 {
        let [first, second, third, fourth] = weights;
        match self {
            Self::Plain => u32::from_le_bytes([first as u8, second as u8, third as u8, fourth as u8]),
            Self::Paired => pair(first, second) | pair(third, fourth) << 16,
            Self::Wide | Self::WideInTwos => ((first as i32) << 16).wrapping_add(third as i32) as u32,
        }
    }
}

/// One row to pack: its weights, bias and multiplier. Missing columns count as zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'a> {
    pub weights: &'a [i8],
    pub bias: i32,
    pub multiplier: i32,
}

/// Whether the multipliers are small that share a mark with that of each row: those of `rows` rows, or of the row's group.
fn are_small<'a>(layout: Layout, rows: usize, row: impl Fn(usize) -> Row<'a>) -> impl Fn(usize) -> bool {
    let small = move |rows: Range<usize>| rows.into_iter().all(|index| row(index).multiplier < layout.small());
    let all = layout != Layout::WideInTwos && small(0..rows);
    move |index| match layout {
        Layout::WideInTwos => small(index & !1..(index | 1) + 1),
        _ => all,
    }
}

/// Packs rows of `columns` columns, padded, into `packed`, which holds [`Layout::words`] words.
///
/// `row` is asked for every row; a row of padding is [`Row::default`].
pub fn pack_linear<'a>(layout: Layout, columns: usize, row: impl Fn(usize) -> Row<'a>, packed: &mut [u32]) {
    let are_small = are_small(layout, packed.len() / layout.group_words(columns) * layout.rows(), &row);
    for (index, word) in packed.iter_mut().enumerate() {
        *word = match layout.place(columns, index) {
            Place::Bias { row: index } => layout.bias(row(index).bias),
            Place::Multiplier { row: index } => layout.multiplier(row(index).multiplier, are_small(index)),
            Place::Weights { row: index, column } => {
                let weights = row(index).weights;
                layout.weights(core::array::from_fn(|lane| weights.get(column + lane).copied().unwrap_or(0)))
            }
        };
    }
}

/// [`pack_linear`] with 4-bit weights, all in [−7, 7], into [`Layout::stored_words`] words.
pub fn pack_four<'a>(layout: Layout, columns: usize, row: impl Fn(usize) -> Row<'a>, packed: &mut [u32]) {
    let (edge, many) = (layout.rows(), layout.words_in_four_bits());
    let groups = packed.len() / layout.stored_group_words(Bits::Four, columns);
    let are_small = are_small(layout, groups * edge, &row);
    for (group, words) in packed.chunks_exact_mut(layout.stored_group_words(Bits::Four, columns)).enumerate() {
        let last = words.len() - edge;
        for (index, word) in words.iter_mut().enumerate() {
            *word = if index < edge {
                layout.bias(row(group * edge + index).bias)
            } else if index >= last {
                let index = group * edge + index - last;
                layout.multiplier(row(index).multiplier, are_small(index))
            } else {
                (0..many).fold(layout.signs(), |word, nibble| {
                    let place = group * layout.group_words(columns) + edge + (index - edge) * many + nibble;
                    let Place::Weights { row: index, column } = layout.place(columns, place) else { return word };
                    let weights = row(index).weights;
                    let weights = core::array::from_fn(|lane| weights.get(column + lane).copied().unwrap_or(0));
                    word ^ layout.nibbles(weights) << (4 * nibble)
                })
            };
        }
    }
}

/// A 4-bit weight with its offset.
const fn field(weight: i8) -> u8 {
    (weight + FOUR_OFFSET) as u8
}

/// `256 · odd + even` as a halfword: |even| ≤ 127 keeps it inside 16 bits.
const fn pair(even: i8, odd: i8) -> u32 {
    (256 * odd as i32 + even as i32) as u16 as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_word_is_four_bytes() {
        assert_eq!(Layout::Plain.weights([1, -1, 2, -2]), 0xFE02_FF01);
    }

    #[test]
    fn a_pair_borrows_from_its_odd_weight() {
        assert_eq!(Layout::Paired.weights([-1, 3, 1, -3]), 0xFD01_02FF);
        assert_eq!(Layout::Wide.weights([3, 9, -1, 9]), 0x0002_FFFF);
    }

    #[test]
    fn a_large_multiplier_marks_others() {
        let pack = |layout: Layout, largest: i32| {
            let mut packed = [0; 16];
            let row = |row: usize| Row { multiplier: [7, largest, 0, 1][row], ..Row::default() };
            pack_linear(layout, 4, row, &mut packed);
            packed
        };
        assert_eq!(pack(Layout::Wide, 0x007F_FFFF)[12..], [7 << 8, 0x7FFF_FF00, 0, 1 << 8]);
        assert_eq!(pack(Layout::Wide, 0x0080_0000)[12..], [0x8000_0007, 0x8080_0000, 0x8000_0000, 0x8000_0001]);
        let twos = pack(Layout::WideInTwos, 0x1_0000);
        assert_eq!((&twos[6..8], &twos[14..]), (&[0x8000_0007, 0x8001_0000][..], &[0, 1][..]));
    }

    fn pack<const WORDS: usize>(layout: Layout) -> [u32; WORDS] {
        let weights = [[1i8, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]];
        let mut packed = [0; WORDS];
        let row =
            |row: usize| weights.get(row).map_or(Row::default(), |weights| Row { weights, bias: -1, multiplier: 7 });
        pack_linear(layout, 4, row, &mut packed);
        packed
    }

    #[test]
    fn rows_come_in_groups_of_four() {
        let packed: [u32; Layout::Plain.words(4, 4)] = pack(Layout::Plain);
        assert_eq!(packed[..4], [-256i32 as u32, -256i32 as u32, -256i32 as u32, 0]);
        assert_eq!(packed[4..8], [0x0403_0201, 0x0807_0605, 0x0C0B_0A09, 0]);
        assert_eq!(packed[8..], [7, 7, 7, 0]);
    }

    /// Whatever the layout, 4-bit words become the words of the same matrix in 8 bits.
    #[test]
    fn four_bits_become_eight() {
        let weights: [[i8; 12]; 4] =
            core::array::from_fn(|row| core::array::from_fn(|column| ((5 * row + 3 * column) % 15) as i8 - 7));
        for layout in [Layout::Plain, Layout::Paired, Layout::Wide, Layout::WideInTwos] {
            let row = |row: usize| Row { weights: &weights[row], bias: 3 - row as i32, multiplier: row as i32 };
            let (mut eight, mut four) = ([0; 64], [0; 64]);
            let eight = &mut eight[..layout.words(4, 12)];
            let four = &mut four[..layout.stored_words(Bits::Four, 4, 12)];
            pack_linear(layout, 12, row, eight);
            pack_four(layout, 12, row, four);
            let edge = layout.rows();
            let groups = eight
                .chunks_exact(layout.group_words(12))
                .zip(four.chunks_exact(layout.stored_group_words(Bits::Four, 12)));
            for (eight, four) in groups {
                assert_eq!(eight[..edge], four[..edge]);
                assert_eq!(eight[eight.len() - edge..], four[four.len() - edge..]);
                let words = &four[edge..four.len() - edge];
                let many = layout.words_in_four_bits();
                for (index, &word) in eight[edge..eight.len() - edge].iter().enumerate() {
                    assert_eq!(layout.unpack(words[index / many], (index % many) as u32), word, "{layout:?}");
                }
            }
        }
    }

    #[test]
    fn or_of_two() {
        let packed: [u32; Layout::WideInTwos.words(4, 4)] = pack(Layout::WideInTwos);
        assert_eq!(packed[..4], [u32::MAX, u32::MAX, 0x0001_0003, 0x0005_0007]);
        assert_eq!(packed[4..8], [0x0002_0004, 0x0006_0008, 7, 7]);
        assert_eq!(packed[8..], [u32::MAX, 0, 0x0009_000B, 0, 0x000A_000C, 0, 7, 0]);
    }
}
