//! A server, for a transport or for whoever embeds one: answers messages with a store and jobs.

mod client;
mod exchange;
mod principal;
mod room;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

pub use client::Client;
pub(crate) use client::{OpenRequest, Sending};
pub use exchange::{Exchange, Said};
pub use principal::{BadPrincipal, Principal};

use self::room::Room;
use crate::blocking::Blocking;
use crate::clock::now_ms;
use crate::engine::{Pool, PoolError};
use crate::jobs::Jobs;
use crate::limits::{
    FIRST_SWEEP_DELAY, LONGEST_SWEEP_PAUSE, SHORTEST_SWEEP_PAUSE, waiting_descriptors, workers,
};
use crate::log;
use crate::store::Store;

/// What a server is made of; see [`Server::builder`].
#[derive(Debug)]
pub struct Builder<S, J> {
    store: S,
    jobs: J,
    config: String,
    threads: usize,
}

/// The component, with a store and jobs: answers messages in the process of whoever embeds it.
///
/// Cheap to clone; all clones are one server. Its instances run on threads of its own, see [`Builder::threads`], which
/// end when the last clone and its last client are dropped.
///
/// ```no_run
/// # async fn example(body: String) -> Result<(), Box<dyn std::error::Error>> {
/// use std::path::Path;
///
/// use backburner::data_dir::DataDir;
/// use backburner::jobs::SupervisedJobs;
/// use backburner::store::SqliteStore;
/// use backburner::{Principal, Server};
///
/// let data = DataDir::open(Path::new("/var/lib/example"))?;
/// // `supervise ID` of this program has to call `backburner::jobs::supervisor::supervise`.
/// let program = std::env::current_exe()?;
/// let server = Server::builder()
///     .store(SqliteStore::open(&data.path().join("backburner.db"))?)
///     .jobs(SupervisedJobs::open(data.dir(), data.path(), program)?)
///     .build()?;
/// let client = server.client(Principal::new("uid:1000")?);
/// let reply = client.message(body).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Server(Arc<Shared>);

struct Shared {
    pool: Arc<Pool>,
    blocking: Blocking,
    /// As many permits as descriptors are left for requests that are kept open.
    room: Arc<Semaphore>,
    shutdown: watch::Sender<bool>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("pool", &self.pool)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Begins a server, which needs a [`Store`] and [`Jobs`].
    #[must_use]
    pub fn builder() -> Builder<(), ()> {
        Builder {
            store: (),
            jobs: (),
            config: "{}".to_owned(),
            threads: workers(),
        }
    }

    /// One that has a pool already. Up to `threads` calls of it run at the same time, beside those that a transport
    /// makes on threads of its own; requests that wait have up to `open` descriptors.
    ///
    /// # Errors
    /// Where the system refuses a thread.
    pub(crate) fn new(pool: Arc<Pool>, threads: usize, open: usize) -> io::Result<Self> {
        Ok(Self(Arc::new(Shared {
            pool,
            blocking: Blocking::start(threads)?,
            room: Arc::new(Semaphore::new(open)),
            shutdown: watch::Sender::new(false),
        })))
    }

    /// One connection of a client.
    ///
    /// Tasks belong to principals, not to connections. A connection is where request ids are unique, and where a
    /// `notifications/cancelled` can take a request back.
    #[must_use]
    pub fn client(&self, principal: Principal) -> Client {
        Client::new(self.clone(), principal)
    }

    /// Looks after tasks that no client asks about: expires them, and repairs what a crash left behind. Resolves when
    /// the server is shut down; spawn it once a server.
    ///
    /// # Panics
    /// Where it is polled outside a tokio runtime whose time is enabled.
    pub async fn sweep_regularly(&self) {
        let mut shutdown = self.shutdown();
        tokio::select! {
            _ = shutdown.wait_for(|ending| *ending) => {}
            () = self.sweep_for_ever() => {}
        }
    }

