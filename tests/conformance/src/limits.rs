//! How long checks wait, and the numbers of the contract.

/// How long a step may take before what it waits for will never come. Generous, since it is only ever used up by a
/// failure, and machines that run tests are busy.
pub(crate) const PATIENCE_MS: u64 = 60_000;

/// After how long a job ends that nobody answers, since a check has failed: later than all steps of any check give up.
pub(crate) const UNANSWERED_MS: u64 = 10 * PATIENCE_MS;

/// How long no host runs where something has to happen meanwhile, in milliseconds. That takes a second; the rest is for
/// busy machines, so that being late is told from waiting for the next host.
pub(crate) const ALONE_MS: u64 = 9_000;

/// For how long nothing may become of a line that was not to be typed, in milliseconds: whoever types it does so within a
/// few; what a slow host types later, this does not find.
pub(crate) const UNTYPED_MS: u64 = 1_000;

/// The pause between two looks at what nothing announces, such as output. Short beside what is waited for.
pub(crate) const LOOK_MS: u64 = 25;

/// How far two clocks of one machine may be apart before a time is wrong: less than a wrong unit or time zone.
pub(crate) const CLOCK_ERROR_MS: u64 = 600_000;

/// The longest key, in bytes.
pub(crate) const KEY_BYTES_MAX: usize = 512;

/// The longest value, in bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 1 << 20;

/// The most changes of one commit.
pub(crate) const CHANGES_MAX: usize = 64;

/// The most entries of one scan.
pub(crate) const SCAN_ENTRIES_MAX: u32 = 1000;

/// The most bytes of one `read` of output.
pub(crate) const READ_BYTES_MAX: u32 = 262_144;

/// The most questions of a job that are told.
pub(crate) const QUESTIONS_MAX: usize = 32;

/// The longest key of a question, in characters.
pub(crate) const KEY_CHARS_MAX: usize = 64;

/// The longest form of a question, in bytes.
pub(crate) const FORM_BYTES_MAX: usize = 64 << 10;

/// How much text a spec may have in all, in bytes, at whatever host.
pub(crate) const SPEC_BYTES: usize = 2 << 20;

/// The most processes that are named which outlived a command.
pub(crate) const LEFTOVERS_MAX: usize = 20;

/// How much of a process's command line is told, in characters.
pub(crate) const COMMAND_CHARS_MAX: usize = 200;

/// The longest answer, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 20;

/// How much of a value is shown in a reason: enough to see what is wrong, short enough for a line of a log.
pub(crate) const SHOWN_CHARS: usize = 300;

/// The longest text of a prompt, in characters.
pub(crate) const PROMPT_CHARS_MAX: usize = 4_000;

/// The longest line that is typed, in characters.
pub(crate) const LINE_CHARS_MAX: usize = 1_000;
