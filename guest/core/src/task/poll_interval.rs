//! How often a client should ask.

use crate::limits::{POLL_MAX_MS, POLL_MIN_MS};

/// The suggested interval for a task of this age, both in milliseconds: a tenth of the age, so that a
/// result is at most about ten percent late, within bounds.
pub(crate) fn poll_interval_ms(age_ms: u64) -> u64 {
    (age_ms / 10).clamp(POLL_MIN_MS, POLL_MAX_MS)
}
