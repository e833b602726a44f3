//! Requests that are kept open: until a job ends, a deadline comes, the client takes them back, or the server ends.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use super::connection::{Connection, Work};
use crate::engine::{Pending, Step, Wake};
use crate::limits::{SHORTEST_WAIT, open_requests};
use crate::log;
use crate::requests::{OpenRequests, next_wake};

/// What a connection tells about its requests.
pub(crate) enum Event {
    /// This one cannot be answered yet.
    Open(OpenRequest),
    /// The client takes a request back, with message number `by`.
    Cancel { by: u64, request: String },
}

/// A request that is kept open.
pub(crate) struct OpenRequest {
    /// As which message of its connection it came.
    pub(crate) number: u64,
    pub(crate) pending: Pending,
    /// The message, for the reply in case an instance traps on it.
    pub(crate) body: String,
    /// The request counts as being worked on until it is answered.
    pub(crate) work: Work,
}

/// The open requests of one connection.
pub(crate) struct Waits {
    connection: Arc<Connection>,
    shutdown: watch::Receiver<bool>,
    open: OpenRequests,
    waiting: JoinSet<u64>,
    /// How many may be open.
    most: usize,
}

impl Waits {
    pub(crate) fn new(connection: Arc<Connection>, shutdown: watch::Receiver<bool>) -> Self {
        Self {
            connection,
            shutdown,
            open: OpenRequests::default(),
            waiting: JoinSet::new(),
            most: open_requests(),
        }
    }

    /// Keeps requests open until the connection is dropped.
    pub(crate) async fn run(mut self, mut events: mpsc::UnboundedReceiver<Event>) {
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    Some(Event::Open(request)) => self.open(request),
                    Some(Event::Cancel { by, request }) => self.open.cancel(by, request),
                    None => return,
                },
                Some(ended) = self.waiting.join_next() => self.close(ended),
            }
        }
    }

    fn open(&mut self, request: OpenRequest) {
        let number = request.number;
        let has_room = self.open.len() < self.most;
        let wait = Wait {
            connection: Arc::clone(&self.connection),
            first: (!has_room).then_some(Wake::Shutdown),
            cancelled: self.open.add(number, &request.pending.request),
            shutdown: self.shutdown.clone(),
        };
        self.waiting.spawn(wait.until_answered(request));
    }

    fn close(&mut self, ended: Result<u64, tokio::task::JoinError>) {
        match ended {
            Ok(number) => self.open.remove(number),
            Err(error) => log::warn(format_args!("an open request was lost: {error}")),
        }
    }
}

/// One open request while it waits.
struct Wait {
    connection: Arc<Connection>,
    /// Why it is resumed at once; `None` where it may wait.
    first: Option<Wake>,
    cancelled: oneshot::Receiver<()>,
    shutdown: watch::Receiver<bool>,
}

impl Wait {
    /// Waits, resumes, and does so again for as long as the answer is another wait. Gives the request's number.
    async fn until_answered(mut self, request: OpenRequest) -> u64 {
        let OpenRequest {
            number,
            mut pending,
            body,
            work,
        } = request;
        let body: Arc<str> = body.into();
        loop {
            let why = match self.first.take() {
                Some(why) => why,
                None => self.wake(&pending).await,
            };
            match self.resume(pending, why, Arc::clone(&body)).await {
                Some(again) if why != Wake::Shutdown => pending = again,
                _ => break,
            }
            // A job that ended and is not over, say because a process of it cannot be killed: look again, but not at once.
            tokio::time::sleep(SHORTEST_WAIT).await;
        }
        drop(work);
        number
    }

    async fn wake(&mut self, pending: &Pending) -> Wake {
        let jobs = self.connection.pool.jobs();
        next_wake(jobs, pending, &mut self.cancelled, &mut self.shutdown).await
    }

    /// Has the component go on with the request, on a thread that may block, and sends its answer.
    async fn resume(&self, pending: Pending, why: Wake, body: Arc<str>) -> Option<Pending> {
        let connection = Arc::clone(&self.connection);
        let resumed = self.connection.blocking.run(move || {
            match connection
                .pool
                .resume(&connection.context(), &pending, why, &body)
            {
                Step::Wait(again) => return Some(again),
                Step::Reply(reply) => connection.send(&reply),
                Step::Nothing | Step::Cancel(_) => {}
            }
            None
        });
        resumed.await.unwrap_or_else(|| {
            log::warn(format_args!("an open request was lost"));
            None
        })
    }
}

#[cfg(test)]
mod tests;
