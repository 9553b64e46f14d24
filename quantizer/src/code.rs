//! What an 8-bit value stands for, chosen so that the mean squared error over the calibration data is least.

use crate::histogram::Histogram;

/// The largest 8-bit code; the least is its negative.
pub const LIMIT: f64 = 127.0;

/// What has not been seen will be larger now and then: the fit counts a quarter of all values once more, this much larger.
/// Without, one value beyond the calibration data can cost a short sequence 5 dB.
const STRETCH: f64 = 1.25;
const STRETCHED: f64 = 0.25;

/// `real = scale · code + offset`. The offset is zero except after an activation, where it costs nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Code {
    pub scale: f64,
    pub offset: f64,
}

impl Code {
    /// A code symmetric about zero, for values up to `reach`.
    #[must_use]
    pub fn symmetric(reach: f64) -> Self {
        Self::between(-reach, reach)
    }

    /// A code that spends all its steps on [`least`, `most`].
    #[must_use]
    pub fn between(least: f64, most: f64) -> Self {
        // A tensor that is always zero may have any scale.
        let span = if most > least { most - least } else { 1.0 };
        Self { scale: span / (2.0 * LIMIT), offset: (most + least) / 2.0 }
    }

    /// The code's value nearest to `real`.
    #[must_use]
    pub fn quantize(self, real: f64) -> f64 {
        ((real - self.offset) / self.scale).round().clamp(-LIMIT, LIMIT)
    }

    #[must_use]
    pub fn real(self, code: f64) -> f64 {
        self.scale * code + self.offset
    }

    /// The best symmetric code for a tensor.
    #[must_use]
    pub fn fit(histogram: &Histogram) -> Self {
        let most = histogram.max_abs();
        let error = |code: Self| mean_square_error(histogram, |value| value, |value| code.real(code.quantize(value)));
        best(reaches(most).map(Self::symmetric), error)
    }

    /// The best code for what comes out of an activation.
    #[must_use]
    pub fn fit_output(histogram: &Histogram) -> Self {
        let error = |code: Self| mean_square_error(histogram, |value| value, |value| code.real(code.quantize(value)));
        best(reaches(histogram.most).map(|most| Self::between(histogram.least, most)), error)
    }

    /// The best code for what goes into an activation: only errors that it lets through count.
    #[must_use]
    pub fn fit_input(histogram: &Histogram, activate: impl Fn(f64) -> f64 + Copy) -> Self {
        let lows = (0..=16).map(|step| histogram.least * f64::from(step) / 16.0);
        let candidates = lows.flat_map(|least| reaches(histogram.most).map(move |most| Self::between(least, most)));
        best(candidates, |code| {
            mean_square_error(histogram, activate, |value| activate(code.real(code.quantize(value))))
        })
    }

    /// A code whose least value stands for zero: what saturates there is cut off, as ReLU does.
    #[must_use]
    pub fn fit_relu(histogram: &Histogram) -> Self {
        let relu = |value: f64| value.max(0.0);
        let candidates = reaches(histogram.most).map(|most| Self::between(0.0, most));
        best(candidates, |code| mean_square_error(histogram, relu, |value| code.real(code.quantize(value))))
    }
}

/// Reaches from beyond a tensor's largest value down to a quarter of it.
fn reaches(most: f64) -> impl Iterator<Item = f64> + Clone {
    (0..=64).map(move |step| most * (STRETCH - f64::from(step) / 64.0))
}

fn best(candidates: impl Iterator<Item = Code>, error: impl Fn(Code) -> f64) -> Code {
    candidates
        .map(|code| (error(code), code))
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map_or(Code::symmetric(1.0), |(_, code)| code)
}

/// The error over the values seen, and over larger ones that will come.
fn mean_square_error(histogram: &Histogram, truth: impl Fn(f64) -> f64, coded: impl Fn(f64) -> f64) -> f64 {
    let error = |value: f64| (truth(value) - coded(value)).powi(2);
    histogram.bins().map(|(value, count)| count * (error(value) + STRETCHED * error(STRETCH * value))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_a_code() {
        let code = Code::between(-1.0, 3.0);
        assert!((code.real(-127.0) + 1.0).abs() < 1e-12 && (code.real(127.0) - 3.0).abs() < 1e-12);
        assert_eq!(code.quantize(99.0), 127.0);
    }

    #[test]
    fn a_lonely_outlier_is_clipped() {
        let mut histogram = Histogram::default();
        for index in 0..1_000_000 {
            histogram.add(f64::from(index % 200 - 100) / 100.0);
        }
        histogram.add(3.0);
        let code = Code::fit(&histogram);
        assert!(code.scale < 1.5 / LIMIT, "{code:?}");
    }
}
