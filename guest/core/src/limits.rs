//! Every limit and delay of the core, with its reason.

/// How long a task is remembered after it expired, in milliseconds: 7 days. Long enough that whoever comes
/// back after a weekend reads "expired" and not "unknown".
pub(crate) const TOMBSTONE_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// How long after somebody first came upon its record a job may still be unknown, in milliseconds. Between commit and
/// start lie milliseconds; a server that needs longer than this is taken for dead, and its job is not run. Counted from
/// a moment at which the record was there: it carries the time at which its call began, and the commit may have waited
/// for others since.
pub(crate) const START_WINDOW_MS: u64 = 10_000;

/// How long after the beginning of its call a job is known in all likelihood, in milliseconds: on a busy machine with a
/// slow disk. Only the words depend on it.
pub(crate) const START_USUAL_MS: u64 = 2_000;

/// How long after the beginning of its call a job may be unknown at most, in milliseconds, whenever somebody came upon
/// the record: of an old task nobody should hear that its job is about to start. A commit waits for at most 60 s, by
/// the contract of `store`, and there may have been one before it, which conflicted.
pub(crate) const START_LIMIT_MS: u64 = 120_000;

/// How many tasks one sweep looks at in each index. Each may take a few commits, so that on a slow disk a sweep takes
/// seconds: bounded, as it keeps an instance from requests, and what it has read grows old.
pub(crate) const SWEEP_TASKS: u32 = 100;

/// When to sweep again after a call that failed, in milliseconds: a full disk or a locked store is not
/// mended sooner, and trying faster would only load it.
pub(crate) const SWEEP_AFTER_FAILURE_MS: u64 = 60_000;

/// When to look again at a job that was asked to stop because its task expired, in milliseconds.
pub(crate) const SWEEP_AFTER_STOP_MS: u64 = 1_000;

/// When to look again at a job that may be about to start, where a sweep has waited before it came to it, in milliseconds:
/// the next one begins with a clock that is right.
pub(crate) const SWEEP_AFTER_WAIT_MS: u64 = 1_000;

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

/// How many of a caller's own tasks are looked through for one whose record cannot be read: as many as one scan gives, and
/// ten times that. With more of them such a task is as unknown to its owner as to everybody else.
pub(crate) const OWN_TASKS: (u32, u32) = (1_000, 10);

/// The longest key of the store, in bytes; from the contract of `store`.
pub(crate) const STORE_KEY_BYTES: usize = 512;

/// The longest value of the store, in bytes; from the contract of `store`.
pub(crate) const STORE_VALUE_BYTES: usize = 1024 * 1024;

/// How deep objects and arrays of JSON are looked into. No value is read that is nested deeper: `serde_json` goes one level
/// less deep, and the arguments of a call are one level around values that are read each by itself. What is kept of each
/// level would fill an instance's memory where a message is nothing else.
pub(crate) const JSON_LEVELS: usize = 128;

/// How long all arguments of a call together may be, in bytes of JSON. They are kept in the record of the task, and the
/// store takes 1 MiB a value: this leaves half of it for everything else. What a configured tool makes of them may be
/// longer, as an argument may stand in several places; that is measured when it is recorded.
pub(crate) const ARGUMENTS_BYTES: usize = 512 * 1024;

/// How much room the record of a new task leaves for its end, in bytes: more than the longest result of `run` takes, which
/// shows 32 KiB of output and up to 20 processes, and than whatever is said of a result that cannot be kept.
pub(crate) const END_BYTES: usize = 128 * 1024;

/// The longest principal as part of a key, in bytes after escaping. At least 107 remain for an idempotency key of `run`:
/// 256 ASCII characters fit where the principal has at most 251.
pub(crate) const ESCAPED_PRINCIPAL_BYTES: usize = 400;

/// How many bytes have to remain for an idempotency key where the name of its tool stands before it, so that a digest
/// takes the place of a longer one: as many as one of `run` has. With the longest principal and a digest it has 69.
pub(crate) const IDEMPOTENCY_KEY_BYTES: usize = 107;

