//! The requests of one connection that cannot be answered yet: how each is taken back, and when it goes on.

mod early;
mod wake;

use std::collections::HashMap;

use tokio::sync::oneshot;

use self::early::EarlyCancellations;

pub(crate) use wake::{Change, Interruptions, asks, next_wake};

/// The requests that are kept open, each by the number of the message that it came as.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests {
    open: HashMap<u64, Cancel>,
    early: EarlyCancellations,
}

/// How to take an open request back.
#[derive(Debug)]
struct Cancel {
    request: String,
    sender: oneshot::Sender<()>,
}

impl OpenRequests {
    /// Keeps the request of this name open. What is given resolves when the client takes it back; at once where it
    /// already has.
    pub(crate) fn add(&mut self, number: u64, request: &str) -> oneshot::Receiver<()> {
        let (sender, cancelled) = oneshot::channel();
        let cancel = Cancel {
            request: request.to_owned(),
            sender,
        };
        if self.early.take(number, request) {
            cancel.send();
        } else {
            self.open.insert(number, cancel);
        }
        cancelled
    }

    /// Takes back the request of this name that came before message number `by`. Messages are worked on in parallel,
    /// so one that is not open may be about to be.
    pub(crate) fn cancel(&mut self, by: u64, request: String) {
        let found = self
            .open
            .iter()
            .find(|(number, open)| **number < by && open.request == request);
        let number = found.map(|(number, _)| *number);
        match number.and_then(|number| self.open.remove(&number)) {
            Some(cancel) => cancel.send(),
            None => self.early.remember(by, request),
        }
    }

    /// Forgets a request that was answered.
    pub(crate) fn remove(&mut self, number: u64) {
        self.open.remove(&number);
    }
}

impl Cancel {
    fn send(self) {
        // The request may have been answered a moment ago: then nobody listens, and that is right.
        let _ = self.sender.send(());
    }
}
