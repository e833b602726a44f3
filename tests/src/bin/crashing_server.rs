//! A double of the real server, put together from the same library, with a store and jobs that get it into the trouble
//! that its [`Plan`] names.
//!
//! It stands in for the shipped binary where a server has to die *between* two steps that have a name: just after a commit
//! and before the start, say. To hit such an instant in the shipped binary would need hooks that a product has no use for.
//! What differs is `main` alone: the transport, the pool, the component, the store and the jobs are those of the library,
//! and so is all that they do. It has no command line and follows no configuration file. The shipped binary itself is
//! killed before each of its system calls in `crash/killed_calls.rs`, where nobody knows which step that is, and at random
//! instants there, in `crash/fleet.rs` and in `crash/deaths.rs`.
//!
//! Its supervisors are the real program's; only where a server is to die in the middle of a start does the path
//! from server to supervisor lead through here.

use std::ffi::OsString;
use std::future::Future;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;
use backburner::data_dir::DataDir;
use backburner::engine::Pool;
use backburner::jobs::{
    Failure, Fragment, Jobs, Spec, StartError, State, StopReason, SupervisedJobs,
};
use backburner::store::{Change, Entry, Error, SqliteStore, Store, Versioned};
use backburner::transport::stdio::{Options, Streams, Transport};
use backburner_tests::{CURSED, CrashPoint, HUGE, HUGE_BYTES, NOISE, Plan, Side, Step, Trouble};
use rustix::process::{Pid, Signal, getpid, getppid, kill_process};
use uuid::Uuid;

/// The largest message, as in the real server.
const MESSAGE_LIMIT_BYTES: usize = 4 * 1024 * 1024;

fn main() -> anyhow::Result<()> {
    let plan = Plan::of_this_process()?;
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|it| it == "supervise") {
        return supervise(plan, &arguments);
    }
    serve(plan)
}

/// Kills the server, which waits for this process to become the supervisor, and then becomes it or ends.
fn supervise(plan: Plan, arguments: &[OsString]) -> anyhow::Result<()> {
    kill(getppid().context("the server is gone already")?);
    match plan.trouble {
        Trouble::Death(CrashPoint {
            side: Side::After, ..
        }) => Err(Command::new(plan.supervisor).args(arguments).exec().into()),
        Trouble::Death(_) | Trouble::FullStore(_) | Trouble::HostileStore => Ok(()),
    }
}

