//! The instances of one server: lent to one call at a time, returned, replaced when they trap or get old.

use std::fmt;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use tokio::sync::watch;

use super::code;
use super::instance::{Context, Instance, Pending, State, Step, Wake};
use super::ticker::Ticker;
use crate::bindings::ServerPre;
use crate::bindings::exports::backburner::server::protocol::{ConfigError, Refusal};
use crate::jobs::Jobs;
use crate::log;
use crate::store::Store;

/// Answers messages, several at the same time, each with an instance of its own.
///
/// As many instances are made as calls ever ran at once; the caller bounds those.
pub struct Pool {
    server: ServerPre<State>,
    ticker: Ticker,
    store: Arc<dyn Store>,
    jobs: Arc<dyn Jobs>,
    instances: Mutex<Instances>,
    returned: Condvar,
    /// The reply where there is no instance to ask for one: an error that cannot name its request.
    last_words: Option<String>,
    /// Tells the number of the configuration.
    configured: watch::Sender<u64>,
}

/// What instances are configured with.
#[derive(Debug)]
struct Config {
    /// Greater than that of every one before it.
    number: u64,
    json: String,
}

/// Where the instances are.
struct Instances {
    /// What new ones are configured with.
    config: Arc<Config>,
    /// All of them with the present configuration. Last in, first out: the instance whose memory is still in the
    /// processor's cache goes first.
    idle: Vec<Instance>,
    /// How many are at work.
    lent: usize,
    /// How many loans have ended, ever.
    ended: u64,
    /// Whether none could be made for a call. The person who runs this is told once: nothing else says why the server
    /// is slower than it could be, and it lasts.
    is_short: bool,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("config", &self.instances().config)
            .finish_non_exhaustive()
    }
}

/// Why no pool can be made.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// The embedded component does not load or start: this binary was built wrongly for this machine.
    #[error("the embedded component cannot be used on this machine: {0:#}")]
    Component(wasmtime::Error),
    /// There is no room for an instance of it.
    #[error(
        "each call of the component reserves 4 GiB of address space, and this process gets no more: raise the limit \
         (`ulimit -v unlimited`): {0:#}"
    )]
    AddressSpace(wasmtime::Error),
    /// The process may not have a file, were it in memory only, that is as large as the component's data.
    #[error(
        "the component needs a file of 2 MiB in memory, and this process may not have it: raise the limit \
         (`ulimit -f unlimited`): {0:#}"
    )]
    FileSize(wasmtime::Error),
    /// The component refuses its configuration.
    #[error("the configuration is refused: {0}")]
    Config(BadConfig),
    /// The thread that interrupts runaway guests, or one to run them on, could not be started.
    #[error("cannot start a thread")]
    Thread(#[from] std::io::Error),
    /// Whoever was to configure the component panicked, which has been reported: this is a bug.
    #[error("a thread panicked")]
    Panicked,
}

/// What the component refuses in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct BadConfig {
    /// The wrong member, as a JSON pointer (RFC 6901); empty for the whole.
    pub at: String,
    /// Why, in words that say what is expected.
    pub reason: String,
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        f.write_str(&self.reason)
    }
}

impl From<ConfigError> for PoolError {
    fn from(error: ConfigError) -> Self {
        Self::Config(BadConfig {
            at: error.at,
            reason: error.reason,
        })
    }
}

impl From<wasmtime::Error> for PoolError {
    fn from(error: wasmtime::Error) -> Self {
        let is_of = |cause: &(dyn std::error::Error + 'static), errno: Errno| {
            let io = cause.downcast_ref::<std::io::Error>();
            let of_system = io.and_then(std::io::Error::raw_os_error);
            cause.downcast_ref() == Some(&errno) || of_system == Some(errno.raw_os_error())
        };
        if error.chain().any(|cause| is_of(cause, Errno::NOMEM)) {
            Self::AddressSpace(error)
        } else if error.chain().any(|cause| is_of(cause, Errno::FBIG)) {
            Self::FileSize(error)
        } else {
            Self::Component(error)
        }
    }
}

impl Pool {
    /// Loads the component and configures a first instance.
    ///
    /// `config` is for the component: a JSON object, described at `configure` in the WIT.
    ///
    /// # Errors
    /// See [`PoolError`].
    pub fn new(
        store: Arc<dyn Store>,
        jobs: Arc<dyn Jobs>,
        config: String,
    ) -> Result<Self, PoolError> {
        let server = code::loaded()?;
        let config = Arc::new(Config {
            number: 0,
            json: config,
        });
        let mut pool = Self {
            ticker: Ticker::start(server.engine().clone())?,
            server,
            store,
            jobs,
            instances: Mutex::new(Instances {
                config: Arc::clone(&config),
                idle: Vec::new(),
                lent: 0,
                ended: 0,
                is_short: false,
            }),
            returned: Condvar::new(),
            last_words: None,
            configured: watch::Sender::new(0),
        };
        let mut first = pool.make(&config.json)?;
        pool.last_words = first.call(&pool.ticker, |guest, store| {
            guest.call_refuse(store, "", Refusal::Trapped)
        })?;
        pool.instances().idle.push(first);
        Ok(pool)
    }

