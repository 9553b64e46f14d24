//! What becomes of the scores of each token: nothing, or their mean over the last tokens.
//!
//! The head is linear, so the mean of scores is the score of the mean; scores are fewer than channels.

use bytemuck::cast_slice_mut;
use microformer_packed::{Model, Pool};

use super::clock::Turn;
use super::words::{Words, piece_mut};

/// A mean over everything forgets by halves from here on, so that it can go on for ever: 2¹⁵ · 2¹⁵ stays below 2³¹.
pub const MAX_COUNT: usize = 1 << 15;

/// Takes the newest `scores` into the mean and leaves the mean in its place.
pub fn pool(model: &Model, turn: &mut Turn, words: &mut Words<'_>, scores: &mut [i16]) {
    let Pool::Mean { tokens } = model.pool else { return };
    let sums: &mut [i32] = cast_slice_mut(words.take(model.scores()));
    let ring = words.halves(tokens * model.scores());
    if tokens == 0 {
        if turn.filled == MAX_COUNT {
            sums.iter_mut().for_each(|sum| *sum /= 2);
            turn.filled /= 2;
        }
        turn.filled += 1;
    } else {
        let oldest = piece_mut(ring, turn.slot, model.scores());
        for ((old, sum), &new) in oldest.iter_mut().zip(sums.iter_mut()).zip(scores.iter()) {
            *sum -= i32::from(*old);
            *old = new;
        }
        turn.advance(tokens);
    }
    for (sum, score) in sums.iter_mut().zip(scores) {
        *sum += i32::from(*score);
        *score = rounded_mean(*sum, turn.filled as i32);
    }
}

/// `sum / count`, rounded half away from zero. A mean of 16-bit values fits 16 bits.
fn rounded_mean(sum: i32, count: i32) -> i16 {
    let half = if sum < 0 { -(count / 2) } else { count / 2 };
    (sum + half).checked_div(count).unwrap_or(0) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_round_half_away_from_zero() {
        assert_eq!(rounded_mean(5, 2), 3);
        assert_eq!(rounded_mean(-5, 2), -3);
        assert_eq!(rounded_mean(-4, 3), -1);
    }
}