fn serve(plan: Plan) -> anyhow::Result<()> {
    let streams = Streams::take()?;
    let data_dir = DataDir::open(&DataDir::resolve(None)?)?;
    let config = format!(r#"{{"directLimitMs":{}}}"#, plan.direct_limit_ms);
    let program = supervisor_program(&plan)?;
    let trouble = Arc::new(Troublemaker {
        trouble: plan.trouble,
        seen: AtomicU32::new(0),
    });
    let store = TroubledStore {
        store: SqliteStore::open(&data_dir.path().join("backburner.db"))?,
        trouble: Arc::clone(&trouble),
    };
    let jobs = TroubledJobs {
        jobs: SupervisedJobs::open(data_dir.dir(), data_dir.path(), program)?,
        trouble,
    };
    let pool = Pool::new(Arc::new(store), Arc::new(jobs), config)?;
    let options = Options {
        message_limit_bytes: MESSAGE_LIMIT_BYTES,
    };
    Ok(Transport::new(streams, options)?.serve(Arc::new(pool))?)
}

fn supervisor_program(plan: &Plan) -> anyhow::Result<PathBuf> {
    Ok(match plan.trouble {
        Trouble::Death(CrashPoint {
            step: Step::Supervise,
            ..
        }) => std::env::current_exe()?,
        Trouble::Death(_) | Trouble::FullStore(_) | Trouble::HostileStore => {
            plan.supervisor.clone()
        }
    })
}

fn kill(process: Pid) {
    kill_process(process, Signal::KILL).expect("a process may kill itself and its parent");
}

/// Gets the server into trouble when its time has come.
struct Troublemaker {
    trouble: Trouble,
    /// How often the step has come at which the server dies.
    seen: AtomicU32,
}

impl Troublemaker {
    /// Takes a step, and dies on the side of it that is asked for.
    fn take<T>(&self, step: Step, work: impl FnOnce() -> T) -> T {
        let side = self.death_at(step);
        if side == Some(Side::Before) {
            die();
        }
        let done = work();
        if side == Some(Side::After) {
            die();
        }
        done
    }

    fn death_at(&self, step: Step) -> Option<Side> {
        let Trouble::Death(point) = &self.trouble else {
            return None;
        };
        let comes =
            step == point.step && self.seen.fetch_add(1, Ordering::SeqCst) + 1 == point.number;
        comes.then_some(point.side)
    }

    fn is_full(&self) -> bool {
        matches!(&self.trouble, Trouble::FullStore(file) if file.exists())
    }

    /// What a hostile store does with a look at a record, and what it says is there; `None` where it is as it should be.
    fn disturb(&self, key: &str) -> Option<Versioned> {
        if !matches!(self.trouble, Trouble::HostileStore) {
            return None;
        }
        print();
        assert!(!key.ends_with(CURSED), "a test wants this panic");
        key.ends_with(HUGE).then(|| Versioned {
            value: "x".repeat(HUGE_BYTES),
            version: 1,
        })
    }
}

/// Prints as libraries do: through the standard library, past it, and from a process that was started.
#[expect(
    clippy::print_stdout,
    reason = "that it does no harm is what is tested"
)]
fn print() {
    println!("{NOISE}");
    print!("{NOISE}, and does not end its line");
    // Whatever becomes of it, and of the next one.
    let _ = std::io::stdout().flush();
    let _ = rustix::io::write(std::io::stdout(), NOISE.as_bytes());
    let _ = Command::new("echo").arg(NOISE).status();
}

/// Does not return: no thread of a process goes on when it has killed itself.
fn die() -> ! {
    kill(getpid());
    unreachable!("SIGKILL cannot be caught")
}

/// Does not return either: what is to become the supervisor is about to kill this process.
fn wait_for_death() -> ! {
    loop {
        std::thread::park();
    }
}

/// The store, with trouble.
struct TroubledStore {
    store: SqliteStore,
    trouble: Arc<Troublemaker>,
}

impl Store for TroubledStore {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        match self.trouble.disturb(key) {
            Some(wrong) => Ok(Some(wrong)),
            None => self.store.get(key),
        }
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        if self.trouble.is_full() {
            let cause = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(Error::NoSpace(Arc::new(cause)));
        }
        self.trouble
            .take(Step::Commit, || self.store.commit(changes))
    }
}

/// The jobs, with trouble.
struct TroubledJobs {
    jobs: SupervisedJobs,
    trouble: Arc<Troublemaker>,
}

impl Jobs for TroubledJobs {
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        let started = self.trouble.take(Step::Start, || self.jobs.start(id, spec));
        if started.is_ok() && self.trouble.death_at(Step::Supervise).is_some() {
            wait_for_death();
        }
        started
    }

    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure> {
        self.trouble.take(Step::Stop, || self.jobs.stop(id, reason))
    }

    fn inspect(&self, id: Uuid) -> Result<State, Failure> {
        self.jobs.inspect(id)
    }

    fn answer(&self, id: Uuid, key: &str, answer: &str) -> Result<(), Failure> {
        self.jobs.answer(id, key, answer)
    }

    fn read(&self, id: Uuid, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        self.jobs.read(id, offset, limit)
    }

    fn forget(&self, id: Uuid) -> Result<(), Failure> {
        self.trouble.take(Step::Forget, || self.jobs.forget(id))
    }

    fn ended(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.trouble.take(Step::Wait, || self.jobs.ended(id))
    }
}