    /// Has all calls from now on work with another configuration, as that of [`Pool::new`]. A call that is being worked
    /// on goes on with the one it began with; a request that waits goes on with either.
    ///
    /// Blocks for as long as it takes to make an instance.
    ///
    /// # Errors
    /// See [`PoolError`]; then the configuration from before goes on to hold.
    pub fn configure(&self, config: &str) -> Result<(), PoolError> {
        if self.instances().config.json == config {
            return Ok(());
        }
        let first = self.make(config)?;
        let mut instances = self.instances();
        let number = instances.config.number + 1;
        instances.config = Arc::new(Config {
            number,
            json: config.to_owned(),
        });
        let replaced = mem::replace(&mut instances.idle, vec![first]);
        self.configured.send_replace(number);
        drop(instances);
        // A call may wait for an instance, whichever.
        self.returned.notify_one();
        drop(replaced);
        Ok(())
    }

    /// Tells of each configuration that is another one than before, for whoever passes it on: the tools may be others.
    /// It is seen after calls have begun to work with it.
    pub fn configured(&self) -> watch::Receiver<u64> {
        self.configured.subscribe()
    }

    /// Puts the store in order, when probably nothing more is to come. Blocks.
    pub fn close_store(&self) {
        self.store.close();
    }

    /// The jobs that the component starts, for whoever waits for one.
    pub fn jobs(&self) -> &Arc<dyn Jobs> {
        &self.jobs
    }

    /// Handles one message of a client. `cx` is asked for when there is an instance to handle it, which may take a
    /// while: what it says of the time has to be true then.
    ///
    /// Blocks for as long as the store and the jobs do. Never fails: a message that an instance traps on, or that the
    /// store or the jobs panic on, is answered with an internal error.
    pub fn message(&self, cx: impl FnOnce() -> Context, body: &str) -> Step {
        let outcome = self.call(|instance, ticker| {
            let cx = cx();
            instance.call(ticker, |guest, store| guest.call_message(store, &cx, body))
        });
        match outcome {
            Ok(outcome) => outcome.into(),
            Err(error) => self.trapped(&error, body),
        }
    }

    /// Goes on with a request that had to wait. `body` is the message that it came as.
    ///
    /// Asks for `cx`, blocks and fails as [`Pool::message`].
    pub fn resume(
        &self,
        cx: impl FnOnce() -> Context,
        pending: &Pending,
        why: Wake,
        body: &str,
    ) -> Step {
        let outcome = self.call(|instance, ticker| {
            let cx = cx();
            instance.call(ticker, |guest, store| {
                guest.call_resume(store, &cx, &pending.ticket, why)
            })
        });
        match outcome {
            Ok(outcome) => outcome.into(),
            Err(error) => self.trapped(&error, body),
        }
    }

    /// The reply to a message that is longer than the host accepts, and was not kept.
    pub fn refuse_too_large(&self) -> Step {
        self.refuse("", Refusal::TooLarge)
    }

    /// The reply to a message that is not UTF-8.
    pub fn refuse_not_utf8(&self) -> Step {
        self.refuse("", Refusal::NotUtf8)
    }

    /// Looks after tasks that no client asks about. Gives when to do it again, in milliseconds since 1970; `now` gives
    /// the present as such, and is asked when there is an instance.
    pub fn sweep(&self, now: impl FnOnce() -> u64) -> Option<u64> {
        self.call(|instance, ticker| {
            let now = now();
            instance.call(ticker, |guest, store| guest.call_sweep(store, now))
        })
        .unwrap_or_else(|error| {
            log::warn(format_args!("a sweep failed: {error:#}"));
            None
        })
    }

    fn trapped(&self, error: &wasmtime::Error, body: &str) -> Step {
        log::warn(format_args!(
            "a message was not handled, and the instance that worked on it is dropped: {error:#}"
        ));
        self.refuse(body, Refusal::Trapped)
    }

    fn refuse(&self, body: &str, why: Refusal) -> Step {
        let reply = self.call(|instance, ticker| {
            instance.call(ticker, |guest, store| guest.call_refuse(store, body, why))
        });
        match reply {
            Ok(Some(reply)) => Step::Reply(reply),
            Ok(None) => Step::Nothing,
            // The message is what it trapped on: an answer without its id is better than none.
            Err(_) if !body.is_empty() => self.refuse("", why),
            Err(error) => {
                log::warn(format_args!(
                    "a message is refused without its id: {error:#}"
                ));
                self.last_words.clone().map_or(Step::Nothing, Step::Reply)
            }
        }
    }

