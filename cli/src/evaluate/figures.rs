//! Counts and ratios: accuracy, precision, recall, confusion; and the distance of two models.

use super::task::Outcome;
use serde::Serialize;

/// Labels beyond which no confusion matrix is kept.
const MAX_CONFUSION: usize = 1024;

/// What is known about one model on one data set.
#[derive(Debug, Serialize)]
pub struct Figures {
    pub correct: usize,
    pub total: usize,
    pub accuracy: f64,
    /// Mean of −ln(probability of the right label).
    pub loss: f64,
    pub classes: Vec<Class>,
    /// `confusion[expected][found]`; empty where there are too many labels for it.
    pub confusion: Vec<Vec<usize>>,
    /// Where labels change inside sequences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretches: Option<Stretches>,
}

/// Stretches of one label: right where the right label was said most often in it.
#[derive(Debug, PartialEq, Serialize)]
pub struct Stretches {
    pub correct: usize,
    pub total: usize,
    pub accuracy: f64,
}

/// One label. Ratios are absent where nothing was counted.
#[derive(Debug, Serialize)]
pub struct Class {
    pub label: String,
    pub total: usize,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
}

impl Figures {
    pub fn of<'o>(outcomes: impl Iterator<Item = &'o Outcome>, labels: &[String]) -> Self {
        let count = labels.len();
        let shown = if count <= MAX_CONFUSION { count } else { 0 };
        let mut confusion = vec![vec![0; shown]; shown];
        let (mut expected, mut found, mut hits) = (vec![0; count], vec![0; count], vec![0; count]);
        let mut loss = 0.0;
        for outcome in outcomes {
            expected[outcome.expected] += 1;
            found[outcome.found] += 1;
            hits[outcome.found] += usize::from(outcome.expected == outcome.found);
            if let Some(row) = confusion.get_mut(outcome.expected) {
                row[outcome.found] += 1;
            }
            loss += outcome.loss;
        }
        let (correct, total): (usize, usize) = (hits.iter().sum(), expected.iter().sum());
        let class = |(label, name): (usize, &String)| Class {
            label: name.clone(),
            total: expected[label],
            precision: ratio(hits[label], found[label]),
            recall: ratio(hits[label], expected[label]),
        };
        let classes = labels.iter().enumerate().map(class).collect();
        Self {
            correct,
            total,
            accuracy: ratio(correct, total).unwrap_or(0.0),
            loss: loss / total.max(1) as f64,
            classes,
            confusion,
            stretches: None,
        }
    }

    /// The same, with every stretch of every sequence judged as one.
    pub fn with_stretches<'o>(self, sequences: impl Iterator<Item = &'o [Outcome]>) -> Self {
        let (mut correct, mut total) = (0, 0);
        for stretch in sequences.flat_map(|outcomes| outcomes.chunk_by(|a, b| a.stretch == b.stretch)) {
            let mut votes = vec![0; self.classes.len()];
            stretch.iter().for_each(|outcome| votes[outcome.found] += 1);
            let right = votes[stretch[0].expected];
            // Another label that was said as often makes it wrong.
            correct += usize::from(right > 0 && votes.iter().filter(|&&count| count >= right).count() == 1);
            total += 1;
        }
        let accuracy = ratio(correct, total).unwrap_or(0.0);
        Self { stretches: Some(Stretches { correct, total, accuracy }), ..self }
    }
}

/// How far apart two models are.
#[derive(Debug, Default, Serialize)]
pub struct Difference {
    /// Decisions that differ, and of how many.
    pub disagreements: usize,
    pub decisions: usize,
    /// Signal to quantisation noise of all scores; absent where they are equal.
    pub score_sqnr_db: Option<f64>,
    #[serde(skip)]
    signal: f64,
    #[serde(skip)]
    noise: f64,
}

impl Difference {
    pub fn add_scores(&mut self, float: &[f64], integer: &[f64]) {
        for (float, integer) in float.iter().zip(integer) {
            self.signal += float * float;
            self.noise += (float - integer).powi(2);
        }
    }

    pub fn add_decision(&mut self, same: bool) {
        self.decisions += 1;
        self.disagreements += usize::from(!same);
    }

    /// Both together.
    pub fn add(mut self, other: &Self) -> Self {
        self.disagreements += other.disagreements;
        self.decisions += other.decisions;
        self.signal += other.signal;
        self.noise += other.noise;
        self
    }

    pub fn finish(mut self) -> Self {
        self.score_sqnr_db = (self.noise > 0.0).then(|| 10.0 * (self.signal / self.noise).log10());
        self
    }
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_and_recall_by_hand() {
        let labels = ["a", "b", "c"].map(String::from);
        let outcomes = [(0, 0), (0, 1), (1, 1), (1, 1)];
        let outcomes = outcomes.map(|(expected, found)| Outcome { expected, found, loss: 1.0, stretch: 0 });
        let figures = Figures::of(outcomes.iter(), &labels);
        assert_eq!((figures.correct, figures.total, figures.accuracy), (3, 4, 0.75));
        assert_eq!(figures.confusion, [[1, 1, 0], [0, 2, 0], [0, 0, 0]]);
        assert_eq!((figures.classes[0].precision, figures.classes[0].recall), (Some(1.0), Some(0.5)));
        assert_eq!((figures.classes[1].precision, figures.classes[1].recall), (Some(2.0 / 3.0), Some(1.0)));
        assert_eq!((figures.classes[2].precision, figures.classes[2].recall), (None, None));
    }

    #[test]
    fn a_stretch_is_right_by_its_majority() {
        let labels = ["a", "b"].map(String::from);
        let outcome = |(stretch, expected, found)| Outcome { expected, found, loss: 0.0, stretch };
        // Two of three; one of two, which is no majority; and the next sequence begins anew.
        let first = [(0, 0, 1), (0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 0)].map(outcome);
        let second = [(1, 1, 1)].map(outcome);
        let figures =
            Figures::of(first.iter().chain(&second), &labels).with_stretches([&first[..], &second].into_iter());
        assert_eq!(figures.stretches, Some(Stretches { correct: 2, total: 3, accuracy: 2.0 / 3.0 }));
    }

    #[test]
    fn noise_a_tenth_of_the_signal_is_20_decibels() {
        let mut difference = Difference::default();
        difference.add_scores(&[1.0, -1.0], &[1.1, -0.9]);
        difference.add_decision(false);
        let difference = difference.finish();
        assert!((difference.score_sqnr_db.unwrap() - 20.0).abs() < 1e-9);
        assert_eq!((difference.disagreements, difference.decisions), (1, 1));
    }
}
