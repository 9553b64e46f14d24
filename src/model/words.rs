//! Carving one static into the parts of a state: sizes come from `microformer_packed`, which also sized the static.

use bytemuck::cast_slice_mut;

/// What is left of a run of words.
pub struct Words<'s>(pub &'s mut [u32]);

impl<'s> Words<'s> {
    /// The next `count` words, or fewer where the run ends: `State::new` has checked that it does not.
    pub fn take(&mut self, count: usize) -> &'s mut [u32] {
        let rest = core::mem::take(&mut self.0);
        debug_assert!(count <= rest.len(), "state of {} words is short of {count}", rest.len());
        let (taken, rest) = rest.split_at_mut(count.min(rest.len()));
        self.0 = rest;
        taken
    }

    /// The next `count` bytes, a multiple of four.
    pub fn bytes(&mut self, count: usize) -> &'s mut [i8] {
        cast_slice_mut(self.take(count / 4))
    }

    /// The next `count` halfwords, a multiple of two.
    pub fn halves(&mut self, count: usize) -> &'s mut [i16] {
        cast_slice_mut(self.take(count / 2))
    }
}

/// Copies values, of which there are as many here as there.
pub fn copy(from: &[i8], to: &mut [i8]) {
    debug_assert_eq!(from.len(), to.len());
    if from.len() == to.len() {
        to.copy_from_slice(from);
    }
}

/// The piece `index` of pieces of `len` values; no values where there is none.
///
/// Iterators over pieces divide, which no Cortex-M0 can.
pub fn piece<T>(values: &[T], index: usize, len: usize) -> &[T] {
    values.get(index * len..(index + 1) * len).unwrap_or_default()
}

/// [`piece`], to be written.
pub fn piece_mut<T>(values: &mut [T], index: usize, len: usize) -> &mut [T] {
    values.get_mut(index * len..(index + 1) * len).unwrap_or_default()
}
