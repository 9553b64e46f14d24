//! Causal multi-head attention over the rings of keys and values: one token, or three as long as no ring has gone round.

use microformer_packed::{Attention, TOGETHER};

use super::clock::Turn;
use super::probe::Probe;
use super::words::{Words, piece_mut};
use crate::arith::reciprocal;
use crate::kernels::{LAYOUT, Mixture, Scoring, mix, scores, scores_three, soften, store_key, store_value};

/// Room that attention needs while it runs.
pub struct Room<'s> {
    /// A row of scores for each token that is taken together, one behind the other.
    pub rows: &'s mut [i16],
    pub expanded: &'s mut [u32],
}

/// What every head of one block's attention shares.
pub struct Heads<'s, 'p, P> {
    pub attention: &'s Attention<'s>,
    pub block: usize,
    pub rings: &'s mut [u32],
    pub room: Room<'s>,
    pub probe: &'p mut P,
}

impl<P: Probe> Heads<'_, '_, P> {
    /// Stores each token's key and value in its slot, and mixes the values that its query attends to.
    ///
    /// A token of `projected` holds all heads' queries, then keys, then values; one of `mixed` receives
    /// `(heads, head_len)`. The slots begin at `turn`.
    pub fn attend(&mut self, mut turn: Turn, projected: &[i8], mixed: &mut [i8]) {
        let (wide, narrow) = (self.attention.query_key_value.rows, self.attention.output.columns);
        let mut done = 0;
        while let (Some(projected), Some(mixed)) = (projected.get(done * wide..), mixed.get_mut(done * narrow..))
            && projected.len() >= wide.max(1)
        {
            // Later keys would overwrite what earlier queries must still see, once the ring is full.
            let fits = turn.filled + TOGETHER <= self.attention.window && self.room.rows.len() > self.attention.row();
            let count = if fits && projected.len() >= TOGETHER * wide { TOGETHER } else { 1 };
            match count {
                1 => self.one(turn, projected, mixed),
                _ => self.three(turn, projected, mixed),
            }
            for _ in 0..count {
                turn.advance(self.attention.window);
            }
            done += count;
        }
    }

    fn one(&mut self, turn: Turn, projected: &[i8], mixed: &mut [i8]) {
        let attention = self.attention;
        let filled = (turn.filled + 1).min(attention.window);
        let (row, _) = self.room.rows.split_at_mut(attention.row().min(self.room.rows.len()));
        let mut rings = Words(&mut *self.rings);
        let mut new_values = projected;
        let [mut queries, mut new_keys] = [(); 2].map(|()| next(&mut new_values, attention.heads * attention.head_len));
        for (head, output) in mixed.chunks_exact_mut(attention.head_len.max(1)).take(attention.heads).enumerate() {
            let keys = rings.take(attention.key_words(LAYOUT));
            let values = rings.take(attention.value_words());
            let [query, key, value] =
                [&mut queries, &mut new_keys, &mut new_values].map(|all| next(all, attention.head_len));
            store_key(keys, turn.slot, key);
            store_value(values, turn.slot, value);
            let scoring = scoring(attention, head, turn.slot, filled);
            scores(query, self.room.expanded, keys, scoring, row);
            let weights = row.get_mut(..filled).unwrap_or_default();
            let sum = soften(weights);
            self.probe.weights(self.block, head, weights, sum);
            let multiplier = reciprocal(sum, attention.mixing);
            mix(row, Mixture { filled, sum, multiplier }, values, output);
        }
    }

    /// Out of line: what it prepares would burden every step.
    #[inline(never)]
    fn three(&mut self, turn: Turn, projected: &[i8], mixed: &mut [i8]) {
        let attention = self.attention;
        let (wide, narrow) = (attention.query_key_value.rows, attention.output.columns);
        let tokens = [0, 1, 2].map(|token| projected.get(token * wide..).unwrap_or_default());
        let mut rings = Words(&mut *self.rings);
        for head in 0..attention.heads {
            let keys = rings.take(attention.key_words(LAYOUT));
            let values = rings.take(attention.value_words());
            let vectors = tokens.map(|token| vectors(attention, token, head));
            for (slot, [_, key, value]) in (turn.slot..).zip(vectors) {
                store_key(keys, slot, key);
                store_value(values, slot, value);
            }
            let scoring = scoring(attention, head, turn.slot, turn.slot + 1);
            let (rows, _) = self.room.rows.split_at_mut((TOGETHER * attention.row()).min(self.room.rows.len()));
            scores_three(vectors.map(|[query, ..]| query), self.room.expanded, keys, scoring, rows);
            for token in 0..TOGETHER {
                let row = piece_mut(rows, token, attention.row());
                let filled = turn.slot + 1 + token;
                let weights = row.get_mut(..filled).unwrap_or_default();
                let sum = soften(weights);
                self.probe.weights(self.block, head, weights, sum);
                let start = token * narrow + head * attention.head_len;
                let output = mixed.get_mut(start..start + attention.head_len).unwrap_or_default();
                let multiplier = reciprocal(sum, attention.mixing);
                mix(row, Mixture { filled, sum, multiplier }, values, output);
            }
        }
    }
}

fn scoring(attention: &Attention, head: usize, newest: usize, filled: usize) -> Scoring {
    let slope = attention.slopes.get(head).copied().unwrap_or(0);
    Scoring { multiplier: attention.score_multiplier, slope, newest, filled }
}

/// The first `len` values, which are left out from now on.
fn next<'p>(values: &mut &'p [i8], len: usize) -> &'p [i8] {
    let (first, rest) = values.split_at(len.min(values.len()));
    *values = rest;
    first
}

/// Query, key and value of one head.
fn vectors<'p>(attention: &Attention, projected: &'p [i8], head: usize) -> [&'p [i8]; 3] {
    let len = attention.head_len;
    [0, 1, 2].map(|part| {
        let start = (part * attention.heads + head) * len;
        projected.get(start..start + len).unwrap_or_default()
    })
}
