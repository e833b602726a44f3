//! One connection of a client: its messages, and those of its requests that are kept open.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::exchange::{Exchange, Said};
use super::room::Room;
use super::{Principal, Server};
use crate::clock::now_ms;
use crate::engine::{Context, Pending, Step, Wake};
use crate::limits::SHORTEST_WAIT;
use crate::requests::{Change, Interruptions, OpenRequests, asks, next_wake};

/// One connection; see [`Server::client`]. Cheap to clone; all clones are one connection.
#[derive(Clone, Debug)]
pub struct Client(Arc<Connection>);

struct Connection {
    server: Server,
    principal: Principal,
    messages: AtomicU64,
    open: Mutex<OpenRequests>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}

impl Client {
    pub(super) fn new(server: Server, principal: Principal) -> Self {
        Self(Arc::new(Connection {
            server,
            principal,
            messages: AtomicU64::new(0),
            open: Mutex::default(),
        }))
    }

    /// Answers one JSON-RPC message; `None` where it gets no answer. Any text is a message. Notifications that belong
    /// to it are dropped: see [`Client::exchange`].
    ///
    /// Resolves when the answer is there, which for a `tools/call` may be as long as the component's limits allow, and
    /// for a `subscriptions/listen` is when the server is shut down. Several messages may be worked on at the same
    /// time. Who drops the future does not get the answer; what was started goes on.
    ///
    /// # Panics
    /// Where it is polled outside a tokio runtime whose time is enabled.
    pub async fn message(&self, body: impl Into<String>) -> Option<String> {
        let mut exchange = self.exchange(body);
        loop {
            if let Said::Reply(reply) = exchange.next().await? {
                return Some(reply);
            }
        }
    }

    /// Begins to answer one JSON-RPC message, for a client that takes notifications too. Nothing happens before
    /// [`Exchange::next`] is called.
    #[must_use]
    pub fn exchange(&self, body: impl Into<String>) -> Exchange {
        Exchange::new(self.clone(), body.into())
    }

    pub(crate) fn server(&self) -> &Server {
        &self.0.server
    }

    /// The number of a message: greater than that of every message before it.
    pub(crate) fn next_number(&self) -> u64 {
        self.0.messages.fetch_add(1, Ordering::SeqCst)
    }

    /// How many messages have a number.
    pub(crate) fn messages(&self) -> u64 {
        self.0.messages.load(Ordering::SeqCst)
    }

    /// Has an instance answer a message. Blocks.
    pub(crate) fn answer(&self, body: &str) -> Step {
        self.server().pool().message(|| self.context(), body)
    }

    /// Keeps the request open that came as message `number`.
    pub(crate) fn open(&self, number: u64, pending: Pending, body: Arc<str>) -> OpenRequest {
        let mut open = OpenRequest {
            client: self.clone(),
            number,
            interruptions: Interruptions {
                cancelled: self.requests().add(number, &pending.request),
                room: 0,
                shutdown: self.server().shutdown(),
                configured: pending.until_configured.then(|| self.configured()),
            },
            pending: Arc::new(pending),
            pause: None,
            asks: None,
            body,
            room: self.server().room(),
        };
        open.fit();
        open
    }

    /// Tells of new configurations, and first that there may have been one since the message was answered.
    fn configured(&self) -> watch::Receiver<u64> {
        let mut configured = self.server().pool().configured();
        configured.mark_changed();
        configured
    }

    /// Takes back a request that came before message `by`.
    pub(crate) fn cancel(&self, by: u64, request: String) {
        self.requests().cancel(by, request);
    }

    fn requests(&self) -> MutexGuard<'_, OpenRequests> {
        // Each change leaves them whole.
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who calls, at this moment.
    fn context(&self) -> Context {
        Context {
            now: now_ms(),
            principal: self.0.principal.as_str().to_owned(),
        }
    }
}

/// What is to be sent to the client of an open request.
pub(crate) enum Sending {
    /// These, in this order; the request stays open.
    Notifications(Vec<String>),
    /// This, and nothing more.
    Reply(String),
}

/// A request that is kept open; forgotten when this is dropped.
pub(crate) struct OpenRequest {
    client: Client,
    /// As which message of its connection it came.
    number: u64,
    pending: Arc<Pending>,
    /// The message, for the reply in case an instance traps on it.
    body: Arc<str>,
    interruptions: Interruptions,
    /// How long it waits at least before it goes on.
    pause: Option<Duration>,
    /// That its jobs ask something, since before they were last looked at.
    asks: Option<Change>,
    /// Held for as long as it is open; `None` where it must not wait.
    room: Option<Room>,
}

impl OpenRequest {
    /// Waits, resumes, and does so again until there is something to send; `None` where there is nothing more. After a
    /// reply there is nothing more.
    pub(crate) async fn next(&mut self) -> Option<Sending> {
        loop {
            let jobs = self.client.server().pool().jobs();
            let room = self.interruptions.room;
            let asks_now = |pending: &Pending| asks(jobs, pending, room);
            let asked = self.asks.take();
            let asked = asked.unwrap_or_else(|| asks_now(&self.pending));
            let pause = (self.pause, asked);
            let why = next_wake(jobs, &self.pending, &mut self.interruptions, pause).await;
            let may_go_on = matches!(why, Wake::JobEnded | Wake::Deadline | Wake::Configured);
            // What is asked while they are looked at is not missed.
            self.asks = may_go_on.then(|| asks_now(&self.pending));
            // A job that ended and is not over, say because a process of it cannot be killed: look again, but not at
            // once.
            self.pause = Some(SHORTEST_WAIT);
            match self.resume(why).await? {
                Step::Reply(reply) => return Some(Sending::Reply(reply)),
                Step::Wait(again) if may_go_on => self.wait_on(again),
                Step::Notify(notice) if may_go_on => {
                    self.wait_on(notice.pending);
                    return Some(Sending::Notifications(notice.messages));
                }
                Step::Wait(_) | Step::Notify(_) | Step::Nothing | Step::Cancel(_) => return None,
            }
        }
    }

    /// Has it wait for something else.
    fn wait_on(&mut self, pending: Pending) {
        self.pending = Arc::new(pending);
        self.fit();
    }

    /// Sees that it has room for what it waits for.
    fn fit(&mut self) {
        if let Some(room) = &mut self.room {
            room.fit(self.pending.jobs.len());
        }
        self.interruptions.room = self.room.as_ref().map_or(0, Room::jobs);
    }

    /// Has an instance go on with the request.
    async fn resume(&mut self, why: Wake) -> Option<Step> {
        let client = self.client.clone();
        let (pending, body) = (Arc::clone(&self.pending), Arc::clone(&self.body));
        let resumed = self.client.server().on_a_thread(move || {
            let pool = client.server().pool();
            pool.resume(|| client.context(), &pending, why, &body)
        });
        resumed.await
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.client.requests().remove(self.number);
    }
}
