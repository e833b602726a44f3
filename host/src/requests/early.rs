//! Cancellations that came before the request that they cancel was known to be waiting.

use std::collections::VecDeque;

use crate::limits::EARLY_CANCELLATIONS;

/// Remembers cancellations of requests that are not open yet. Messages are worked on in parallel, so a short
/// cancellation overtakes the long request before it.
#[derive(Debug, Default)]
pub(crate) struct EarlyCancellations {
    /// The number of the cancelling message, and the request it names.
    cancelled: VecDeque<(u64, String)>,
}

impl EarlyCancellations {
    /// Message number `by` cancels a request that is not open.
    pub(crate) fn remember(&mut self, by: u64, request: String) {
        if self.cancelled.len() == EARLY_CANCELLATIONS {
            self.cancelled.pop_front();
        }
        self.cancelled.push_back((by, request));
    }

    /// Whether the request that came as message number `number` was cancelled by a later message. Asked once a
    /// request: the answer is forgotten, so that a request that uses the same id again is not hit.
    pub(crate) fn take(&mut self, number: u64, request: &str) -> bool {
        let found = self
            .cancelled
            .iter()
            .position(|(by, cancelled)| *by > number && cancelled == request);
        found.is_some_and(|index| self.cancelled.remove(index).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_cancellation_of_the_same_request_counts_once() {
        let mut early = EarlyCancellations::default();
        early.remember(7, "1".into());
        assert!(!early.take(6, "2"), "another request");
        assert!(
            !early.take(8, "1"),
            "the id was used again after the cancellation"
        );
        assert!(early.take(6, "1"));
        assert!(!early.take(6, "1"));
    }

    #[test]
    fn only_the_newest_are_kept() {
        let mut early = EarlyCancellations::default();
        for number in 0..=EARLY_CANCELLATIONS as u64 {
            early.remember(number + 10, number.to_string());
        }
        assert!(!early.take(1, "0"));
        assert!(early.take(1, "1"));
    }
}
