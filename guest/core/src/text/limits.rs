//! The limits of what is read and shown of a job's output, each with its reason.

/// How many bytes of output a result shows, the note about what is missing included. About 8000 tokens:
/// enough for a build's errors, little enough that several results fit into a model's context.
pub(super) const SHOWN_BYTES: usize = 32 * 1024;

/// How much of [`SHOWN_BYTES`] is kept for the note about what is missing, which is shorter than this even
/// with the largest numbers.
pub(super) const NOTE_BYTES: usize = 224;

/// How far a cut may move to the next end of a line, in bytes. Longer lines are cut within.
pub(super) const NEAR_BYTES: usize = 1024;

/// How much is read at the beginning of the output, and again at its end, in bytes. Eight times what is
/// shown, since escape sequences and progress bars shrink to little.
pub(super) const WINDOW_BYTES: u64 = 256 * 1024;

/// The most that one call of `jobs.read` gives, in bytes: its contract.
pub(super) const READ_BYTES: u64 = 262_144;

/// How much is read to find the last line, in bytes; the second is tried where the first shows nothing.
/// A line that a person can read fits into the first, a screen that ends in blank lines into the second.
pub(super) const LAST_LINE_WINDOW_BYTES: [u64; 2] = [4 * 1024, 64 * 1024];

/// How long a last line may be, in characters: it is shown beside other things in one row of a list.
pub(super) const LAST_LINE_CHARS: usize = 120;

/// How wide the terminal is whose cursor moves, in columns: at least as wide as programs expect one to be,
/// but so narrow that a sequence of a few bytes cannot ask for much memory or work.
pub(super) const TERMINAL_COLUMNS: usize = 200;

/// How much of a job's output is read to tell its standard output from its standard error, in bytes: some tenths of a
/// second's work. Of more, the beginning and the end are read, and it is no result that has to be whole.
pub(super) const SORTED_BYTES: u64 = 16 * 1024 * 1024;
