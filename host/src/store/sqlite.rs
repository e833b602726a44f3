//! The store as a SQLite file, which several threads and several processes use at the same time.
//!
//! Write-ahead logging, so that reads never wait for writes; every commit is synchronised to the disk
//! before it returns, and those that meet in one process share one synchronisation.

mod file;
mod group;
mod pool;
mod schema;
mod statement;

use std::path::Path;

use rusqlite::{Connection, Error as SqlError, ErrorCode, ffi};

use self::group::{Group, Leader, Turn, Waiting};
use self::pool::Pool;
use super::check::{self, Page};
use super::{Cause, Change, Entry, Error, OpenError, Store, Versioned};

/// A store in a file. One value serves all threads of a process.
#[derive(Debug)]
pub struct SqliteStore {
    pool: Pool,
    group: Group,
}

impl SqliteStore {
    /// Opens the store at `path`, and creates it where there is none, readable by its owner alone.
    ///
    /// The directory has to exist on a local disk: SQLite's log needs memory that processes share. Beside
    /// the file, SQLite keeps two more, with `-wal` and `-shm` added to the name.
    ///
    /// # Errors
    /// [`OpenError`] where the file cannot be created, is another program's, is damaged, or has a schema
    /// that only a newer version knows.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let unusable = |source| OpenError::Unusable {
            path: path.to_owned(),
            source,
        };
        file::create(path)?;
        let pool = Pool::new(path);
        {
            let mut connection = pool.take().map_err(unusable)?;
            schema::prepare(&mut connection).map_err(|error| error.at(path))?;
        }
        Ok(Self {
            pool,
            group: Group::default(),
        })
    }

    /// Writes what the leader brought and what waits behind it, and leaves each waiting commit its result.
    fn lead(&self, own: &[Change], mut leader: Leader<'_>) -> Result<(), Error> {
        let connection = match self.pool.take() {
            Ok(connection) => connection,
            Err(error) => return leader.fail(error),
        };
        let begun = statement::begin(&connection);
        // Only now: whoever came while another process had the lock is taken along.
        let waiting = leader.gather();
        let batch: Vec<&[Change]> = std::iter::once(own)
            .chain(waiting.iter().map(Waiting::changes))
            .collect();
        let results = match begun {
            Ok(transaction) => write(&connection, transaction, &batch),
            Err(error) => vec![Err(error); batch.len()],
        };
        leader.finish(&waiting, results)
    }
}

impl Store for SqliteStore {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        statement::get(&*self.pool.take()?, key)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        let mut page = Page::new(limit);
        statement::scan(&*self.pool.take()?, &check::range(prefix, after), &mut page)?;
        Ok(page.into_entries())
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        check::changes(changes)?;
        if changes.is_empty() {
            return Ok(());
        }
        match self.group.enter(changes) {
            Turn::Lead(leader) => self.lead(changes, leader),
            Turn::Done(result) => result,
        }
    }
}

/// Writes several commits in one transaction; where that fails, each in its own.
///
/// A conflict fails only its own commit. Any other failure loses the whole transaction (SQLite takes it
/// back by itself when the disk is full), though it may be one commit's alone: so each then has its own
/// chance. Savepoints would not help with that, and cost every commit two statements more.
fn write(
    connection: &Connection,
    together: statement::Transaction<'_>,
    batch: &[&[Change]],
) -> Vec<Result<(), Error>> {
    match statement::write(together, batch) {
        Ok(results) => results,
        Err(error) if batch.len() == 1 => vec![Err(error)],
        Err(_) => batch
            .iter()
            .map(|changes| write_alone(connection, changes))
            .collect(),
    }
}

fn write_alone(connection: &Connection, changes: &[Change]) -> Result<(), Error> {
    let results = statement::write(statement::begin(connection)?, &[changes])?;
    results.into_iter().collect()
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        let code = error.sqlite_error().copied();
        let is_unreadable = matches!(
            error,
            SqlError::FromSqlConversionFailure(..)
                | SqlError::InvalidColumnType(..)
                | SqlError::IntegralValueOutOfRange(..)
                | SqlError::QueryReturnedNoRows
                | SqlError::Utf8Error(..)
        );
        let cause: Cause = std::sync::Arc::new(error);
        let Some(code) = code else {
            return if is_unreadable {
                Self::Corrupt(cause)
            } else {
                Self::Other(cause)
            };
        };
        match code.code {
            ErrorCode::DiskFull => Self::NoSpace(cause),
            // The log's index is a file too; it grows a little at a time, and only for room it cannot get.
            _ if code.extended_code == ffi::SQLITE_IOERR_SHMSIZE => Self::NoSpace(cause),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Corrupt(cause),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy(cause),
            _ => Self::Other(cause),
        }
    }
}

#[cfg(test)]
mod tests;
