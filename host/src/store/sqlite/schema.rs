//! The shape of the file: how it is made, recognised and brought up to date.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::super::limits::BUSY_TIMEOUT;
use super::super::{Error, OpenError};

/// Marks the file as ours, for `file` and for ourselves: the letters `bkbr`.
const APPLICATION_ID: i64 = 0x626b_6272;

/// The schema's history: a file of schema n needs the statements from index n on. Never change one that was
/// released: add another.
///
/// Schema 1: a table with row ids, because values are of some KiB: an index without them would put every
/// value into a page of its own. Text is compared by its bytes, SQLite's default. The sequence holds the
/// version of the last commit.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE entry (
        key TEXT NOT NULL PRIMARY KEY,
        value TEXT NOT NULL,
        version INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE sequence (
        only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
        version INTEGER NOT NULL
    ) STRICT;
    INSERT INTO sequence (only, version) VALUES (1, 0);
"];

/// The newest schema that this program knows.
pub(super) fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).expect("the list of migrations is short")
}

/// Why a file cannot be used.
pub(super) enum Unusable {
    Foreign,
    Failed(Error),
}

impl Unusable {
    pub(super) fn at(self, path: &Path) -> OpenError {
        let path = path.to_owned();
        match self {
            Self::Foreign => OpenError::Foreign { path },
            Self::Failed(source) => OpenError::Unusable { path, source },
        }
    }
}

impl<E: Into<Error>> From<E> for Unusable {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Makes a new file a store, brings an old one up to date, and leaves a current one alone.
///
/// Any number of processes may do this at the same time.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), Unusable> {
    // In one transaction, so that all that is looked at is of one moment: another process may be making the schema.
    let snapshot = connection.transaction()?;
    let current = found(&snapshot)? == known();
    drop(snapshot);
    // A copy that SQLite made (`VACUUM INTO`) has the schema, and no log.
    if current && has_log(connection)? {
        return Ok(());
    }
    use_log(connection)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Again, since another process may have done it before the lock was ours.
    let found = usize::try_from(found(&transaction)?).expect("`found` gives no negative number");
    for statements in &MIGRATIONS[found..] {
        transaction.execute_batch(statements)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", known())?;
    transaction.commit()?;
    Ok(())
}

/// The schema of the file, 0 to [`known`]: 0 where it is new.
fn found(connection: &Connection) -> Result<i64, Unusable> {
    let application_id: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    // Whose it is comes first: another program counts its schemas as it likes.
    match application_id {
        APPLICATION_ID => match version(connection)? {
            known @ 1.. => Ok(known),
            _ => Err(Unusable::Foreign),
        },
        0 if user_version(connection)? == 0 && is_empty(connection)? => Ok(0),
        _ => Err(Unusable::Foreign),
    }
}

/// The schema that the file says it has.
///
/// # Errors
/// [`Error::Newer`] where this program does not know it.
pub(super) fn version(connection: &Connection) -> Result<i64, Error> {
    let found = user_version(connection)?;
    if found > known() {
        return Err(Error::Newer {
            found,
            known: known(),
        });
    }
    Ok(found)
}

fn user_version(connection: &Connection) -> Result<i64, Error> {
    let mut statement = connection.prepare_cached("PRAGMA user_version")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

fn is_empty(connection: &Connection) -> Result<bool, Error> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0)
}

/// Whether the file uses write-ahead logging.
fn has_log(connection: &Connection) -> Result<bool, Error> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok(mode.eq_ignore_ascii_case("wal"))
}

/// Switches the file to write-ahead logging, which it then keeps.
///
/// SQLite does not wait where two connections switch at the same time, because each would wait for the other:
/// one of them has to let go and try again.
fn use_log(connection: &Connection) -> Result<(), Error> {
    let give_up_at = Instant::now() + BUSY_TIMEOUT;
    loop {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(_) => return Err(Error::Other(Arc::new(NoLog))),
            Err(error) if is_busy(&error) && Instant::now() < give_up_at => {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// The file system cannot carry a log.
#[derive(Debug, thiserror::Error)]
#[error(
    "the file system of the data directory does not support SQLite's write-ahead log: choose a \
     directory on a local disk with --data-dir"
)]
struct NoLog;
