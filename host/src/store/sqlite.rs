//! The store as a SQLite file, which several threads and several processes use at the same time.
//!
//! Write-ahead logging, so that reads never wait for writes; every commit is synchronised to the disk
//! before it returns, and those that meet in one process share one synchronisation.

mod file;
mod group;
mod lock;
mod pool;
mod presence;
mod reserve;
mod schema;
mod statement;
mod wal;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, Error as SqlError, ErrorCode, ffi};

pub(crate) use self::file::{can_be_store, is_begun};

use self::group::{Group, Leader, Turn, Waiting};
use self::pool::Pool;
use self::presence::Files;
use self::reserve::{Disk, Reserve};
use self::schema::Unusable;
use self::statement::Transaction;
use super::check::{self, Page};
use super::limits::{BUSY_TIMEOUT, NOTE_BYTES};
use super::{Cause, Change, Entry, Error, Expectation, OpenError, Store, Versioned};
use crate::file::is_disk_full;

/// A store in a file. One value serves all threads of a process.
#[derive(Debug)]
pub struct SqliteStore {
    pool: Pool,
    group: Group,
    files: Files,
    reserve: Reserve,
    /// How long a commit waits for another process's lock.
    patience: Duration,
}

impl SqliteStore {
    /// Opens the store at `path`, and creates it where there is none, readable by its owner alone.
    ///
    /// The directory has to exist on a local disk: SQLite's log needs memory that processes share. Beside
    /// the file, SQLite keeps two more, with `-wal` and `-shm` added to the name. A third one, with `-reserve`, takes
    /// room: on a full disk it goes, and a commit that only changes what is there finds room once.
    ///
    /// # Errors
    /// [`OpenError`] where the file cannot be created, is a link, another user's or another program's, is damaged, or
    /// has a schema that only a newer version knows.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let unusable = |source| OpenError::Unusable {
            path: path.to_owned(),
            source,
        };
        file::create(path)?;
        let pool = Pool::new(path);
        let reserve = Reserve::of(path);
        let prepare = || -> Result<(), Unusable> { schema::prepare(&mut *pool.take()?) };
        prepare()
            .or_else(|error| match error {
                Unusable::Failed(error) if lacks_room(&error, &reserve) => {
                    reserve.give_up();
                    prepare()
                }
                other => Err(other),
            })
            .map_err(|error| match error {
                Unusable::Failed(error) => Unusable::Failed(explained(error, &reserve)),
                other => other,
            })
            .map_err(|error| error.at(path))?;
        let files =
            Files::remember(path).map_err(|error| unusable(Error::Other(Arc::new(error))))?;
        // Where there is no room for it now, whoever brings something new is told.
        let _later = reserve.keep();
        Ok(Self {
            pool,
            group: Group::default(),
            files,
            reserve,
            patience: BUSY_TIMEOUT,
        })
    }

    /// Reads on a connection, and sees that it was the store that was read.
    fn read<T>(&self, mut read: impl FnMut(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let attempt = || self.pool.take().and_then(|connection| read(&connection));
        match self.in_need(attempt) {
            Ok(found) => self.files.check_lately().map(|()| found),
            Err(error) => Err(match self.cause(error) {
                // The log's index has to grow for a reader too. Whoever reads is told of no lack of room.
                Error::NoSpace(cause) => Error::Other(cause),
                other => other,
            }),
        }
    }

    /// Does something, and where that finds no room, once more with the room that was kept.
    fn in_need<T>(&self, mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        match attempt() {
            Err(error) if lacks_room(&error, &self.reserve) => {
                // Where there is none, another call or process may have given it up in the same moment.
                self.reserve.give_up();
                attempt()
            }
            other => other,
        }
    }

    /// Sees that there is room left for what becomes of this, where it is something new.
    fn leave_room(&self, changes: &[Change]) -> Result<(), Error> {
        if !is_new(changes) {
            return Ok(());
        }
        match self.reserve.keep() {
            Err(error) if is_disk_full(&error) => Err(Error::NoSpace(Arc::new(error))),
            // What else may be in its way is no reason to refuse anything.
            _ => Ok(()),
        }
    }

    /// Why a call really failed: files that went are seen first by what comes of it.
    fn cause(&self, error: Error) -> Error {
        if matches!(error, Error::Closed) {
            // Its files went with it.
            return error;
        }
        let lost = self.files.check().err();
        lost.unwrap_or_else(|| explained(error, &self.reserve))
    }

    /// Writes what the leader brought and what waits behind it, and leaves each waiting commit its result.
    fn lead(&self, own: &[Change], mut leader: Leader<'_>) -> Result<(), Error> {
        // Whether there is room for what is new is seen when it is written: others may wait behind it.
        let opened = match is_new(own) {
            true => self.pool.take(),
            false => self.in_need(|| self.pool.take()),
        };
        let connection = match opened {
            Ok(connection) => connection,
            // Who waits behind something new has a chance of its own, maybe with the room that is kept.
            Err(error) if is_new(own) => {
                return leader.finish(&[], vec![Err(self.cause(error))]);
            }
            Err(error) => return leader.fail(self.cause(error)),
        };
        let begun = self.begin(&connection);
        if begun.is_ok() {
            leader.begin_to_write();
        }
        // Only now: whoever came while another process had the lock is taken along.
        let waiting = leader.gather();
        let batch: Vec<&[Change]> = std::iter::once(own)
            .chain(waiting.iter().map(Waiting::changes))
            .collect();
        let results = self.written(&connection, begun, &batch);
        leader.finish(&waiting, results)
    }

    /// Writes, and gives results that may be told: a commit that nobody will find has not happened.
    fn written(
        &self,
        connection: &Connection,
        begun: Result<Transaction<'_>, Error>,
        batch: &[&[Change]],
    ) -> Vec<Result<(), Error>> {
        let results = match begun {
            Ok(transaction) => self.write(connection, transaction, batch),
            Err(error) if lacks_room(&error, &self.reserve) => self.write_apart(connection, batch),
            Err(error) => vec![Err(error); batch.len()],
        };
        match self.files.check() {
            Ok(()) => results
                .into_iter()
                .map(|it| it.map_err(|error| explained(error, &self.reserve)))
                .collect(),
            Err(error) => vec![Err(error); batch.len()],
        }
    }

    /// Begins to write, and not where others would not find it: with an index that others do not use, this process
    /// has no lock against them, and would write over their commits.
    fn begin<'c>(&self, connection: &'c Connection) -> Result<Transaction<'c>, Error> {
        let transaction =
            statement::begin(connection, self.patience, || self.files.stopped_writer())?;
        self.files.check()?;
        Ok(transaction)
    }

    /// Writes several commits in one transaction; where that fails, each in its own.
    ///
    /// A conflict fails only its own commit. Any other failure loses the whole transaction (SQLite takes it
    /// back by itself when the disk is full), though it may be one commit's alone: so each then has its own
    /// chance. Savepoints would not help with that, and cost every commit two statements more.
    fn write(
        &self,
        connection: &Connection,
        together: Transaction<'_>,
        batch: &[&[Change]],
    ) -> Vec<Result<(), Error>> {
        match statement::write(together, batch) {
            Ok(results) => results,
            Err(error) if batch.len() == 1 && !lacks_room(&error, &self.reserve) => {
                vec![Err(error)]
            }
            Err(_) => self.write_apart(connection, batch),
        }
    }

    /// Writes each of several commits in a transaction of its own.
    fn write_apart(&self, connection: &Connection, batch: &[&[Change]]) -> Vec<Result<(), Error>> {
        let write = |changes: &&[Change]| {
            let attempt = || statement::write(self.begin(connection)?, &[*changes]);
            let results = self.on_full_disk(changes, attempt)?;
            results.into_iter().collect()
        };
        batch.iter().map(write).collect()
    }

    /// Does a part of a commit. One that brings nothing new may have the room that is kept, where it finds no other.
    fn on_full_disk<T>(
        &self,
        changes: &[Change],
        mut attempt: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        if !is_new(changes) {
            return self.in_need(attempt);
        }
        // Again: one that was written just before this may have used it.
        self.leave_room(changes)?;
        attempt()
    }
}