    /// Lends an instance to one call, and takes it back unless it trapped.
    fn call<T>(
        &self,
        work: impl FnOnce(&mut Instance, &Ticker) -> wasmtime::Result<T>,
    ) -> wasmtime::Result<T> {
        let (lent, config) = self
            .lend()
            .map_err(|error| wasmtime::format_err!("{error}"))?;
        let mut loan = Loan {
            pool: self,
            config,
            whole: None,
        };
        // Declared after the loan, so that an instance that traps is dropped before the loan ends.
        let mut instance = lent;
        let result = work(&mut instance, &self.ticker)?;
        loan.whole = Some(instance).filter(Instance::is_fresh);
        Ok(result)
    }

    /// An idle instance, or a new one, and what it is configured with. Where none can be made, say since address space
    /// is limited, it waits for one that is lent: fewer calls at the same time are better than none.
    fn lend(&self) -> Result<(Instance, Arc<Config>), PoolError> {
        let mut instances = self.instances();
        loop {
            instances.lent += 1;
            let config = Arc::clone(&instances.config);
            if let Some(instance) = instances.idle.pop() {
                return Ok((instance, config));
            }
            let ended = instances.ended;
            drop(instances);
            let error = match self.make(&config.json) {
                Ok(made) => return Ok((made, config)),
                Err(error) => error,
            };
            instances = self.instances();
            instances.lent -= 1;
            if instances.ended != ended {
                // What that loan held may be what was missing.
                continue;
            }
            if instances.lent == 0 && instances.idle.is_empty() {
                // Another call may have hoped for this one's instance, and nobody else will wake it now. It tries for
                // itself, fails as well, and wakes the next one.
                self.returned.notify_one();
                return Err(error);
            }
            if !mem::replace(&mut instances.is_short, true) {
                drop(instances);
                log::warn(format_args!(
                    "messages wait for each other, since no other instance can be made: {error}"
                ));
                instances = self.instances();
            } else if instances.idle.is_empty() {
                instances = self
                    .returned
                    .wait(instances)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Ends a loan, with what comes back of it. An instance that was configured otherwise than they are now is dropped.
    fn take_back(&self, instance: Option<Instance>, config: &Config) {
        let mut instances = self.instances();
        instances.lent -= 1;
        instances.ended += 1;
        let outdated = if instances.config.number == config.number {
            instances.idle.extend(instance);
            None
        } else {
            instance
        };
        self.returned.notify_one();
        drop(instances);
        drop(outdated);
    }

    fn make(&self, config: &str) -> Result<Instance, PoolError> {
        let state = State::new(Arc::clone(&self.store), Arc::clone(&self.jobs));
        let mut instance = Instance::new(&self.server, state)?;
        instance.call(&self.ticker, |guest, store| {
            guest.call_configure(store, config)
        })??;
        Ok(instance)
    }

    fn instances(&self) -> MutexGuard<'_, Instances> {
        // Each change leaves them whole, whatever happened elsewhere in its thread.
        self.instances
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// An instance is lent for as long as this lives.
struct Loan<'a> {
    pool: &'a Pool,
    /// What it is configured with.
    config: Arc<Config>,
    /// What is to come back: nothing unless the call ended well.
    whole: Option<Instance>,
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.pool.take_back(self.whole.take(), &self.config);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    #[test]
    fn the_time_is_asked_for_when_there_is_an_instance() {
        let data = tempfile::tempdir().expect("there is room");
        let dir = cap_std::fs::Dir::open_ambient_dir(data.path(), cap_std::ambient_authority());
        let dir = dir.expect("it is there");
        let jobs = crate::jobs::SupervisedJobs::open(&dir, data.path(), "/no/such/program".into());
        let jobs = Arc::new(jobs.expect("it can be opened"));
        let store = Arc::new(MemoryStore::default());
        let pool = Pool::new(store, jobs, "{}".to_owned()).expect("the component is whole");
        let present = || {
            assert_eq!(pool.instances().lent, 1);
            1_800_000_000_000
        };
        let cx = || Context {
            now: present(),
            principal: "user".to_owned(),
        };
        pool.sweep(present);
        assert!(matches!(pool.message(cx, "{}"), Step::Reply(_)));
        let pending = Pending {
            request: "1".to_owned(),
            jobs: Vec::new(),
            deadline: 0,
            until_configured: false,
            ticket: "none".to_owned(),
        };
        let resumed = pool.resume(cx, &pending, Wake::Deadline, "{}");
        assert!(matches!(resumed, Step::Reply(_)));
    }
}
