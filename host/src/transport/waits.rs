//! Requests that are kept open: until a job ends, a deadline comes, the client takes them back, or the server ends.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::cancellations::EarlyCancellations;
use super::connection::{Connection, Work};
use crate::clock::now_ms;
use crate::engine::{Pending, Step, Wake};
use crate::jobs::Jobs;
use crate::limits::{SHORTEST_WAIT, open_requests};
use crate::log;

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
    open: HashMap<u64, Cancel>,
    early: EarlyCancellations,
    waiting: JoinSet<u64>,
    /// How many may be open.
    most: usize,
}

/// How to take an open request back.
struct Cancel {
    request: String,
    sender: oneshot::Sender<()>,
}

impl Waits {
    pub(crate) fn new(connection: Arc<Connection>, shutdown: watch::Receiver<bool>) -> Self {
        Self {
            connection,
            shutdown,
            open: HashMap::new(),
            early: EarlyCancellations::default(),
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
                    Some(Event::Cancel { by, request }) => self.cancel(by, request),
                    None => return,
                },
                Some(ended) = self.waiting.join_next() => self.close(ended),
            }
        }
    }

    fn open(&mut self, request: OpenRequest) {
        let number = request.number;
        let (sender, cancelled) = oneshot::channel();
        let taken_back = self.early.take(number, &request.pending.request);
        let wait = Wait {
            connection: Arc::clone(&self.connection),
            first: match (taken_back, self.open.len() < self.most) {
                (true, _) => Some(Wake::Cancelled),
                (false, false) => Some(Wake::Shutdown),
                (false, true) => None,
            },
            cancelled,
            shutdown: self.shutdown.clone(),
        };
        let name = request.pending.request.clone();
        self.open.insert(
            number,
            Cancel {
                request: name,
                sender,
            },
        );
        self.waiting.spawn(wait.until_answered(request));
    }

    fn cancel(&mut self, by: u64, request: String) {
        let open = self
            .open
            .iter()
            .find(|(number, open)| **number < by && open.request == request);
        match open.map(|(number, _)| *number) {
            Some(number) => {
                let cancel = self
                    .open
                    .remove(&number)
                    .expect("it was found a line above");
                // The request may have been answered a moment ago: then nobody listens, and that is right.
                let _ = cancel.sender.send(());
            }
            None => self.early.remember(by, request),
        }
    }

    fn close(&mut self, ended: Result<u64, tokio::task::JoinError>) {
        match ended {
            Ok(number) => drop(self.open.remove(&number)),
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
        let left = Duration::from_millis(pending.deadline.saturating_sub(now_ms()));
        tokio::select! {
            biased;
            Ok(()) = &mut self.cancelled => Wake::Cancelled,
            _ = self.shutdown.wait_for(|ending| *ending) => Wake::Shutdown,
            () = any_ended(self.connection.pool.jobs(), &pending.jobs) => Wake::JobEnded,
            () = tokio::time::sleep(left) => Wake::Deadline,
        }
    }

    /// Has the component go on with the request, on a thread that may block, and sends its answer.
    async fn resume(&self, pending: Pending, why: Wake, body: Arc<str>) -> Option<Pending> {
        let connection = Arc::clone(&self.connection);
        let resumed = tokio::task::spawn_blocking(move || {
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
        resumed.await.unwrap_or_else(|error| {
            log::warn(format_args!("an open request was lost: {error}"));
            None
        })
    }
}

/// Resolves when one of the jobs does not run any more; never where there is none.
async fn any_ended(jobs: &Arc<dyn Jobs>, ids: &[String]) {
    let mut ended: Vec<_> = ids
        .iter()
        .filter_map(|id| id.parse::<Uuid>().ok())
        .map(|id| jobs.ended(id))
        .collect();
    let first = std::future::poll_fn(move |cx| {
        if ended.iter_mut().any(|job| pin!(job).poll(cx).is_ready()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    first.await;
}
