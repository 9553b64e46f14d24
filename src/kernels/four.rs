//! Matrices whose weights take 4 bits in flash: a group of rows becomes words of 8 bits, which the 8-bit kernels multiply.
//!
//! An M4 multiplies up to 512 columns, and an M3 all, as they lie in flash, without this detour.
//!
//! The numbers are those of an 8-bit matrix whose weights lie in [−7, 7], on every chip. Words are unpacked in the order in
//! which they lie, so that no index is computed.

use microformer_packed::{Bits, GROUP, Linear};

use super::fast::{self, LAYOUT};

/// `output = saturate(W · input + bias)`, 8 bits. `expanded` has room for what the 8-bit kernel expands, and after it for
/// [`Linear::unpacked_words`] words.
pub fn linear(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [i8]) {
    match matrix.bits {
        Bits::Eight => fast::linear(matrix, input, expanded, output),
        #[cfg(any(dsp, all(scalar, not(armv6m))))]
        Bits::Four if fast::linear_of_four(matrix, input, expanded, output) => {}
        Bits::Four => run(matrix, input, expanded, output, fast::linear),
    }
}

/// `stream += W · input + bias`, 16 bits, saturating twice. `expanded` as for [`linear`].
pub fn linear_add(matrix: &Linear, input: &[i8], expanded: &mut [u32], stream: &mut [i16]) {
    match matrix.bits {
        Bits::Eight => fast::linear_add(matrix, input, expanded, stream),
        #[cfg(any(dsp, all(scalar, not(armv6m))))]
        Bits::Four if fast::linear_add_of_four(matrix, input, expanded, stream) => {}
        Bits::Four => run(matrix, input, expanded, stream, fast::linear_add),
    }
}

type Kernel<T> = fn(&Linear, &[i8], &mut [u32], &mut [T]);

/// Token by token, as many times four rows together as there is room for.
#[inline(never)]
fn run<T>(matrix: &Linear, input: &[i8], expanded: &mut [u32], output: &mut [T], kernel: Kernel<T>) {
    let (rows, columns) = (matrix.rows.max(1), matrix.columns.max(1));
    let words = LAYOUT.group_words(columns).max(1);
    let stored = LAYOUT.stored_group_words(Bits::Four, columns).max(1);
    debug_assert_eq!(matrix.packed.len(), LAYOUT.stored_words(Bits::Four, matrix.rows, matrix.columns));
    let (expanded, room) = expanded.split_at_mut(LAYOUT.expanded_words(columns).min(expanded.len()));
    // Four rows fill whole groups in every layout, and words of the output.
    let fours = room.len() / LAYOUT.words(GROUP, columns).max(1);
    debug_assert!(fours > 0, "there is room for four rows");
    for (token, results) in input.chunks_exact(columns).zip(output.chunks_exact_mut(rows)) {
        let packed = matrix.packed.chunks((fours * GROUP / LAYOUT.rows() * stored).max(1));
        for (packed, results) in packed.zip(results.chunks_mut((fours * GROUP).max(1))) {
            let (room, _) = room.split_at_mut((packed.len() / stored * words).min(room.len()));
            for (group, room) in packed.chunks_exact(stored).zip(room.chunks_exact_mut(words)) {
                unpack(group, room);
            }
            kernel(&Linear { rows: results.len(), columns, bits: Bits::Eight, packed: room }, token, expanded, results);
        }
    }
}

/// A group of 4-bit rows as the group of 8-bit rows that it stands for.
fn unpack(group: &[u32], room: &mut [u32]) {
    const EDGE: usize = LAYOUT.rows();
    const MANY: usize = LAYOUT.words_in_four_bits();
    let (biases, group) = group.split_at(EDGE.min(group.len()));
    let (group, multipliers) = group.split_at(group.len().saturating_sub(EDGE));
    let (opening, room) = room.split_at_mut(EDGE.min(room.len()));
    let (room, closing) = room.split_at_mut(room.len().saturating_sub(EDGE));
    opening.iter_mut().zip(biases).for_each(|(word, &bias)| *word = bias);
    for (words, &packed) in room.as_chunks_mut::<MANY>().0.iter_mut().zip(group) {
        for (index, word) in (0..).zip(words) {
            *word = LAYOUT.unpack(packed, index);
        }
    }
    closing.iter_mut().zip(multipliers).for_each(|(word, &multiplier)| *word = multiplier);
}
