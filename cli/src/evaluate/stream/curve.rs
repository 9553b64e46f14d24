//! Misses against false alarms, for one threshold after another: the picture of a detector.

use super::judge::Point;
use crate::picture::Picture;

/// One threshold for all words.
pub const THRESHOLDS: [f64; 22] = [
    0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95,
    0.97, 0.99,
];

/// Misses (up) over false alarms an hour (right, by powers of ten); a cross where the model's own thresholds stand.
pub fn picture(points: &[Point], own: &Point) -> Picture {
    const SIDE: f64 = 300.0;
    const LEFT: f64 = 60.0;
    const TOP: f64 = 40.0;
    const ARM: f64 = 5.0;
    let most = points.iter().map(|point| point.miss_rate).fold(0.01, f64::max);
    // From a tenth to a thousand an hour.
    let x = |rate: f64| LEFT + SIDE * ((rate.max(0.1).log10() + 1.0) / 4.0).clamp(0.0, 1.0);
    let y = |miss: f64| TOP + SIDE * (1.0 - miss / most);
    let mut picture = Picture::default();
    picture.text(10, 20, "misses over false alarms an hour; cross: the model's own thresholds");
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
    let (right, down) = (x(own.false_alarms_per_hour), y(own.miss_rate.min(most)));
    for turn in [-ARM, ARM] {
        picture.line(&[(right - ARM, down - turn), (right + ARM, down + turn)], "#c00");
    }
    picture
}
