//! Connections to one file, handed out to whoever reads or writes at the moment.

use std::mem;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::super::Error;
use super::super::limits::{CACHE_KIB, IDLE_CONNECTIONS_MAX};
use super::lock::wait_for_lock;

/// The connections that nobody uses now. The last one returned is the first one taken: its cache is
/// the warmest, and a process with one busy thread never opens a second one.
#[derive(Debug)]
pub(super) struct Pool {
    path: PathBuf,
    idle: Mutex<Idle>,
}

#[derive(Debug, Default)]
struct Idle {
    connections: Vec<Connection>,
    /// Whether none is to be handed out or kept any more.
    is_closed: bool,
}

impl Pool {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            idle: Mutex::default(),
        }
    }

    /// Hands out a connection, and opens another one where all are in use.
    ///
    /// # Errors
    /// [`Error::Closed`], or why none can be opened.
    pub(super) fn take(&self) -> Result<Pooled<'_>, Error> {
        let mut idle = self.idle();
        if idle.is_closed {
            return Err(Error::Closed);
        }
        let warm = idle.connections.pop();
        drop(idle);
        let connection = match warm {
            Some(connection) => connection,
            None => open(&self.path)?,
        };
        Ok(Pooled {
            pool: self,
            connection: Some(connection),
        })
    }

    /// Has no connection from now on. When the last one of all processes is closed, SQLite writes the log into the
    /// database and takes it away; it waits for nobody to do so.
    pub(super) fn close(&self) {
        let mut idle = self.idle();
        idle.is_closed = true;
        let connections = mem::take(&mut idle.connections);
        drop(idle);
        drop(connections);
    }

    /// As [`Pool::close`], but leaves the log as it is: for one of which nobody knows what is in it.
    pub(super) fn abandon(&self) {
        for connection in &self.idle().connections {
            // It cannot fail for a connection that is open, and the worst of it is what happens anyhow.
            let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        self.close();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.idle().is_closed
    }

    fn put_back(&self, connection: Connection) {
        let mut idle = self.idle();
        if !idle.is_closed && idle.connections.len() < IDLE_CONNECTIONS_MAX {
            idle.connections.push(connection);
            return;
        }
        // Closed after the lock is released: closing the last one of a file takes long.
        drop(idle);
        drop(connection);
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        // The list is whole at any moment at which another thread could have panicked.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection on loan; it goes back when this is dropped.
#[derive(Debug)]
pub(super) struct Pooled<'p> {
    pool: &'p Pool,
    /// Taken only by `drop`.
    connection: Option<Connection>,
}

impl Deref for Pooled<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
            .as_ref()
            .expect("only `drop` takes the connection")
    }
}

impl DerefMut for Pooled<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection
            .as_mut()
            .expect("only `drop` takes the connection")
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        // One that is still in a transaction, because its rollback failed, would hold a lock for ever.
        if let Some(connection) = self.connection.take()
            && connection.is_autocommit()
        {
            self.pool.put_back(connection);
        }
    }
}

fn open(path: &Path) -> Result<Connection, Error> {
    // No mutex of its own: the pool lends a connection to one thread at a time.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait_for_lock))?;
    // `fullfsync` is for macOS, where a plain `fsync` leaves the data in the disk's own cache. `secure_delete` is for
    // what people pass to commands, which is not to lie in free pages when its task is gone.
    connection.execute_batch(&format!(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; \
         PRAGMA cache_size = -{CACHE_KIB}; PRAGMA cell_size_check = ON; \
         PRAGMA secure_delete = ON;"
    ))?;
    Ok(connection)
}
