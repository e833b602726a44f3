//! A server to embed: answers messages with a store and jobs of the embedder's own.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::clock::now_ms;
use crate::engine::{Context, Pending, Pool, PoolError, Step, Wake};
use crate::jobs::Jobs;
use crate::limits::{LONGEST_SWEEP_PAUSE, SHORTEST_SWEEP_PAUSE, SHORTEST_WAIT};
use crate::log;
use crate::requests::{OpenRequests, next_wake};
use crate::store::Store;

/// What a server is made of; see [`Server::builder`].
#[derive(Debug)]
pub struct Builder<S, J> {
    store: S,
    jobs: J,
    config: String,
}

/// The component, with a store and jobs: answers messages in the process of whoever embeds it.
///
/// Cheap to clone; all clones are one server. Its instances run on the blocking threads of the tokio runtime that
/// calls it, as many at the same time as there are messages, so bound those.
///
/// ```no_run
/// # async fn example(body: String) -> Result<(), Box<dyn std::error::Error>> {
/// use std::path::Path;
///
/// use backburner::Server;
/// use backburner::data_dir::DataDir;
/// use backburner::jobs::SupervisedJobs;
/// use backburner::store::SqliteStore;
///
/// let data = DataDir::open(Path::new("/var/lib/example"))?;
/// // `supervise ID` of this program has to call `backburner::jobs::supervisor::supervise`.
/// let program = std::env::current_exe()?;
/// let server = Server::builder()
///     .store(SqliteStore::open(&data.path().join("tasks.db"))?)
///     .jobs(SupervisedJobs::open(data.dir(), data.path(), program)?)
///     .build()?;
/// let client = server.client("uid:1000");
/// let reply = client.message(body).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Server {
    pool: Arc<Pool>,
    shutdown: watch::Sender<bool>,
}

impl Server {
    /// Begins a server, which needs a [`Store`] and [`Jobs`].
    #[must_use]
    pub fn builder() -> Builder<(), ()> {
        Builder {
            store: (),
            jobs: (),
            config: "{}".to_owned(),
        }
    }

    /// One connection of the client `principal`, as the embedder authenticated it: 1 to 256 bytes.
    ///
    /// Tasks belong to principals, not to connections. A connection is where request ids are unique, and where a
    /// `notifications/cancelled` can take a request back.
    #[must_use]
    pub fn client(&self, principal: &str) -> Client {
        Client(Arc::new(Connection {
            server: self.clone(),
            principal: principal.to_owned(),
            messages: AtomicU64::new(0),
            open: Mutex::default(),
        }))
    }

    /// Looks after tasks that no client asks about: expires them, and repairs what a crash left behind. Never
    /// resolves; spawn it once a server.
    ///
    /// # Panics
    /// Where it is polled outside a tokio runtime whose time is enabled.
    pub async fn sweep_regularly(&self) {
        loop {
            let pool = Arc::clone(&self.pool);
            let next = on_a_thread(move || pool.sweep(now_ms())).await;
            let pause = match next {
                Some(Some(next)) => Duration::from_millis(next.saturating_sub(now_ms())),
                Some(None) | None => LONGEST_SWEEP_PAUSE,
            };
            tokio::time::sleep(pause.clamp(SHORTEST_SWEEP_PAUSE, LONGEST_SWEEP_PAUSE)).await;
        }
    }

    /// Has every request that is kept open answered with what is known now, and those that come later too. Jobs go
    /// on.
    pub fn shut_down(&self) {
        self.shutdown.send_replace(true);
    }
}

impl<S, J> Builder<S, J> {
    /// Where all state is kept.
    #[must_use]
    pub fn store<T: Store + 'static>(self, store: T) -> Builder<T, J> {
        Builder {
            store,
            jobs: self.jobs,
            config: self.config,
        }
    }

    /// What the tasks do.
    #[must_use]
    pub fn jobs<T: Jobs + 'static>(self, jobs: T) -> Builder<S, T> {
        Builder {
            store: self.store,
            jobs,
            config: self.config,
        }
    }

    /// Settings of the component, a JSON object; its members are in the README of the WIT package. All of them have
    /// defaults.
    #[must_use]
    pub fn config(mut self, json: &str) -> Self {
        json.clone_into(&mut self.config);
        self
    }
}

