//! Thresholds for a wished number of false alarms an hour: as many words heard as that allows.
//!
//! False alarms are rare, and a word that had none in an hour is not a word that never has one. So a word's rate is
//! not its own count but what is to be expected after it (Poisson counts, exponentially distributed rates about the
//! mean of all words): `mean · (1 + own) / (1 + mean)`. A word with few is held near the others, one with many stands
//! for itself. All words pay one price for a false alarm; between two thresholds of equal worth the higher one is taken,
//! so fewer false alarms than allowed may be what comes out.

use super::judge::Kind;

/// The lowest threshold that is considered, in Q15: events below it are not looked for.
pub const FLOOR: u16 = 32768 / 4;

/// One event as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub label: usize,
    /// In Q15.
    pub confidence: u16,
    pub kind: Kind,
}

/// What each threshold of one word brings.
struct Word {
    /// Words heard less words taken for others.
    gain: Vec<f64>,
    false_alarms: Vec<f64>,
}

/// The threshold of each word, in Q15; `labels` are those that are words, `allowed` counts over all the sound.
pub fn thresholds(found: &[Found], labels: &[usize], allowed: f64) -> Vec<u16> {
    let candidates = candidates(found);
    let mut words: Vec<Word> = labels.iter().map(|&label| Word::of(found, label, &candidates)).collect();
    expect(&mut words);
    // The price of a false alarm, in words heard, rises until few enough are expected.
    let choices = (-10..40).map(|power| {
        let price = (f64::from(power) / 4.0).exp2();
        words.iter().map(|word| word.best(price)).collect::<Vec<_>>()
    });
    let expected =
        |choice: &Vec<usize>| -> f64 { words.iter().zip(choice).map(|(word, &index)| word.false_alarms[index]).sum() };
    let last = vec![candidates.len() - 1; words.len()];
    let chosen = choices.into_iter().find(|choice| expected(choice) <= allowed).unwrap_or(last);
    chosen.into_iter().map(|index| candidates[index]).collect()
}

/// Thresholds that differ in what they let through: between two neighbouring confidences, and above all of them.
fn candidates(found: &[Found]) -> Vec<u16> {
    let mut steps: Vec<u16> = found.iter().map(|event| event.confidence).collect();
    steps.extend([FLOOR, 32768]);
    steps.sort_unstable();
    steps.dedup();
    let mut candidates = vec![FLOOR];
    candidates.extend(steps.windows(2).map(|pair| pair[0] + (pair[1] - pair[0]).div_ceil(2)));
    candidates
}

impl Word {
    fn of(found: &[Found], label: usize, candidates: &[u16]) -> Self {
        let count = |threshold: u16, wanted: fn(Kind) -> bool| {
            let is_counted =
                |event: &&Found| event.label == label && event.confidence >= threshold && wanted(event.kind);
            found.iter().filter(is_counted).count() as f64
        };
        let right = |kind| matches!(kind, Kind::Right(_));
        let wrong = |kind| matches!(kind, Kind::Wrong(_));
        let alarm = |kind| kind == Kind::FalseAlarm;
        Self {
            gain: candidates.iter().map(|&threshold| count(threshold, right) - count(threshold, wrong)).collect(),
            false_alarms: candidates.iter().map(|&threshold| count(threshold, alarm)).collect(),
        }
    }

    /// The threshold with the largest gain at a price for each false alarm; the highest of those that are equal.
    fn best(&self, price: f64) -> usize {
        let worth = |index: usize| self.gain[index] - price * self.false_alarms[index];
        (0..self.gain.len()).max_by(|&a, &b| worth(a).total_cmp(&worth(b))).unwrap_or(0)
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

    fn found(label: usize, confidence: u16, kind: Kind) -> Found {
        Found { label, confidence, kind }
    }

    #[test]
    fn fewer_false_alarms_cost_words() {
        let mut events: Vec<Found> = (0..100).map(|step| found(0, 10000 + 200 * step, Kind::Right(0))).collect();
        // The more certain, the rarer, as false alarms are.
        events.extend((0..15).map(|step| found(0, 9000 + 100 * step * step, Kind::FalseAlarm)));
        let heard = |allowed: f64| {
            let threshold = thresholds(&events, &[0], allowed)[0];
            let passed = |event: &&Found| event.confidence >= threshold;
            let alarms = events.iter().filter(passed).filter(|event| event.kind == Kind::FalseAlarm).count();
            assert!(alarms as f64 <= allowed, "{alarms} false alarms where {allowed} are allowed");
            events.iter().filter(passed).count() - alarms
        };
        assert!(heard(10.0) > heard(2.0) && heard(2.0) > heard(0.0));
        assert_eq!(heard(20.0), 100);
    }

    #[test]
    fn a_word_with_many_false_alarms_gets_a_higher_threshold() {
        let mut events = Vec::new();
        for step in 0..50 {
            events.push(found(0, 15000 + 300 * step, Kind::Right(0)));
            events.push(found(1, 15000 + 300 * step, Kind::Right(1)));
            events.push(found(1, 9000 + 300 * step, Kind::FalseAlarm));
        }
        let chosen = thresholds(&events, &[0, 1], 3.0);
        assert!(chosen[0] < chosen[1], "{chosen:?}");
    }

    #[test]
    fn without_events_every_threshold_is_the_highest() {
        assert_eq!(thresholds(&[], &[0, 1], 0.0), [20480, 20480]);
    }
}
