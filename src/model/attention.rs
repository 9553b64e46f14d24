//! Causal multi-head attention over the rings of keys and values: one query, all heads.

use microformer_packed::Attention;

use super::clock::Turn;
use super::probe::Probe;
use super::words::Words;
use crate::arith::reciprocal;
use crate::kernels::{LAYOUT, Scoring, mix, scores, soften, store_key, store_value};

/// Room that attention needs while it runs.
pub struct Room<'s> {
    /// One row of scores: the window, made even.
    pub row: &'s mut [i16],
    pub expanded: &'s mut [u32],
}

/// Stores the token's key and value in slot `turn.slot`, then mixes the values that its query attends to.
///
/// `projected` holds all heads' queries, then keys, then values; `mixed` receives `(heads, head_len)`.
pub fn attend<P: Probe>(
    attention: &Attention,
    turn: Turn,
    rings: &mut [u32],
    (projected, mixed): (&[i8], &mut [i8]),
    room: &mut Room<'_>,
    (block, probe): (usize, &mut P),
) {
    let head_len = attention.head_len.max(1);
    let heads_len = attention.heads * head_len;
    let (queries, rest) = projected.split_at(heads_len.min(projected.len()));
    let (keys, values) = rest.split_at(heads_len.min(rest.len()));
    let per_head = queries.chunks_exact(head_len).zip(keys.chunks_exact(head_len)).zip(values.chunks_exact(head_len));
    let mut rings = Words(rings);
    for (head, (((query, key), value), output)) in per_head.zip(mixed.chunks_exact_mut(head_len)).enumerate() {
        let key_ring = rings.take(attention.key_words(LAYOUT));
        let value_ring = rings.take(attention.value_words());
        store_key(key_ring, turn.slot, key);
        store_value(value_ring, turn.slot, value);

        let scoring = Scoring {
            multiplier: attention.score_multiplier,
            slope: attention.slopes.get(head).copied().unwrap_or(0),
            distance: turn.slot as i32,
        };
        let filled = (turn.filled + 1).min(attention.window);
        let (row, spare) = room.row.split_at_mut(filled.min(room.row.len()));
        // From slot 0 to the newest, then, where the ring is full, from the oldest to the last slot.
        let (recent, old) = row.split_at_mut((turn.slot + 1).min(row.len()));
        scores(query, room.expanded, key_ring, 0, scoring, recent);
        if !old.is_empty() {
            let oldest = Scoring { distance: attention.window as i32 - 1, ..scoring };
            scores(query, room.expanded, key_ring, turn.slot + 1, oldest, old);
        }
        let sum = soften(row);
        probe.weights(block, head, row, sum);
        if let Some(partner) = spare.first_mut() {
            *partner = 0;
        }
        let even = filled.next_multiple_of(2).min(room.row.len());
        mix(room.row.split_at(even).0, value_ring, reciprocal(sum, attention.mixing), output);
    }
}
