//! Where two threads meet, so that a race between them happens each time and not now and then.

use std::sync::{Condvar, Mutex, PoisonError};

use backburner_tests::PATIENCE;

/// A place where the first two threads that come wait for each other. Whoever comes later goes on at once.
#[derive(Debug, Default)]
pub(crate) struct Meeting {
    arrived: Mutex<u32>,
    changed: Condvar,
}

impl Meeting {
    /// Waits for the other one; where nobody comes, until a test would have failed anyway.
    pub(crate) fn wait(&self) {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        *arrived += 1;
        self.changed.notify_all();
        // Both ways to end are the same here: what comes of it is what the kit has to see.
        let _met_or_not = self
            .changed
            .wait_timeout_while(arrived, PATIENCE, |arrived| *arrived < 2);
    }
}
