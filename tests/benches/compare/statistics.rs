//! Numbers of many rounds.

use std::time::Duration;

/// Every value that was measured of one thing.
#[derive(Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Adds one value.
    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Adds a duration, in milliseconds.
    pub(crate) fn push_ms(&mut self, duration: Duration) {
        self.push(duration.as_secs_f64() * 1e3);
    }

    /// Adds a duration, in microseconds.
    pub(crate) fn push_us(&mut self, duration: Duration) {
        self.push(duration.as_secs_f64() * 1e6);
    }

    /// The middle one, NaN where there is none. A median and not a mean, since one disturbance from outside
    /// can be a hundred times the value.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}
