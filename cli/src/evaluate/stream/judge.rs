//! Events against what was said: every spoken word answers for one event at most.
//!
//! A word is heard when an event of its label lies in it. A wrong word is an event in a word that is not heard: it is a
//! miss already, and no false alarm besides. All other events are false alarms.

use super::{Stream, seconds};
use microformer::pipeline::Heard;
use serde::Serialize;

/// An event may come so long after the end of its word, or before its start: a word's end is known to a few tokens only.
const TOLERANCE: f64 = 0.5;

/// What an event turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The word with this index was said.
    Right(usize),
    /// The word with this index was said, but taken for another.
    Wrong(usize),
    FalseAlarm,
}

/// Misses and false alarms of all words.
#[derive(Debug, Serialize)]
pub struct Point {
    /// One for all words; absent where each has its own.
    pub threshold: Option<f64>,
    pub heard: usize,
    pub misses: usize,
    /// Misses of which another word was heard.
    pub wrong: usize,
    pub miss_rate: f64,
    pub false_alarms: usize,
    pub false_alarms_per_hour: f64,
}

/// The same for one word.
#[derive(Debug, Serialize)]
pub struct WordFigures {
    pub word: String,
    pub threshold: f64,
    pub said: usize,
    pub heard: usize,
    /// How often this word was said, and another heard.
    pub wrong: usize,
    /// How often this word was heard where no word was said.
    pub false_alarms: usize,
}

/// Events, and what each turned out to be.
pub struct Judged<'s> {
    pub events: Vec<Heard>,
    pub kinds: Vec<Kind>,
    stream: &'s Stream,
}

impl<'s> Judged<'s> {
    pub fn new(events: Vec<Heard>, stream: &'s Stream) -> Self {
        let kinds = kinds(&events, stream);
        Self { events, kinds, stream }
    }

    pub fn point(&self, threshold: Option<f64>) -> Point {
        let count = |wanted: fn(&Kind) -> bool| self.kinds.iter().filter(|kind| wanted(kind)).count();
        let words = self.stream.words.iter().filter(|word| word.label.is_some()).count();
        let heard = count(|kind| matches!(kind, Kind::Right(_)));
        let false_alarms = count(|kind| *kind == Kind::FalseAlarm);
        Point {
            threshold,
            heard,
            misses: words - heard,
            wrong: count(|kind| matches!(kind, Kind::Wrong(_))),
            miss_rate: (words - heard) as f64 / words.max(1) as f64,
            false_alarms,
            false_alarms_per_hour: false_alarms as f64 / self.stream.hours(),
        }
    }

    pub fn word(&self, label: usize, name: &str, threshold: f64) -> WordFigures {
        let is_said = |index: usize| self.stream.words[index].label == Some(label);
        let count = |wanted: &dyn Fn(&Heard, Kind) -> bool| {
            self.events.iter().zip(&self.kinds).filter(|(event, kind)| wanted(event, **kind)).count()
        };
        WordFigures {
            word: name.to_owned(),
            threshold,
            said: self.stream.words.iter().filter(|word| word.label == Some(label)).count(),
            heard: count(&|_, kind| matches!(kind, Kind::Right(index) if is_said(index))),
            wrong: count(&|_, kind| matches!(kind, Kind::Wrong(index) if is_said(index))),
            false_alarms: count(&|event, kind| event.label == label && kind == Kind::FalseAlarm),
        }
    }
}

/// First come the events that are right, then what is left of the words answers for wrong ones.
fn kinds(events: &[Heard], stream: &Stream) -> Vec<Kind> {
    let tolerance = seconds(TOLERANCE, stream.rate) as u64;
    let mut answered = vec![false; stream.words.len()];
    let mut kinds = vec![Kind::FalseAlarm; events.len()];
    for right in [true, false] {
        for (event, kind) in events.iter().zip(&mut kinds).filter(|(_, kind)| **kind == Kind::FalseAlarm) {
            let found = stream.words.iter().enumerate().position(|(index, word)| {
                let label_fits = if right { word.label == Some(event.label) } else { word.label.is_some() };
                let time_fits = event.end + tolerance >= word.start && event.end <= word.end + tolerance;
                !answered[index] && label_fits && time_fits
            });
            if let Some(index) = found {
                answered[index] = true;
                *kind = if right { Kind::Right(index) } else { Kind::Wrong(index) };
            }
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::super::Word;
    use super::*;
    use microformer::decide::U1F15;

    fn event(label: usize, end: u64) -> Heard {
        Heard { label, start: 0, end, confidence: U1F15::ONE }
    }

    #[test]
    fn each_word_answers_for_one_event() {
        let word = |start, label| Word { start, end: start + 16000, label };
        let words = vec![word(16000, Some(0)), word(64000, Some(1)), word(112_000, None)];
        let stream = Stream { samples: vec![0; 160_000], rate: 16000, words };
        // Right, the same again, wrong word, wrong again, in other speech, in silence.
        let events =
            [event(0, 30000), event(0, 31000), event(0, 70000), event(0, 71000), event(1, 120_000), event(1, 150_000)];
        let judged = Judged::new(events.to_vec(), &stream);
        let alarm = Kind::FalseAlarm;
        assert_eq!(judged.kinds, [Kind::Right(0), alarm, Kind::Wrong(1), alarm, alarm, alarm]);
        let point = judged.point(None);
        assert_eq!((point.heard, point.misses, point.wrong, point.false_alarms), (1, 1, 1, 4));
        assert!((point.false_alarms_per_hour - 4.0 * 360.0).abs() < 1e-6);
        let figures = judged.word(1, "no", 0.5);
        assert_eq!((figures.said, figures.heard, figures.wrong, figures.false_alarms), (1, 0, 1, 2));
    }

    #[test]
    fn a_wrong_event_does_not_take_a_word_from_the_right_one() {
        let words = vec![Word { start: 0, end: 16000, label: Some(0) }];
        let stream = Stream { samples: vec![0; 32000], rate: 16000, words };
        let kinds = kinds(&[event(1, 8000), event(0, 12000)], &stream);
        assert_eq!(kinds, [Kind::FalseAlarm, Kind::Right(0)]);
    }
}
