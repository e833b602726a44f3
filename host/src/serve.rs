//! Puts a server together: data directory, store, jobs, component, transport.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Mode;
use rustix::io::Errno;

use crate::config::{self, Loaded, Source};
use crate::data_dir::{self, DataDir};
use crate::engine::{Pool, PoolError, load_ahead};
use crate::jobs::SupervisedJobs;
use crate::limits::DESCRIPTORS;
use crate::shell_word::{Verb, command};
use crate::store::{OpenError, SqliteStore, is_begun};
use crate::transport::stdio;

/// The name of the store's file in the data directory.
pub(crate) const STORE_FILE: &str = "backburner.db";

/// What a stdio server is told by the person who configures it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where everything is kept; `None` for the default place.
    pub data_dir: Option<PathBuf>,
    /// What the component is configured with; followed for as long as the server runs. How a task is shown is added to it.
    pub config: Source,
    /// How the client is treated.
    pub stdio: stdio::Options,
}

/// Why a server cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The data directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] data_dir::Error),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// There are jobs, and the store that knew them is gone.
    #[error(
        "{path} has jobs, and its store {STORE_FILE}, or the log of that, is gone or empty, so that nobody could be told how they end: put the \
         store back, or move `jobs` away as well, or choose another directory with --data-dir",
        path = path.display()
    )]
    StoreGone {
        /// The data directory.
        path: PathBuf,
    },
    /// The directory of the jobs cannot be used.
    #[error("cannot use the directory of the jobs in {path}", path = path.display())]
    Jobs {
        /// The data directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The component cannot be used.
    #[error(transparent)]
    Component(#[from] PoolError),
    /// Too few files can be opened for a server and one job.
    #[error(
        "cannot serve: {left} file descriptors are left to this process and it needs {DESCRIPTORS}: raise the \
         limit, for example with `ulimit -n 1024`"
    )]
    Descriptors {
        /// How many files could be opened.
        left: usize,
    },
    /// The system refuses something that a server cannot do without.
    #[error("cannot serve")]
    System(#[from] std::io::Error),
}

/// Serves one client over standard input and output, until it closes the stream.
///
/// # Errors
/// See [`ServeError`]; nothing has been written to standard output then.
pub fn stdio(settings: Settings) -> Result<(), ServeError> {
    // A limit on the size of files is then an error of the write like any other, and not the end of the server.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    leave_rights_to_owner();
    require_descriptors()?;
    let streams = stdio::Streams::take()?;
    load_ahead();
    // Before anything is made: a mistake in the file is to be mended first.
    let mut config = settings.config.load()?;
    let data_dir = DataDir::open(&DataDir::resolve(settings.data_dir)?)?;
    tell_how_to_show(&mut config, data_dir.path());
    tell_where_it_works(&mut config);
    tell_of_terminals(&mut config);
    require_store_of_jobs(&data_dir)?;
    // By its path, since SQLite takes no directory: nothing of a name comes from outside, and links are refused.
    let store = SqliteStore::open(&data_dir.path().join(STORE_FILE))?;
    let jobs = SupervisedJobs::open(data_dir.dir(), data_dir.path(), own_program()?).map_err(
        |source| ServeError::Jobs {
            path: data_dir.path().to_owned(),
            source,
        },
    )?;
    // Before the component is waited for, which takes longer than all this.
    let transport = stdio::Transport::new(streams, settings.stdio)?;
    let pool = pool(store, jobs, &config)?;
    config::follow(Arc::clone(&pool), config)?;
    transport.serve(pool)?;
    Ok(())
}

/// Sees that no new store is begun where there are jobs of an old one: a store is never empty once it has had a task. What
/// cannot be looked at is left to who opens it.
fn require_store_of_jobs(data_dir: &DataDir) -> Result<(), ServeError> {
    let is_gone = || !is_begun(&data_dir.path().join(STORE_FILE));
    // Again behind the look at the jobs: another server may have begun both meanwhile.
    if is_gone() && SupervisedJobs::has_any(data_dir.dir()) && is_gone() {
        let path = data_dir.path().to_owned();
        return Err(ServeError::StoreGone { path });
    }
    Ok(())
}

fn pool(
    store: SqliteStore,
    jobs: SupervisedJobs,
    config: &Loaded,
) -> Result<Arc<Pool>, ServeError> {
    let pool = Pool::new(Arc::new(store), Arc::new(jobs), config.json());
    match pool {
        Ok(pool) => Ok(Arc::new(pool)),
        Err(PoolError::Config(refused)) => Err(config.explain(refused).into()),
        Err(error) => Err(error.into()),
    }
}

/// Takes from the umask what it would take from the owner of a file: nothing here works with files that it may not read
/// again, and each would have to be given its rights one by one. The supervisors, and the jobs, have this umask too.
fn leave_rights_to_owner() {
    // Nobody can look at it without setting it. There is one thread yet, so nothing is created in between.
    let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    rustix::process::umask(umask - Mode::RWXU);
}

/// Finds out in time whether there are enough descriptors: of what lies below, some things answer a lack of them with
/// a panic, and others with words that do not say what is missing.
fn require_descriptors() -> Result<(), ServeError> {
    let mut held = Vec::with_capacity(DESCRIPTORS);
    while held.len() < DESCRIPTORS {
        match rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), 3) {
            Ok(descriptor) => held.push(descriptor),
            // The second is what it is where the limit is not even above the standard streams.
            Err(Errno::MFILE | Errno::INVAL) => {
                return Err(ServeError::Descriptors { left: held.len() });
            }
            Err(error) => return Err(std::io::Error::from(error).into()),
        }
    }
    Ok(())
}

/// Adds the commands that show a task, answer what it asks, and run what a person has to allow: a model knows neither where
/// this program is nor its data directory.
fn tell_how_to_show(config: &mut Loaded, data_dir: &Path) {
    let program = std::env::current_exe().ok();
    for (member, verb) in [
        ("showCommand", Verb::Show),
        ("answerCommand", Verb::Answer),
        ("runCommand", Verb::Run),
    ] {
        let program = program.as_deref();
        if let Some(command) = program.and_then(|it| command(it, verb, Some(data_dir))) {
            config.set_default(member, command.into());
        }
    }
}

/// Adds that an interactive job is given a terminal.
pub(crate) fn tell_of_terminals(config: &mut Loaded) {
    config.set_default("terminals", true.into());
}

/// Adds the directory in which commands run that name none, so that whoever confirms one is told it, and no other server on
/// the same data directory runs it elsewhere. One that was deleted, or whose name is no text, stays the process's own.
fn tell_where_it_works(config: &mut Loaded) {
    let directory = std::env::current_dir().ok();
    if let Some(path) = directory.as_deref().and_then(Path::to_str) {
        config.set_default("workingDirectory", path.into());
    }
}

/// The program that is running, to be run again as a supervisor.
///
/// On Linux by the kernel's name for it, and not by its path: the file may be replaced by an upgrade while this
/// server runs, and a supervisor of another version would not know our formats.
fn own_program() -> std::io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok("/proc/self/exe".into())
    } else {
        std::env::current_exe()
    }
}
