//! Every limit and delay of the host, with its reason.

use std::time::Duration;

use crate::store::PATIENT_COMMITS;

/// How long a guest may compute for one call, not counting the time in imports. The slowest honest call renders
/// half a megabyte of output in a few milliseconds; on a machine that is a hundred times too busy it still
/// finishes.
pub(crate) const GUEST_TIME: Duration = Duration::from_secs(10);

/// How often a running guest's time is looked at. Longer would interrupt late, shorter would wake the processor
/// for nothing.
pub(crate) const EPOCH_TICK: Duration = Duration::from_millis(100);

/// After how many ticks without a running guest the ticker sleeps: a client that calls once a second keeps it
/// awake instead of waking it each time.
pub(crate) const IDLE_TICKS: u32 = 20;

/// How much linear memory an instance may have. The largest message (4 MiB by default) and the largest excerpt
/// take a few times their size.
pub(crate) const GUEST_MEMORY_BYTES: usize = 128 * 1024 * 1024;

/// How many elements a table of an instance may have: many times as many as the component has functions.
pub(crate) const GUEST_TABLE_ELEMENTS: usize = 100_000;

/// How much linear memory an idle instance may keep: a hundred times what an ordinary call needs. One that had to
/// grow beyond it is replaced, since linear memory never shrinks.
pub(crate) const KEPT_MEMORY_BYTES: usize = 16 * 1024 * 1024;

/// After how many calls an instance is replaced, so that what one call left in memory, or leaked, does not stay
/// for ever. A new instance costs as much as ten calls.
pub(crate) const CALLS_PER_INSTANCE: u32 = 256;

/// How long after the start the first sweep runs: the first replies go first.
pub(crate) const FIRST_SWEEP_DELAY: Duration = Duration::from_secs(1);

/// The longest pause between two sweeps: a task that was created meanwhile, by any process on the data
/// directory, may have expired.
pub(crate) const LONGEST_SWEEP_PAUSE: Duration = Duration::from_secs(600);

/// The shortest pause between two sweeps, so that a sweep that cannot get anything done does not spin.
pub(crate) const SHORTEST_SWEEP_PAUSE: Duration = Duration::from_millis(100);

/// How long a stdio server that was asked to end by a signal goes on, to finish what it is answering, and how long one
/// that has answered everything may take to put its store in order. The promise is to be gone after 100 ms; the rest is
/// for the process to end.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_millis(80);
const _: () = assert!(SHUTDOWN_GRACE.as_millis() < 100);

/// How long what a stdio server has in hand at end of file may not get on, before it ends all the same: longer than a
/// commit takes on a slow disk, shorter than clients wait before they send signals. A server that has nothing in hand
/// ends at once.
pub(crate) const WORK_PATIENCE: Duration = Duration::from_secs(1);

/// How long a client that closed its end of the input may take nothing of the replies that wait for it, before the
/// server ends all the same. One that reads is kept from it for a second by what it does with a reply; one that never
/// reads must not keep a server for ever.
pub(crate) const UNTAKEN_PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked whether a connection that is about to end gets on: finely enough for [`WORK_PATIENCE`].
pub(crate) const ENDING_LOOK: Duration = Duration::from_millis(20);

/// In pieces of how many bytes replies are written. A piece that was taken shows that the client reads, if slowly: a
/// whole megabyte would hide that for longer than [`UNTAKEN_PATIENCE`]. Small replies still go out many at a time.
pub(crate) const PIECE_BYTES: usize = 16 * 1024;

/// How many bytes of replies wait for a client that does not read, before its requests are not worked on either.
pub(crate) const UNREAD_REPLIES_BYTES: usize = 1024 * 1024;

/// The shortest pause between two looks of one open request at its job, so that one that cannot be finished does not
/// spin.
pub(crate) const SHORTEST_WAIT: Duration = Duration::from_millis(100);

/// How many files beside the standard streams a process has to be able to open to serve. An idle server has 17 open, a
/// call up to 8 for a moment, and so do the supervisors; the rest is for a second call at the same time.
pub(crate) const DESCRIPTORS: usize = 32;

/// How many descriptors the requests have that one server keeps open: a request one at least, and one that waits for
/// several jobs up to one for each of them, as each is a FIFO that is open meanwhile. Half of what this process may
/// have beyond [`DESCRIPTORS`] is left for the rest; at most 10 000. Where they are used up a request is not accepted
/// for waiting but answered as at shutdown, with what is known by then.
pub(crate) fn waiting_descriptors() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let beyond = limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit)
            .unwrap_or(usize::MAX)
            .saturating_sub(DESCRIPTORS)
    });
    (beyond / 2).min(10_000)
}

/// How often a request goes on only to look at those of its jobs for whose FIFOs it was given no descriptors: often
/// enough for a person who waits, and seldom enough for many such requests.
pub(crate) const UNWATCHED_LOOK: Duration = Duration::from_secs(1);

/// How many messages a server works on at the same time, unless its embedder says otherwise: more than there are
/// processors, since a call may wait for the disk; not many more, since each has an instance.
pub(crate) fn workers() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (2 * processors).clamp(WORKERS_MIN, 16)
}

/// So that one is left for reads where commits wait for another process's lock.
const WORKERS_MIN: usize = 4;
const _: () = assert!(WORKERS_MIN > PATIENT_COMMITS);

/// How many cancellations that overtook their request are remembered.
pub(crate) const EARLY_CANCELLATIONS: usize = 64;

/// How long a configuration file may be: a thousand times what people write, and little enough for an instance's memory
/// in a few copies.
pub(crate) const CONFIG_FILE_BYTES: usize = 1024 * 1024;

/// How long nothing more has to happen to a configuration file that somebody finished writing: editors and installers
/// make several steps of it, within milliseconds.
pub(crate) const CONFIG_SETTLED: Duration = Duration::from_millis(100);

/// How long nothing more has to happen to a configuration file that was created or deleted: whoever writes it piece by
/// piece, or puts another one in its place, gets to the next step sooner.
pub(crate) const CONFIG_UNSETTLED: Duration = Duration::from_secs(2);

/// How often a configuration file is looked at where the system does not tell of changes: a person who saved it waits
/// for no longer than that, and a look costs a few microseconds.
pub(crate) const CONFIG_LOOK: Duration = Duration::from_secs(1);
const _: () = assert!(CONFIG_LOOK.as_millis() < CONFIG_UNSETTLED.as_millis());
