//! How the values of one tensor are spread, collected in one pass in constant memory.

/// Bins on either side of zero.
const HALF: usize = 2048;

/// Counts over [−reach, reach]; the reach doubles as larger values come, and bins merge in pairs.
#[derive(Clone, Debug)]
pub struct Histogram {
    reach: f64,
    bins: Vec<u64>,
    pub least: f64,
    pub most: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { reach: 0.0, bins: vec![0; 2 * HALF], least: 0.0, most: 0.0 }
    }
}

impl Histogram {
    /// Counts one value.
    pub fn add(&mut self, value: f64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        let size = value.abs();
        if self.reach == 0.0 && size > 0.0 {
            self.reach = size.log2().floor().exp2();
        }
        while size >= self.reach && size > 0.0 {
            self.double();
        }
        let place = if self.reach == 0.0 { 0.0 } else { value / self.reach * HALF as f64 };
        let index = (place.floor() + HALF as f64) as usize;
        self.bins[index.min(2 * HALF - 1)] += 1;
    }

    /// The largest absolute value.
    #[must_use]
    pub fn max_abs(&self) -> f64 {
        self.most.max(-self.least)
    }

    /// Every bin that holds something: its middle, and how often it was hit.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let step = self.reach / HALF as f64;
        self.bins
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(move |(index, &count)| ((index as f64 - HALF as f64 + 0.5) * step, count as f64))
    }

    fn double(&mut self) {
        let mut merged = vec![0; 2 * HALF];
        for (index, &count) in self.bins.iter().enumerate() {
            merged[HALF / 2 + index / 2] += count;
        }
        self.bins = merged;
        self.reach *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_growth() {
        let mut histogram = Histogram::default();
        for value in [0.0, 0.1, -0.1, 3.0, -70.0] {
            histogram.add(value);
        }
        let total: f64 = histogram.bins().map(|(_, count)| count).sum();
        assert_eq!(total, 5.0);
        assert_eq!((histogram.least, histogram.most), (-70.0, 3.0));
        let mean = histogram.bins().map(|(middle, count)| middle * count).sum::<f64>() / total;
        assert!((mean - -13.4).abs() < 0.05, "{mean}");
    }
}