    async fn sweep_for_ever(&self) {
        tokio::time::sleep(FIRST_SWEEP_DELAY).await;
        loop {
            let pool = Arc::clone(&self.0.pool);
            let next = self.on_a_thread(move || pool.sweep(now_ms)).await;
            let pause = match next.flatten() {
                Some(next) => Duration::from_millis(next.saturating_sub(now_ms())),
                None => LONGEST_SWEEP_PAUSE,
            };
            tokio::time::sleep(pause.clamp(SHORTEST_SWEEP_PAUSE, LONGEST_SWEEP_PAUSE)).await;
        }
    }

    /// Has every request that is kept open answered with what is known now, and those that come later too. Jobs go
    /// on.
    pub fn shut_down(&self) {
        self.0.shutdown.send_replace(true);
    }

    /// Changes the settings of the component, as those of [`Builder::config`], for all clients: messages from now on
    /// are handled with these. What is being worked on goes on with the settings from before, what waits with either,
    /// and jobs do not notice.
    ///
    /// Resolves when they hold. Who drops the future does not learn whether they do. Of two calls at the same time
    /// either may be the last one.
    ///
    /// # Errors
    /// See [`PoolError`]; [`PoolError::Config`] says what is wrong with `json`, and where. Then the settings from
    /// before go on to hold.
    pub async fn configure(&self, json: &str) -> Result<(), PoolError> {
        let (pool, json) = (Arc::clone(&self.0.pool), json.to_owned());
        let configured = self.on_a_thread(move || pool.configure(&json)).await;
        configured.unwrap_or_else(|| Err(PoolError::Panicked))
    }

    /// Tells of each change of the settings, after which `tools/list` may have another answer. The number only grows.
    #[must_use]
    pub fn configured(&self) -> watch::Receiver<u64> {
        self.0.pool.configured()
    }

    /// Puts the store in order, when probably nothing more is to come.
    pub(crate) async fn close_store(&self) {
        let pool = Arc::clone(&self.0.pool);
        // What a panic leaves is in order when it is next opened.
        let _ = self.on_a_thread(move || pool.close_store()).await;
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Says true when the server has been shut down.
    fn shutdown(&self) -> watch::Receiver<bool> {
        self.0.shutdown.subscribe()
    }

    /// Room to keep one more request open, while there is some.
    fn room(&self) -> Option<Room> {
        Room::take(&self.0.room)
    }

    /// Does what may block. A panic gives `None`: a broken invariant of ours, since those of the store and the jobs do
    /// not get here.
    pub(crate) async fn on_a_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let result = self.0.blocking.run(work).await;
        if result.is_none() {
            log::warn(format_args!(
                "a thread panicked, this is a bug: an answer, or a look after the tasks, is not made"
            ));
        }
        result
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
            threads: self.threads,
        }
    }

    /// What the tasks do.
    #[must_use]
    pub fn jobs<T: Jobs + 'static>(self, jobs: T) -> Builder<S, T> {
        Builder {
            store: self.store,
            jobs,
            config: self.config,
            threads: self.threads,
        }
    }

    /// Settings of the component, a JSON object; its members are in the README of the WIT package. All of them have
    /// defaults. [`Server::configure`] changes them later.
    #[must_use]
    pub fn config(mut self, json: &str) -> Self {
        json.clone_into(&mut self.config);
        self
    }

    /// How many messages are worked on at the same time, at least one; others wait for their turn. A request that is
    /// kept open is not worked on. Twice the number of processors by default, within 4 and 16: each may have an
    /// instance, and most of its time goes into waiting for the store.
    #[must_use]
    pub fn threads(mut self, most: usize) -> Self {
        self.threads = most.max(1);
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
        Ok(Server::new(
            Arc::new(pool),
            self.threads,
            waiting_descriptors(),
        )?)
    }
}

#[cfg(test)]
mod tests;
