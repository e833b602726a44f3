//! Every limit and delay of the core, with its reason.

/// How long a task is remembered after it expired, in milliseconds: 7 days. Long enough that whoever comes
/// back after a weekend reads "expired" and not "unknown".
pub(crate) const TOMBSTONE_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// How long after somebody first came upon its record a job may still be unknown, in milliseconds. Between commit and
/// start lie milliseconds; a server that needs longer than this is taken for dead, and its job is not run. Counted from
/// a moment at which the record was there: it carries the time at which its call began, and the commit may have waited
/// for others since.
pub(crate) const START_WINDOW_MS: u64 = 10_000;

/// How long after the beginning of its call a job may be unknown at most, in milliseconds, whenever somebody came upon
/// the record: of an old task nobody should hear that its job is about to start. A commit waits for at most 60 s, by
/// the contract of `store`, and there may have been one before it, which conflicted.
pub(crate) const START_LIMIT_MS: u64 = 120_000;

/// How many tasks one sweep looks at in each index. Each may take two commits, so that on a slow disk a sweep takes
/// seconds: bounded, as it keeps an instance from requests, and what it has read grows old.
pub(crate) const SWEEP_TASKS: u32 = 100;

/// When to sweep again after a call that failed, in milliseconds: a full disk or a locked store is not
/// mended sooner, and trying faster would only load it.
pub(crate) const SWEEP_AFTER_FAILURE_MS: u64 = 60_000;

/// When to look again at a job that was asked to stop because its task expired, in milliseconds.
pub(crate) const SWEEP_AFTER_STOP_MS: u64 = 1_000;

/// How long a call waits for the end of a job whose task has expired and whose idempotency key it repeats, in
/// milliseconds: twice the default time that a job gets to end when it is stopped.
pub(crate) const ENDING_WAIT_MS: u64 = 10_000;

/// When to look again for a waiting call at a task that could not be looked at, in milliseconds: what passes by itself,
/// such as a shortage of descriptors, takes about that long, and a host that woke the call at once, as its job has
/// ended, would do nothing else.
pub(crate) const LOOK_AGAIN_MS: u64 = 250;

/// How often a decision is made anew when another server wrote in between. Each conflict means that another
/// one made progress, so more than a few in a row do not happen by accident.
pub(crate) const CONFLICT_ATTEMPTS: u32 = 8;

/// The longest key of the store, in bytes; from the contract of `store`.
pub(crate) const STORE_KEY_BYTES: usize = 512;

/// The longest principal as part of a key, in bytes after escaping. With it the longest index key has 464
/// bytes, and at least 107 remain for an idempotency key: 256 ASCII characters fit
/// where the principal has at most 251.
pub(crate) const ESCAPED_PRINCIPAL_BYTES: usize = 400;

/// The shortest suggested polling interval, in milliseconds: half a person's "at once".
pub(crate) const POLL_MIN_MS: u64 = 250;

/// The longest suggested polling interval, in milliseconds: what one would not want to wait longer for after
/// an hour's job.
pub(crate) const POLL_MAX_MS: u64 = 15_000;

/// When to look at the job of a call that waits as long as it takes, where nothing else wakes it, in milliseconds: an
/// hour, since not every host has a timer for a moment that never comes.
pub(crate) const PATIENCE_MS: u64 = 60 * 60 * 1000;

/// How many tools are named to who called one that does not exist.
pub(crate) const LISTED_TOOLS: usize = 20;

/// How long clients may keep `server/discover` and `tools/list`, in milliseconds: one hour. They change with the
/// server's version, and the instructions with its configuration: not while it runs.
pub(crate) const CATALOGUE_TTL_MS: u64 = 60 * 60 * 1000;

/// How many characters of a client's own words an error message repeats, so that they do not flood a log.
pub(crate) const ECHOED_CHARS: usize = 100;