/// The shortest suggested polling interval, in milliseconds: half a person's "at once".
pub(crate) const POLL_MIN_MS: u64 = 250;

/// The longest suggested polling interval, in milliseconds: what one would not want to wait longer for after
/// an hour's job.
pub(crate) const POLL_MAX_MS: u64 = 15_000;

/// When to look at the job of a call that waits as long as it takes, where nothing else wakes it, in milliseconds:
/// half a minute, since it may ask something that only this call can tell of, and as long as any other call waits by
/// default before it is told so. Each look costs some microseconds. Not every host has a timer for a moment that never
/// comes, either.
pub(crate) const PATIENCE_MS: u64 = 30 * 1000;

/// How many tools are named to who called one that does not exist.
pub(crate) const LISTED_TOOLS: usize = 20;

/// How long clients may keep `server/discover` and `tools/list`, in milliseconds: one hour. They change with the
/// server's version and its configuration, and whoever listens is told when the tools do.
pub(crate) const CATALOGUE_TTL_MS: u64 = 60 * 60 * 1000;

/// How often a client is told of a task or a call that just goes on, in milliseconds: a person sees that it lives, and a
/// thousand of them cost a server little.
pub(crate) const TELL_AGAIN_MS: u64 = 1_000;

/// How many tasks one subscription may name: each is looked at every [`TELL_AGAIN_MS`], and is in the ticket.
pub(crate) const LISTENED_TASKS: usize = 100;

/// How much is remembered of why an answer did not fit, in characters: a sentence, and some of the values to choose from.
pub(crate) const MISFIT_CHARS: usize = 300;

/// How many characters of a client's own words an error message repeats, so that they do not flood a log.
pub(crate) const ECHOED_CHARS: usize = 100;

/// How long what a client carries from one round of a call to the next is accepted, in milliseconds: 10 minutes, in which
/// a person who is asked has read a question and answered it. What is older may be about things that have changed.
pub(crate) const REQUEST_STATE_MS: u64 = 10 * 60 * 1000;

/// How long all rounds of a call may take together, in milliseconds: one hour. That the call was confirmed once has to be
/// remembered for that long.
pub(crate) const CONVERSATION_MS: u64 = 60 * 60 * 1000;

/// How far the clocks of two servers of one store may be apart, in milliseconds: one minute. They are on one machine, or
/// kept by the same time service.
pub(crate) const CLOCK_SLACK_MS: u64 = 60 * 1000;

/// How long it is remembered that a confirmation was used after nobody accepts it any more, in milliseconds: one day, so
/// that a clock that jumps ahead and back while somebody sweeps does not let a command run twice.
pub(crate) const USED_CONFIRMATION_MS: u64 = 24 * 60 * 60 * 1000;

/// How many used confirmations are forgotten in one sweep: a commit takes 64 changes, by the contract of `store`.
pub(crate) const SWEEP_CONFIRMATIONS: u32 = 50;

/// How much of what a job says of itself is shown, in characters: as much as of its last line.
pub(crate) const REPORT_CHARS: usize = 120;

/// How much of a question a status message shows, in characters: enough to know what it is about.
pub(crate) const SHOWN_CHARS: usize = 200;

/// The longest grace period, in seconds: whoever cancels does not want to wait longer than ten minutes.
pub(crate) const GRACE_SECONDS: u32 = 600;

/// How long a call may wait for its job, in seconds, before it is told that the job goes on: an hour, after which no
/// client's connection is still open.
pub(crate) const SYNC_SECONDS: u32 = 3_600;

/// How many bytes of a job's output are kept at most, 1 TiB, and at least.
pub(crate) const OUTPUT_BYTES: (u64, u64) = (4_096, 1 << 40);

/// How long a call of a client with the Tasks extension may wait for a direct result, in milliseconds: one minute, after
/// which nobody would call it direct.
pub(crate) const DIRECT_LIMIT_MS: u64 = 60_000;
