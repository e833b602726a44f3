//! The bounds of the arguments of `run` and of what its summary lists, each with its reason.

/// How long all arguments together may be, in bytes of JSON. They are kept in the record of the task, and the
/// store takes 1 MiB a value: this leaves half of it for everything else.
pub(super) const ARGUMENTS_BYTES: usize = 512 * 1024;

/// How long one string that the operating system gets may be, in bytes: Linux takes 128 KiB for an argument
/// or a variable, its end marker included.
pub(super) const STRING_BYTES: usize = 128 * 1024 - 1;

/// How many variables `env` may have: many times what programs need, few enough that their form in a record
/// cannot be much longer than in the call.
pub(super) const VARIABLES: usize = 1_000;

/// The longest timeout, in seconds: 31 days. What should run longer needs no timeout.
pub(super) const TIMEOUT_SECONDS: u32 = 31 * 24 * 60 * 60;

/// The shortest time to live, in seconds: with less, the task could be gone before its id arrives.
pub(super) const TTL_SECONDS_MIN: u32 = 1;

/// The longest time to live, in seconds: 365 days. What should be kept longer needs no time to live.
pub(super) const TTL_SECONDS_MAX: u32 = 365 * 24 * 60 * 60;

/// How long a label may be, in characters: one row of a list.
pub(super) const LABEL_CHARS: usize = 100;

/// How long an idempotency key may be, in characters: several UUIDs.
pub(super) const KEY_CHARS: usize = 256;

/// How much of a wrong argument is repeated to the model, in characters: enough to recognize it.
pub(super) const QUOTED_CHARS: usize = 60;

/// How many leftover processes a summary names; the structured result has all of them.
pub(super) const NAMED_LEFTOVERS: usize = 5;

/// How much of a leftover process's command line a summary shows, in characters.
pub(super) const LEFTOVER_CHARS: usize = 80;
