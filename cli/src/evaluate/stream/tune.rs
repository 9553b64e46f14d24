//! Thresholds for a wished number of false alarms an hour: as many words heard as that allows.
//!
//! False alarms are rare, and a word that had none in an hour is not a word that never has one. So a word's rate is
//! not its own count but what is to be expected after it (Poisson counts, exponentially distributed rates about the
//! mean of all words): `mean · (1 + own) / (1 + mean)`. A word with few is held near the others, one with many stands
//! for itself. All words pay one price for a false alarm; between two thresholds of equal worth the higher one is taken,
//! so fewer false alarms than allowed may be what comes out. And no word goes further than [`REACH`] from the one threshold
//! that would do for all: what a hundred utterances of a word say beyond that is chance.

use super::judge::Kind;
use std::ops::RangeInclusive;

/// The thresholds that are tried: 0.40 to 0.98.
pub fn candidates() -> impl Iterator<Item = f64> {
    (20..50).map(|step| f64::from(step) / 50.0)
}

/// How many candidates a word's threshold may be away from the common one.
const REACH: usize = 4;

/// One event as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub label: usize,
    pub kind: Kind,
}

/// What each threshold of one word brings.
struct Word {
    /// Words heard less words taken for others.
    gain: Vec<f64>,
    false_alarms: Vec<f64>,
}

/// Which candidate each word takes. `runs` are the events with each candidate for all words, `labels` those that are
/// words, `allowed` counts over all the sound.
pub fn choose(runs: &[Vec<Found>], labels: &[usize], allowed: f64) -> Vec<usize> {
    let mut words: Vec<Word> = labels.iter().map(|&label| Word::of(runs, label)).collect();
    expect(&mut words);
    let last = runs.len() - 1;
    let all = Word::all(&words);
    let common = prices().map(|price| all.best(0..=last, price)).find(|&index| all.false_alarms[index] <= allowed);
    let common = common.unwrap_or(last);
    let near = common.saturating_sub(REACH)..=(common + REACH).min(last);
    let choices = prices().map(|price| words.iter().map(|word| word.best(near.clone(), price)).collect::<Vec<_>>());
    let expected =
        |choice: &Vec<usize>| -> f64 { words.iter().zip(choice).map(|(word, &index)| word.false_alarms[index]).sum() };
    choices.into_iter().find(|choice| expected(choice) <= allowed).unwrap_or(vec![common; words.len()])
}

/// The price of a false alarm, in words heard: it rises until few enough are expected.
fn prices() -> impl Iterator<Item = f64> {
    (-40..160).map(|power| (f64::from(power) / 16.0).exp2())
}

impl Word {
    fn of(runs: &[Vec<Found>], label: usize) -> Self {
        let count = |run: &[Found], wanted: fn(Kind) -> bool| {
            run.iter().filter(|event| event.label == label && wanted(event.kind)).count() as f64
        };
        let right = |kind| matches!(kind, Kind::Right(_));
        let wrong = |kind| matches!(kind, Kind::Wrong(_));
        let alarm = |kind| kind == Kind::FalseAlarm;
        Self {
            gain: runs.iter().map(|run| count(run, right) - count(run, wrong)).collect(),
            false_alarms: runs.iter().map(|run| count(run, alarm)).collect(),
        }
    }

    /// What one threshold for all words brings.
    fn all(words: &[Self]) -> Self {
        let sum = |values: fn(&Self) -> &Vec<f64>| {
            let count = words.first().map_or(0, |word| values(word).len());
            (0..count).map(|index| words.iter().map(|word| values(word)[index]).sum()).collect()
        };
        Self { gain: sum(|word| &word.gain), false_alarms: sum(|word| &word.false_alarms) }
    }

    /// The one of `thresholds` with the largest gain at a price for each false alarm; the highest of those that are equal.
    fn best(&self, thresholds: RangeInclusive<usize>, price: f64) -> usize {
        let worth = |index: usize| self.gain[index] - price * self.false_alarms[index];
        thresholds.max_by(|&a, &b| worth(a).total_cmp(&worth(b))).unwrap_or(0)
    }
}

/// Counts become what is to be expected.
fn expect(words: &mut [Word]) {
    for index in 0..words.first().map_or(0, |word| word.false_alarms.len()) {
        let mean = words.iter().map(|word| word.false_alarms[index]).sum::<f64>() / words.len() as f64;
        for word in words.iter_mut() {
            word.false_alarms[index] = mean * (1.0 + word.false_alarms[index]) / (1.0 + mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is heard of these events (label, confidence, kind) with each candidate.
    fn runs(events: &[(usize, f64, Kind)]) -> Vec<Vec<Found>> {
        let passed = |threshold: f64| {
            let passed = events.iter().filter(|(_, confidence, _)| *confidence >= threshold);
            passed.map(|&(label, _, kind)| Found { label, kind }).collect()
        };
        candidates().map(passed).collect()
    }

    #[test]
    fn fewer_false_alarms_cost_words() {
        let mut events: Vec<_> = (0..100).map(|step| (0, 0.4 + 0.006 * f64::from(step), Kind::Right(0))).collect();
        // The more certain, the rarer, as false alarms are.
        events.extend((0..15).map(|step| (0, 0.4 + 0.002 * f64::from(step * step), Kind::FalseAlarm)));
        let runs = runs(&events);
        let heard = |allowed: f64| {
            let run = &runs[choose(&runs, &[0], allowed)[0]];
            let alarms = run.iter().filter(|event| event.kind == Kind::FalseAlarm).count();
            assert!(alarms as f64 <= allowed, "{alarms} false alarms where {allowed} are allowed");
            run.len() - alarms
        };
        assert!(heard(10.0) > heard(2.0) && heard(2.0) > heard(0.0));
        assert_eq!(heard(20.0), 100);
    }

    #[test]
    fn a_word_with_many_false_alarms_gets_a_higher_threshold() {
        let mut events = Vec::new();
        for step in (0..50).map(f64::from) {
            events.push((0, 0.45 + 0.01 * step, Kind::Right(0)));
            events.push((1, 0.45 + 0.01 * step, Kind::Right(1)));
            events.push((1, 0.3 + 0.01 * step, Kind::FalseAlarm));
        }
        let chosen = choose(&runs(&events), &[0, 1], 3.0);
        assert!(chosen[0] < chosen[1], "{chosen:?}");
    }

    #[test]
    fn without_events_every_threshold_is_the_highest() {
        assert_eq!(choose(&runs(&[]), &[0, 1], 0.0), [29, 29]);
    }
}
