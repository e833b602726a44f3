//! The bounds of what tools are called with and of what they give back, each with its reason.

/// How long one string that the operating system gets may be, in bytes: Linux takes 128 KiB for an argument
/// or a variable, its end marker included.
pub(crate) const STRING_BYTES: usize = 128 * 1024 - 1;

/// How many variables `env` may have: many times what programs need, few enough that their form in a record
/// cannot be much longer than in the call.
pub(crate) const VARIABLES: usize = 1_000;

/// The longest timeout, in seconds: 31 days. What should run longer needs no timeout.
pub(crate) const TIMEOUT_SECONDS: u32 = 31 * 24 * 60 * 60;

/// The shortest time to live, in seconds: with less, the task could be gone before its id arrives.
pub(crate) const TTL_SECONDS_MIN: u32 = 1;

/// The longest time to live, in seconds: 365 days. What should be kept longer needs no time to live.
pub(crate) const TTL_SECONDS_MAX: u32 = 365 * 24 * 60 * 60;

/// How long a label may be, in characters: one row of a list.
pub(crate) const LABEL_CHARS: usize = 100;

/// How long an idempotency key may be, in characters: several UUIDs.
pub(crate) const KEY_CHARS: usize = 256;

/// How much of a wrong argument is repeated to the model, in characters: enough to recognize it.
pub(crate) const QUOTED_CHARS: usize = 60;

/// How many leftover processes a summary names; the structured result has all that the host tells of.
pub(crate) const NAMED_LEFTOVERS: usize = 5;

/// How many leftover processes a host tells of at most, as the WIT says. Where it tells of so many there may be more.
pub(crate) const TOLD_LEFTOVERS: usize = 20;

/// How much of a leftover process's command line a summary shows, in characters.
pub(crate) const LEFTOVER_CHARS: usize = 80;

/// How many misfits of its arguments a refused call is told: enough to correct a call in one go, few enough to read.
pub(crate) const TOLD_MISFITS: usize = 5;

/// How many choices, alternatives or names a refusal lists.
pub(crate) const LISTED_NAMES: usize = 20;

/// The longest name of a tool, in characters.
///
/// *Source:* MCP 2026-07-28, Tools, Tool Names.
pub(crate) const TOOL_NAME_CHARS: usize = 128;

/// How many bytes of stdout may become a result as they are: in base64 two thirds of what the store takes, which leaves
/// room for what most calls were. One that was longer than that has no such result.
pub(crate) const RESULT_STDOUT_BYTES: usize = 512 * 1024;

/// How long a result may be, in bytes of JSON, for the same reason: JSON that is also sent as text is in it twice.
pub(crate) const RESULT_BYTES: usize = 768 * 1024;

/// How much of an output that cannot be used is shown, in bytes: enough to see what it is.
pub(crate) const UNUSABLE_SHOWN_BYTES: usize = 2 * 1024;

/// How much the check of a value against a schema may take, in units of 16 bytes of mistakes: 48 MiB, as an instance has 128
/// and holds the value, too. Some 150 000 mistakes near the top of a value, or half a second of work.
pub(crate) const VALIDATION_UNITS: usize = 3 * 1024 * 1024;

/// How many schemas may be applied within each other when a value is checked: four for each of the 128 levels that JSON
/// may have here, and shallow enough for an instance's stack.
pub(crate) const VALIDATION_NESTING: usize = 512;

/// How deep the alternatives of a schema are looked into for words.
pub(crate) const ALTERNATIVES_DEPTH: usize = 3;

/// How long the name of a question to a user may be, in characters: one word.
pub(crate) const QUESTION_KEY_CHARS: usize = 64;

/// How much of each argument in the question whether a tool may be called is shown, in characters: a paragraph. Of
/// what is longer the beginning and the end are, and how much is not; what is part of the command is shown with that, too.
pub(crate) const ASKED_ARGUMENT_CHARS: usize = 500;

/// How long the text of a question to a user may be, in characters: a few sentences.
pub(crate) const QUESTION_CHARS: usize = 1_000;