impl<S: Store + 'static, J: Jobs + 'static> Builder<S, J> {
    /// Loads the component and configures it.
    ///
    /// # Errors
    /// See [`PoolError`].
    pub fn build(self) -> Result<Server, PoolError> {
        let pool = Pool::new(Arc::new(self.store), Arc::new(self.jobs), self.config)?;
        Ok(Server {
            pool: Arc::new(pool),
            shutdown: watch::Sender::new(false),
        })
    }
}

/// One connection; see [`Server::client`]. Cheap to clone; all clones are one connection.
#[derive(Clone, Debug)]
pub struct Client(Arc<Connection>);

struct Connection {
    server: Server,
    principal: String,
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
    /// Answers one JSON-RPC message; `None` where it gets no answer. Any text is a message.
    ///
    /// Resolves when the answer is there, which for a `tools/call` may be as long as the component's limits allow.
    /// Several messages may be worked on at the same time. Who drops the future does not get the answer; what was
    /// started goes on.
    ///
    /// # Panics
    /// Where it is polled outside a tokio runtime whose time is enabled, and I/O where the jobs need it.
    pub async fn message(&self, body: impl Into<String>) -> Option<String> {
        let number = self.0.messages.fetch_add(1, Ordering::SeqCst);
        let body: Arc<str> = body.into().into();
        let connection = Arc::clone(&self.0);
        let text = Arc::clone(&body);
        let step =
            on_a_thread(move || connection.pool().message(&connection.context(), &text)).await?;
        match step {
            Step::Reply(reply) => Some(reply),
            Step::Nothing => None,
            Step::Wait(pending) => self.0.keep_open(number, pending, body).await,
            Step::Cancel(request) => {
                self.0.open().cancel(number, request);
                None
            }
        }
    }
}

impl Connection {
    fn pool(&self) -> &Pool {
        &self.server.pool
    }

    fn open(&self) -> MutexGuard<'_, OpenRequests> {
        // Each change leaves it whole.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who calls, at this moment.
    fn context(&self) -> Context {
        Context {
            now: now_ms(),
            principal: self.principal.clone(),
        }
    }

    /// Waits, resumes, and does so again for as long as the answer is another wait.
    async fn keep_open(
        self: &Arc<Self>,
        number: u64,
        mut pending: Pending,
        body: Arc<str>,
    ) -> Option<String> {
        let mut cancelled = self.open().add(number, &pending.request);
        let _closes = Closing {
            connection: self,
            number,
        };
        let mut shutdown = self.server.shutdown.subscribe();
        loop {
            let jobs = self.pool().jobs();
            let why = next_wake(jobs, &pending, &mut cancelled, &mut shutdown).await;
            let (connection, body) = (Arc::clone(self), Arc::clone(&body));
            let resumed = on_a_thread(move || {
                let cx = connection.context();
                connection.pool().resume(&cx, &pending, why, &body)
            });
            match resumed.await? {
                Step::Wait(again) if why != Wake::Shutdown => pending = again,
                Step::Reply(reply) => return Some(reply),
                Step::Wait(_) | Step::Nothing | Step::Cancel(_) => return None,
            }
            // A job that ended and is not over: look again, but not at once.
            tokio::time::sleep(SHORTEST_WAIT).await;
        }
    }
}

/// Forgets an open request however its future ends.
struct Closing<'a> {
    connection: &'a Connection,
    number: u64,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.connection.open().remove(self.number);
    }
}

/// Does what may block; `None` where the runtime is shutting down.
async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => Some(result),
        Err(error) => {
            log::warn(format_args!("a message stays without an answer: {error}"));
            None
        }
    }
}
