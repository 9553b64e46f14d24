//! Events against what was said: misses and false alarms, for one threshold after another.

use super::{Stream, seconds};
use crate::picture::Picture;
use microformer::pipeline::Heard;
use serde::Serialize;

/// One threshold for all words.
pub const THRESHOLDS: [f64; 19] =
    [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// An event may come so long after the end of its word, or before its start: times of events are those of peaks.
const TOLERANCE: f64 = 0.5;

/// What one threshold brings.
#[derive(Debug, Serialize)]
pub struct Point {
    pub threshold: Option<f64>,
    pub heard: usize,
    pub misses: usize,
    pub miss_rate: f64,
    pub false_alarms: usize,
    pub false_alarms_per_hour: f64,
}

/// Every word may be heard once; every other event is a false alarm.
pub fn judge(events: &[Heard], stream: &Stream, threshold: Option<f64>) -> Point {
    let tolerance = seconds(TOLERANCE, stream.rate) as u64;
    let mut found = vec![false; stream.words.len()];
    let mut false_alarms = 0;
    for event in events {
        let hit = stream.words.iter().zip(&found).position(|(word, &found)| {
            !found
                && word.label == Some(event.label)
                && event.end + tolerance >= word.start
                && event.end <= word.end + tolerance
        });
        match hit {
            Some(index) => found[index] = true,
            None => false_alarms += 1,
        }
    }
    let words = stream.words.iter().filter(|word| word.label.is_some()).count();
    let heard = found.iter().filter(|&&found| found).count();
    let hours = stream.samples.len() as f64 / f64::from(stream.rate) / 3600.0;
    Point {
        threshold,
        heard,
        misses: words - heard,
        miss_rate: (words - heard) as f64 / words.max(1) as f64,
        false_alarms,
        false_alarms_per_hour: false_alarms as f64 / hours,
    }
}

/// Misses (up) over false alarms an hour (right, by powers of ten).
pub fn picture(points: &[Point]) -> Picture {
    const SIDE: f64 = 300.0;
    const LEFT: f64 = 60.0;
    const TOP: f64 = 40.0;
    let most = points.iter().map(|point| point.miss_rate).fold(0.01, f64::max);
    // From a tenth to a thousand an hour.
    let x = |rate: f64| LEFT + SIDE * ((rate.max(0.1).log10() + 1.0) / 4.0).clamp(0.0, 1.0);
    let y = |miss: f64| TOP + SIDE * (1.0 - miss / most);
    let mut picture = Picture::default();
    picture.text(10, 20, "misses over false alarms an hour, by threshold");
    for power in -1..=3 {
        let rate = 10f64.powi(power);
        picture.line(&[(x(rate), TOP), (x(rate), TOP + SIDE)], "#ddd");
        picture.text_on(x(rate) as usize, (TOP + SIDE) as usize + 18, 0.0, &rate.to_string());
    }
    for part in 0..=4 {
        let miss = most * f64::from(part) / 4.0;
        picture.line(&[(LEFT, y(miss)), (LEFT + SIDE, y(miss))], "#ddd");
        picture.text_before(LEFT as usize - 6, y(miss) as usize + 4, &format!("{:.1} %", 100.0 * miss));
    }
    let line: Vec<_> = points.iter().map(|point| (x(point.false_alarms_per_hour), y(point.miss_rate))).collect();
    picture.line(&line, "#08306b");
    picture
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
    fn each_word_counts_once() {
        let word = |start, label| Word { start, end: start + 16000, label };
        let words = vec![word(16000, Some(0)), word(64000, Some(1)), word(112_000, None)];
        let stream = Stream { samples: vec![0; 160_000], rate: 16000, words };
        // Right, the same again, wrong word, in other speech.
        let events = [event(0, 30000), event(0, 31000), event(0, 70000), event(1, 120_000)];
        let point = judge(&events, &stream, None);
        assert_eq!((point.heard, point.misses, point.false_alarms), (1, 1, 3));
        assert!((point.false_alarms_per_hour - 3.0 * 360.0).abs() < 1e-6);
    }
}
