//! Scores of one token in, the next token out.

use super::Random;
use crate::arith::EXPONENTIAL;
use crate::arith::exponential::STEPS;

/// How the next token is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// What scores are divided by before the softmax, in thousandths; 0 always takes the likeliest token.
    pub temperature_milli: u32,
    /// Only so many of the likeliest tokens are drawn from; 0 for all.
    pub top_k: usize,
    pub seed: u32,
}

impl Sampling {
    /// Always the likeliest token.
    pub const GREEDY: Self = Self { temperature_milli: 0, top_k: 1, seed: 0 };
}

/// Chooses token after token.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// Steps of the exponential's table for one unit of a score, Q16; 0 takes the likeliest token.
    steps_q16: u32,
    top_k: usize,
    random: Random,
}

impl Sampler {
    /// For scores with `1 << fraction_bits` to a natural-logarithm unit.
    #[must_use]
    pub const fn new(sampling: &Sampling, fraction_bits: u32) -> Self {
        let fraction_bits = if fraction_bits < 15 { fraction_bits } else { 15 };
        let steps_q16 = match sampling.temperature_milli {
            0 => 0,
            milli => {
                // 96 · 1000 · 2¹⁶ stays below 2³³.
                let unit_q16 = (STEPS as u64 * 1000) << 16;
                let divisor = (milli as u64) << fraction_bits;
                let steps = (unit_q16 + divisor / 2) / divisor;
                // So hot that a score counts for nothing is still not greedy.
                if steps == 0 { 1 } else { steps as u32 }
            }
        };
        Self { steps_q16, top_k: sampling.top_k, random: Random::new(sampling.seed) }
    }

    /// The next token: an index into `scores`. The first of equals counts as the likeliest; 0 where there is no score.
    pub fn choose(&mut self, scores: &[i16]) -> usize {
        let maximum = scores.iter().copied().max().unwrap_or(0);
        let likeliest = scores.iter().position(|&score| score == maximum).unwrap_or(0);
        if self.steps_q16 == 0 {
            return likeliest;
        }
        let cut = Cut::of(scores, self.top_k);
        // The maximum itself weighs 2¹⁵ − 1, and 2¹⁵ · 2¹⁶ labels stay below 2³².
        let sum = self.weights(scores, maximum, cut).map(|(_, weight)| weight).sum();
        let mut left = self.random.below(sum);
        for (token, weight) in self.weights(scores, maximum, cut) {
            if left < weight {
                return token;
            }
            left -= weight;
        }
        likeliest
    }

    /// Every token that may be drawn, with its share of the chance.
    fn weights<'s>(&self, scores: &'s [i16], maximum: i16, mut cut: Cut) -> impl Iterator<Item = (usize, u32)> + 's {
        let steps_q16 = u64::from(self.steps_q16);
        scores.iter().enumerate().filter(move |(_, score)| cut.keeps(**score)).map(move |(token, &score)| {
            let distance = u64::from(i32::from(maximum).abs_diff(i32::from(score)));
            let steps = (distance * steps_q16 + (1 << 15)) >> 16;
            let weight = EXPONENTIAL.get(usize::try_from(steps).unwrap_or(usize::MAX));
            (token, weight.map_or(0, |&weight| weight as u32))
        })
    }
}

/// What separates the k largest scores from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    least: i16,
    /// How many that equal the least are kept: the first ones.
    equals: usize,
}

impl Cut {
    /// Finds the k-th largest score bit by bit, which takes no memory: 16 counts of all scores.
    fn of(scores: &[i16], top_k: usize) -> Self {
        if top_k == 0 || top_k >= scores.len() {
            return Self { least: i16::MIN, equals: usize::MAX };
        }
        let above = |bound: i32| scores.iter().filter(|&&score| i32::from(score) > bound).count();
        // The smallest bound that fewer than k scores exceed.
        let mut least = i32::from(i16::MIN) - 1;
        for bit in (0..16).rev() {
            let trial = least + (1 << bit);
            if above(trial) >= top_k {
                least = trial;
            }
        }
        least += 1;
        Self { least: least as i16, equals: top_k - above(least) }
    }

    /// Asked once for each score, in their order.
    fn keeps(&mut self, score: i16) -> bool {
        if score != self.least {
            return score > self.least;
        }
        let keeps = self.equals > 0;
        self.equals = self.equals.saturating_sub(1);
        keeps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each token is drawn.
    fn draw(sampling: Sampling, scores: &[i16], times: usize) -> [usize; 8] {
        let mut sampler = Sampler::new(&sampling, 8);
        let mut counts = [0; 8];
        for _ in 0..times {
            counts[sampler.choose(scores)] += 1;
        }
        counts
    }

    #[test]
    fn the_greedy_choice_is_the_first_largest() {
        let mut sampler = Sampler::new(&Sampling::GREEDY, 8);
        assert_eq!(sampler.choose(&[-5, 7, 3, 7]), 1);
        assert_eq!(sampler.choose(&[i16::MIN]), 0);
        assert_eq!(sampler.choose(&[]), 0);
    }

    #[test]
    fn chances_are_those_of_the_softmax() {
        // ln 3 in Q8 is 281: three to one at temperature 1, nine to one at one half, √3 to one at 2.
        for (temperature_milli, expected) in [(1000, 0.75), (500, 0.9), (2000, 0.634)] {
            let sampling = Sampling { temperature_milli, top_k: 0, seed: 3 };
            let counts = draw(sampling, &[281, 0], 20_000);
            let share = counts[0] as f64 / 20_000.0;
            // Three standard deviations of 20,000 draws are 0.01.
            assert!((share - expected).abs() < 0.012, "{share} is not {expected}");
        }
    }

    #[test]
    fn only_the_likeliest_are_drawn() {
        let sampling = Sampling { temperature_milli: 5000, top_k: 3, seed: 9 };
        let counts = draw(sampling, &[10, -300, 20, 10, 10, -9], 3000);
        assert_eq!(counts[1] + counts[4] + counts[5], 0, "{counts:?}");
        assert!(counts[0] > 800 && counts[2] > 800 && counts[3] > 800, "{counts:?}");
    }

    #[test]
    fn the_cut_is_that_of_a_sorted_list() {
        let scores = [i16::MAX, -4, 0, 0, i16::MIN, 0, 17, i16::MIN];
        for (top_k, least, equals) in [(1, i16::MAX, 1), (2, 17, 1), (3, 0, 1), (5, 0, 3), (6, -4, 1), (7, i16::MIN, 1)]
        {
            assert_eq!(Cut::of(&scores, top_k), Cut { least, equals }, "{top_k}");
        }
    }

    #[test]
    fn extremes_are_borne() {
        for temperature_milli in [1, u32::MAX] {
            let sampling = Sampling { temperature_milli, top_k: 0, seed: 0 };
            let counts = draw(sampling, &[i16::MIN, i16::MAX], 100);
            assert_eq!(counts[0] + counts[1], 100);
            assert_eq!(temperature_milli == 1, counts[0] == 0);
        }
    }

    #[test]
    fn a_seed_is_a_text() {
        let choices = |seed| {
            let mut sampler = Sampler::new(&Sampling { temperature_milli: 1000, top_k: 0, seed }, 8);
            core::array::from_fn::<_, 24, _>(|_| sampler.choose(&[0, 100, 200, 50]))
        };
        assert_eq!(choices(5), choices(5));
        assert_ne!(choices(5), choices(6));
    }
}
