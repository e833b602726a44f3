//! The statements: one function each for what the store does, on a connection that is given.

use std::time::{Duration, Instant};

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior};

use super::super::check::{Page, Range};
use super::super::{Change, Entry, Error, Expectation, Versioned};
use super::lock::until_next_look;
use super::schema;

pub(super) use rusqlite::Transaction;

pub(super) fn get(connection: &Connection, key: &str) -> Result<Option<Versioned>, Error> {
    let mut select =
        connection.prepare_cached("SELECT value, version FROM entry WHERE key = ?1")?;
    let found = select
        .query_row([key], |row| {
            Ok(Versioned {
                value: row.get(0)?,
                version: version(row, 1)?,
            })
        })
        .optional()?;
    Ok(found)
}

pub(super) fn scan(connection: &Connection, range: &Range, page: &mut Page) -> Result<(), Error> {
    let mut select = connection.prepare_cached(
        "SELECT key, value, version FROM entry WHERE key >= ?1 AND key < ?2 ORDER BY key",
    )?;
    // To SQLite every blob is greater than every text.
    let end = range
        .end
        .as_deref()
        .map_or(Value::Blob(Vec::new()), |end| end.to_owned().into());
    let mut rows = select.query((&range.first, end))?;
    while page.has_room() {
        let Some(row) = rows.next()? else { break };
        page.push(Entry {
            key: row.get(0)?,
            value: row.get(1)?,
            version: version(row, 2)?,
        });
    }
    Ok(())
}

/// Begins to write: from here on, no other connection can. `stopped_writer` is the process that has the lock to write,
/// where it stands still; it is asked for once in a while.
///
/// # Errors
/// [`Error::Busy`] where another process holds the lock for longer than `patience`, [`Error::Stopped`] where it will
/// not let go.
pub(super) fn begin(
    connection: &Connection,
    patience: Duration,
    stopped_writer: impl Fn() -> Option<u32>,
) -> Result<Transaction<'_>, Error> {
    let give_up_at = Instant::now() + patience;
    let mut stopped = None;
    let attempt = || Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
    loop {
        match until_next_look(attempt).map_err(Error::from) {
            Err(Error::Busy(_)) if Instant::now() < give_up_at => {
                let before = stopped;
                stopped = stopped_writer();
                if let Some(pid) = stopped.filter(|_| stopped == before) {
                    return Err(Error::Stopped { pid });
                }
            }
            other => return other,
        }
    }
}

/// Makes several commits in the order given and ends the transaction. Each inner result is one commit's: a
/// success, or a conflict that has changed nothing.
///
/// # Errors
/// Any other [`Error`]; then none of them has happened.
pub(super) fn write(
    transaction: Transaction<'_>,
    batch: &[&[Change]],
) -> Result<Vec<Result<(), Error>>, Error> {
    // A newer program may have changed the schema since the file was opened.
    schema::version(&transaction)?;
    let before = sequence(&transaction)?;
    let mut version = before;
    let mut results = Vec::with_capacity(batch.len());
    for changes in batch {
        let conflict = first_conflict(&transaction, changes)?;
        if conflict.is_none() {
            version += 1;
            apply(&transaction, changes, version)?;
        }
        results.push(conflict.map_or(Ok(()), Err));
    }
    if version != before {
        transaction
            .prepare_cached("UPDATE sequence SET version = ?1")?
            .execute([version])?;
        transaction.commit()?;
    }
    Ok(results)
}

/// SQLite has no unsigned numbers; ours begin at 1 and count commits, so they never reach the sign.
fn version(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

fn sequence(connection: &Connection) -> Result<i64, Error> {
    let mut select = connection.prepare_cached("SELECT version FROM sequence")?;
    Ok(select.query_row([], |row| row.get(0))?)
}

/// Checks all expectations before the first change is made, so that a conflict leaves nothing to undo.
fn first_conflict(connection: &Connection, changes: &[Change]) -> Result<Option<Error>, Error> {
    let mut select = connection.prepare_cached("SELECT version FROM entry WHERE key = ?1")?;
    for change in changes {
        if change.expect() == Expectation::Anything {
            continue;
        }
        let version = select
            .query_row([change.key()], |row| version(row, 0))
            .optional()?;
        if !change.expect().is_met_by(version) {
            return Ok(Some(Error::Conflict {
                key: change.key().to_owned(),
            }));
        }
    }
    Ok(None)
}

fn apply(connection: &Connection, changes: &[Change], version: i64) -> Result<(), Error> {
    let mut put = connection.prepare_cached(
        "INSERT INTO entry (key, value, version) VALUES (?1, ?2, ?3) \
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version",
    )?;
    let mut remove = connection.prepare_cached("DELETE FROM entry WHERE key = ?1")?;
    for change in changes {
        match change {
            Change::Put { key, value, .. } => put.execute((key, value, version))?,
            Change::Remove { key, .. } => remove.execute([key])?,
        };
    }
    Ok(())
}
