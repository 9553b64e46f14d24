//! The order of a matrix in flash: rows in groups of four, so that one run through memory feeds four sums.
//!
//! A group is `[bias · 256; 4]`, for every four columns one word of each of the four rows, then `[multiplier; 4]`: what
//! opens the sums, what they eat, what closes them. Only the coding of a word differs between chips.

use crate::LANES;

/// How a word holds four weights of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Four signed bytes, first column lowest: for the portable kernels.
    Plain,
    /// Two halfwords `256 · odd + even`: for chips with the DSP extension (see `docs/numerics.md`).
    Paired,
}

/// Rows that share one group.
pub const GROUP: usize = 4;

/// Words of a group of `columns` columns, padded.
#[must_use]
pub const fn group_words(columns: usize) -> usize {
    GROUP + columns / LANES * GROUP + GROUP
}

/// Words that a matrix of `rows` × `columns` takes, both padded.
#[must_use]
pub const fn linear_words(rows: usize, columns: usize) -> usize {
    rows / GROUP * group_words(columns)
}

/// One row to pack: its weights, bias and multiplier. Missing columns count as zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'a> {
    pub weights: &'a [i8],
    pub bias: i32,
    pub multiplier: i32,
}

/// Packs `rows` rows of `columns` columns, both padded, into `packed`, which holds [`linear_words`] words.
///
/// `row` is asked for every row; a row of padding is [`Row::default`].
pub fn pack_linear<'a>(layout: Layout, columns: usize, row: impl Fn(usize) -> Row<'a>, packed: &mut [u32]) {
    for (index, group) in packed.chunks_exact_mut(group_words(columns)).enumerate() {
        let (biases, rest) = group.split_at_mut(GROUP);
        let (words, multipliers) = rest.split_at_mut(rest.len() - GROUP);
        for lane in 0..GROUP {
            let row = row(index * GROUP + lane);
            biases[lane] = (row.bias << 8) as u32;
            multipliers[lane] = row.multiplier as u32;
            for (column, word) in words.iter_mut().skip(lane).step_by(GROUP).enumerate() {
                let weight = |offset: usize| row.weights.get(column * LANES + offset).copied().unwrap_or(0);
                *word = pack_word(layout, [weight(0), weight(1), weight(2), weight(3)]);
            }
        }
    }
}

/// Four weights of one row as a word.
#[must_use]
pub const fn pack_word(layout: Layout, weights: [i8; LANES]) -> u32 {
    match layout {
        Layout::Plain => u32::from_le_bytes([weights[0] as u8, weights[1] as u8, weights[2] as u8, weights[3] as u8]),
        Layout::Paired => pair(weights[0], weights[1]) | pair(weights[2], weights[3]) << 16,
    }
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
        assert_eq!(pack_word(Layout::Plain, [1, -1, 2, -2]), 0xFE02_FF01);
    }

    #[test]
    fn a_pair_borrows_from_its_odd_weight() {
        assert_eq!(pack_word(Layout::Paired, [-1, 3, 1, -3]), 0xFD01_02FF);
    }

    #[test]
    fn rows_come_in_groups_of_four() {
        let weights = [[1i8, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]];
        let mut packed = [0; linear_words(4, 4)];
        pack_linear(
            Layout::Plain,
            4,
            |row| weights.get(row).map_or(Row::default(), |weights| Row { weights, bias: -1, multiplier: 7 }),
            &mut packed,
        );
        assert_eq!(packed[..4], [-256i32 as u32, -256i32 as u32, -256i32 as u32, 0]);
        assert_eq!(packed[4..8], [0x0403_0201, 0x0807_0605, 0x0C0B_0A09, 0]);
        assert_eq!(packed[8..], [7, 7, 7, 0]);
    }
}
