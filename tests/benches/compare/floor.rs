//! What creating a durable task cannot do without: one power-safe commit and one process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::ensure;
use rusqlite::Connection;

/// As long as the record of a task.
const RECORD_BYTES: usize = 1024;

/// A database set up as the store's is.
pub(crate) struct Floor {
    database: Connection,
}

/// What one commit and one process took.
pub(crate) struct Cost {
    /// The commit of one record.
    pub(crate) commit: Duration,
    /// Until the process was certain to be started.
    pub(crate) spawn: Duration,
    /// Until it had ended.
    pub(crate) run: Duration,
}

impl Floor {
    /// Makes the database in a directory on the disk that the data directories are on.
    ///
    /// # Errors
    /// Where SQLite fails.
    pub(crate) fn new(directory: &Path) -> anyhow::Result<Self> {
        let database = Connection::open(directory.join("floor.db"))?;
        let mode: String = database.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0))?;
        ensure!(mode == "wal", "SQLite uses the journal mode {mode}");
        database.execute_batch(
            "PRAGMA synchronous = FULL;
             CREATE TABLE record (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID, STRICT;",
        )?;
        Ok(Self { database })
    }

    /// Commits one record and runs one program.
    ///
    /// # Errors
    /// Where either fails.
    pub(crate) fn pay(&self, key: usize) -> anyhow::Result<Cost> {
        let value = "x".repeat(RECORD_BYTES);
        let began = Instant::now();
        self.database.execute(
            "INSERT INTO record VALUES (?1, ?2)",
            (key.to_string(), value),
        )?;
        let commit = began.elapsed();
        let began = Instant::now();
        let mut child = Command::new("true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let spawn = began.elapsed();
        child.wait()?;
        let run = began.elapsed();
        Ok(Cost { commit, spawn, run })
    }
}