/// Whether a commit brings something that was not there before, and more than a note. The room that is kept is not for
/// that.
fn is_new(changes: &[Change]) -> bool {
    let is_absent = |it: &Change| it.expect() == Expectation::Absent;
    changes.iter().any(is_absent) && changes.iter().map(bytes).sum::<usize>() > NOTE_BYTES
}

/// How long a change is as it is stored.
fn bytes(change: &Change) -> usize {
    match change {
        Change::Put { key, value, .. } => key.len() + value.len(),
        Change::Remove { .. } => 0,
    }
}

/// Whether something failed for want of room. A full disk SQLite tells by a name of its own, a quota as any failure to
/// write, which may be a limit on the size of files, and that a file could not be made as one that cannot be opened: then
/// whether there is room has to be seen.
fn lacks_room(error: &Error, reserve: &Reserve) -> bool {
    match error {
        Error::NoSpace(_) => true,
        Error::Unopened(_) | Error::FileSize(_) => reserve.is_missed(),
        Error::Other(cause) => {
            let code = cause
                .downcast_ref::<SqlError>()
                .and_then(SqlError::sqlite_error);
            code.is_some_and(|it| CANNOT_GROW.contains(&it.extended_code)) && reserve.is_missed()
        }
        _ => false,
    }
}

impl Store for SqliteStore {
    fn get(&self, key: &str) -> Result<Option<Versioned>, Error> {
        self.read(|connection| statement::get(connection, key))
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, Error> {
        let range = check::range(prefix, after);
        self.read(|connection| {
            let mut page = Page::new(limit);
            statement::scan(connection, &range, &mut page)?;
            Ok(page.into_entries())
        })
    }

    fn commit(&self, changes: &[Change]) -> Result<(), Error> {
        check::changes(changes)?;
        if changes.is_empty() {
            return Ok(());
        }
        self.leave_room(changes)?;
        match self.group.enter(changes) {
            Turn::Lead(leader) => self.lead(changes, leader),
            Turn::Done(result) => result,
        }
    }

    fn close(&self) {
        if self.pool.is_closed() {
            return;
        }
        // What this process knows of a log that somebody changed would be written over what is in the database.
        match self.files.check() {
            Ok(()) => self.pool.close(),
            Err(_) => self.pool.abandon(),
        }
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
    }
}

/// What an error is on the disk of this reserve: where that has no room, a limit on the size of files is not to blame.
fn explained(error: Error, reserve: &Reserve) -> Error {
    match error {
        Error::FileSize(cause) if reserve.is_missed() => Error::NoSpace(cause),
        other => on_disk(other, reserve.disk()),
    }
}

/// What an error is on this disk. Of one that can only be read SQLite says that a file cannot be opened, or not be
/// written.
fn on_disk(error: Error, disk: Disk) -> Error {
    match error {
        Error::Unopened(cause) if disk == Disk::ReadOnly => Error::ReadOnly(cause),
        Error::Other(cause) if disk == Disk::ReadOnly && is_io(&cause) => Error::ReadOnly(cause),
        other => other,
    }
}

/// Whether SQLite says that the system failed to read or write.
fn is_io(cause: &Cause) -> bool {
    let error = cause.downcast_ref::<SqlError>();
    error.and_then(SqlError::sqlite_error_code) == Some(ErrorCode::SystemIoFailure)
}

/// How SQLite says that a file takes no more for another reason than a full disk. The index of the log says it so for
/// any.
const CANNOT_GROW: [i32; 2] = [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE];

/// Whether this process may write files up to some size only.
fn files_are_limited() -> bool {
    rustix::process::getrlimit(rustix::process::Resource::Fsize)
        .current
        .is_some()
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
        let cause: Cause = Arc::new(error);
        let Some(code) = code else {
            return if is_unreadable {
                Self::Corrupt(cause)
            } else {
                Self::Other(cause)
            };
        };
        match code.code {
            // The system's own words for it do not get here, but nobody sets this limit without need.
            _ if CANNOT_GROW.contains(&code.extended_code) && files_are_limited() => {
                Self::FileSize(cause)
            }
            ErrorCode::DiskFull => Self::NoSpace(cause),
            // The log's index is a file too; it grows a little at a time, and only for room it cannot get.
            _ if code.extended_code == ffi::SQLITE_IOERR_SHMSIZE => Self::NoSpace(cause),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Corrupt(cause),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy(cause),
            ErrorCode::ReadOnly => Self::ReadOnly(cause),
            ErrorCode::CannotOpen => Self::Unopened(cause),
            _ => Self::Other(cause),
        }
    }
}

#[cfg(test)]
mod closing_tests;
#[cfg(test)]
mod tests;
