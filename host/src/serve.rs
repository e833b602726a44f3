//! Puts a server together: data directory, store, jobs, component, transport.

use std::path::PathBuf;
use std::sync::Arc;

use crate::data_dir::{self, DataDir};
use crate::engine::{Pool, PoolError};
use crate::jobs::SupervisedJobs;
use crate::store::{OpenError, SqliteStore};
use crate::transport::stdio;

/// The name of the store's file in the data directory.
pub(crate) const STORE_FILE: &str = "backburner.db";

/// What a stdio server is told by the person who configures it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where everything is kept; `None` for the default place.
    pub data_dir: Option<PathBuf>,
    /// For the component: a JSON object, see `configure` in the WIT.
    pub component_config: String,
    /// How the client is treated.
    pub stdio: stdio::Options,
}

/// Why a server cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The data directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] data_dir::Error),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The directory of the jobs cannot be used.
    #[error("cannot use the directory of the jobs in {path}: {source}", path = path.display())]
    Jobs {
        /// The data directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The component cannot be used.
    #[error(transparent)]
    Component(#[from] PoolError),
    /// The system refuses something that a server cannot do without.
    #[error("cannot serve: {0}")]
    System(#[from] std::io::Error),
}

/// Serves one client over standard input and output, until it closes the stream.
///
/// # Errors
/// See [`ServeError`]; nothing has been written to standard output then.
pub fn stdio(settings: Settings) -> Result<(), ServeError> {
    let streams = stdio::Streams::take()?;
    let data_dir = DataDir::open(&DataDir::resolve(settings.data_dir)?)?;
    let store = SqliteStore::open(&data_dir.path().join(STORE_FILE))?;
    let jobs = SupervisedJobs::open(data_dir.dir(), data_dir.path(), own_program()?).map_err(
        |source| ServeError::Jobs {
            path: data_dir.path().to_owned(),
            source,
        },
    )?;
    let pool = Pool::new(Arc::new(store), Arc::new(jobs), settings.component_config)?;
    stdio::serve(Arc::new(pool), streams, settings.stdio)?;
    Ok(())
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
