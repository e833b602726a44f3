//! One message of a client, and everything that is sent because of it.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;

use super::Client;
use super::client::{OpenRequest, Sending};
use crate::engine::{Pending, Step};

/// What is sent to a client because of a message of its; JSON-RPC messages of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A notification; more follows.
    Notification(String),
    /// The reply. Nothing follows.
    Reply(String),
}

/// Everything that is sent because of one message; see [`Client::exchange`]. Who drops it gets nothing more; what was
/// started goes on.
pub struct Exchange {
    client: Client,
    number: u64,
    stage: Stage,
    /// What is to be sent next.
    waiting: VecDeque<String>,
}

/// How far it is.
enum Stage {
    /// Nobody has looked at the message.
    New(Arc<str>),
    /// The request is kept open.
    Open(Box<OpenRequest>),
    /// Nothing more comes.
    Over,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Exchange {
    pub(super) fn new(client: Client, body: String) -> Self {
        Self {
            number: client.next_number(),
            client,
            stage: Stage::New(body.into()),
            waiting: VecDeque::new(),
        }
    }

    /// What is to be sent next, as soon as it is there; `None` when there is nothing more. Nothing is made before it is
    /// asked for, so a client that does not take what it gets costs no memory. Dropping the future ends the exchange.
    ///
    /// # Panics
    /// Where it is polled outside a tokio runtime whose time is enabled.
    pub async fn next(&mut self) -> Option<Said> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Some(Said::Notification(message));
            }
            match mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return None,
                Stage::New(body) => {
                    if let Some(reply) = self.begin(body).await {
                        return Some(Said::Reply(reply));
                    }
                }
                Stage::Open(mut request) => match request.next().await? {
                    Sending::Reply(reply) => return Some(Said::Reply(reply)),
                    Sending::Notifications(messages) => {
                        self.waiting.extend(messages);
                        self.stage = Stage::Open(request);
                    }
                },
            }
        }
    }

    /// Has an instance look at the message; gives the reply, where there is one at once.
    async fn begin(&mut self, body: Arc<str>) -> Option<String> {
        let (client, text) = (self.client.clone(), Arc::clone(&body));
        let step = self
            .client
            .server()
            .on_a_thread(move || client.answer(&text));
        match step.await? {
            Step::Reply(reply) => return Some(reply),
            Step::Nothing => {}
            Step::Wait(pending) => self.keep_open(pending, body),
            Step::Notify(notice) => {
                self.waiting.extend(notice.messages);
                self.keep_open(notice.pending, body);
            }
            Step::Cancel(request) => self.client.cancel(self.number, request),
        }
        None
    }

    fn keep_open(&mut self, pending: Pending, body: Arc<str>) {
        let request = self.client.open(self.number, pending, body);
        self.stage = Stage::Open(Box::new(request));
    }
}
