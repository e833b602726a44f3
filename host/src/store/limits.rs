//! The numbers of the store's contract, and those that bound what it costs.

use std::time::Duration;

/// The longest key, in bytes of UTF-8. Of the contract.
pub const KEY_BYTES_MAX: usize = 512;

/// The longest value, in bytes of UTF-8. Of the contract.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

/// The most changes of one commit. Of the contract.
pub const CHANGES_MAX: usize = 64;

/// The most entries of one scan. Of the contract.
pub const SCAN_ENTRIES_MAX: u32 = 1000;

/// After how many bytes of keys and values a scan stops: a full scan of the greatest values would be
/// 1 GiB, more than the memory that an instance may have.
pub const SCAN_BYTES_MAX: usize = 4 << 20;

/// How long a call waits for another process's lock. A commit takes milliseconds, but sixteen servers on a
/// slow disk queue up, and a migration or a checkpoint of a large log takes seconds. A commit may wait for so long
/// twice, for others of this process and then of another one: the WIT promises no more than 60 s.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a commit that waits for another process's lock looks whether that process is stopped. One that is so at
/// two looks is not waited for any longer.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How many commits of one process wait for another process's lock for as long as [`BUSY_TIMEOUT`] says, the one that
/// tries to get it included. Each keeps a thread of its server: fewer than a server has, so that one is left for reads.
pub(crate) const PATIENT_COMMITS: usize = 3;

/// How long nobody of this process may have got the lock, or one may have been writing, before commits beyond
/// [`PATIENT_COMMITS`] fail at once, and how long reads may have to wait behind them. Of sixteen servers on a slow disk
/// each gets it within a second or two.
pub(super) const CROWD_PATIENCE: Duration = Duration::from_secs(10);

/// How long a read believes that the store's files are where they were when somebody last looked. A look takes five
/// system calls, a sixth of what a small request costs. A read that is too late by this much is like one that was
/// answered before the files went; a commit looks each time, before it writes and before it is told.
pub(super) const FILES_SEEN_FOR: Duration = Duration::from_millis(100);

/// How many connections are kept when no call uses them. Each costs up to [`CACHE_KIB`] and some descriptors;
/// opening another one costs about a tenth of a millisecond.
pub(super) const IDLE_CONNECTIONS_MAX: usize = 4;

/// The page cache of one connection, in KiB: enough for the inner nodes of a store of a million keys,
/// and little enough that all idle connections together stay within 4 MiB.
pub(super) const CACHE_KIB: u32 = 1024;

/// How much room is kept for what a task needs that is there, on a disk that is full: twice what it takes to replace
/// the longest value by another one, as the old one's pages are overwritten too. The greatest commit of the contract
/// takes more.
pub(super) const RESERVE_BYTES: usize = 4 << 20;

/// How long a commit of something new is at most that may have that room, in bytes: what a person said to a question,
/// which nobody can say often. A task takes more.
pub(super) const NOTE_BYTES: usize = 256;
