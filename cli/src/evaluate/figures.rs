//! Counts and ratios: accuracy, precision, recall, confusion; and the distance of two models.

use super::Outcome;
use serde::Serialize;

/// What is known about one model on one data set.
#[derive(Debug, Serialize)]
pub struct Figures {
    pub correct: usize,
    pub total: usize,
    pub accuracy: f64,
    /// Mean of −ln(probability of the right label).
    pub loss: f64,
    pub classes: Vec<Class>,
    /// `confusion[expected][found]`.
    pub confusion: Vec<Vec<usize>>,
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
    pub fn of(outcomes: impl Iterator<Item = Outcome>, labels: &[String]) -> Self {
        let count = labels.len();
        let mut confusion = vec![vec![0; count]; count];
        let (mut total, mut loss) = (0, 0.0);
        for outcome in outcomes {
            confusion[outcome.expected][outcome.found] += 1;
            total += 1;
            loss += outcome.loss;
        }
        let correct = (0..count).map(|label| confusion[label][label]).sum();
        let classes = labels
            .iter()
            .enumerate()
            .map(|(label, name)| {
                let expected: usize = confusion[label].iter().sum();
                let found: usize = confusion.iter().map(|row| row[label]).sum();
                let hits = confusion[label][label];
                Class {
                    label: name.clone(),
                    total: expected,
                    precision: ratio(hits, found),
                    recall: ratio(hits, expected),
                }
            })
            .collect();
        Self {
            correct,
            total,
            accuracy: ratio(correct, total).unwrap_or(0.0),
            loss: loss / total.max(1) as f64,
            classes,
            confusion,
        }
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
        let outcomes = outcomes.iter().map(|&(expected, found)| Outcome { expected, found, loss: 1.0 });
        let figures = Figures::of(outcomes, &labels);
        assert_eq!((figures.correct, figures.total, figures.accuracy), (3, 4, 0.75));
        assert_eq!(figures.confusion, [[1, 1, 0], [0, 2, 0], [0, 0, 0]]);
        assert_eq!((figures.classes[0].precision, figures.classes[0].recall), (Some(1.0), Some(0.5)));
        assert_eq!((figures.classes[1].precision, figures.classes[1].recall), (Some(2.0 / 3.0), Some(1.0)));
        assert_eq!((figures.classes[2].precision, figures.classes[2].recall), (None, None));
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
