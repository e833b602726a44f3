//! Where a person reads: standard output for data, standard error for everything else.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::stream::Stream;

/// Standard output cannot be written to.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output: {0}")]
pub(super) struct Unwritable(pub(super) io::Error);

/// Prints data, and a line break where it does not end in one.
///
/// # Errors
/// Where it cannot be written, unless nobody reads any more, as with `| head`: that is no failure.
pub(super) fn print(data: &str) -> Result<(), Unwritable> {
    match hand_over(data) {
        Err(Unwritable(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// As [`print`], where it is a failure too that nobody reads.
///
/// # Errors
/// Where it cannot be written.
pub(super) fn hand_over(data: &str) -> Result<(), Unwritable> {
    let ending = if data.ends_with('\n') { "" } else { "\n" };
    let text = format!("{data}{ending}");
    let written = Stream(io::stdout()).write_all(text.as_bytes());
    written.map_err(Unwritable)
}

/// Says something to the person. Where standard error cannot be written to there is nobody to be told; what was to be
/// done is done all the same.
pub(super) fn say(text: &str) {
    write_err(&format!("{}\n", text.trim_end_matches('\n')));
}

/// In one piece, so that others who write there come before or after it.
fn write_err(text: &str) {
    let _ = Stream(io::stderr()).write_all(text.as_bytes());
}

/// A line that says how far something is. On a terminal it is written anew in its place; elsewhere each new state
/// of it is a line of its own, and only some are shown.
#[derive(Debug, Default)]
pub(super) struct Progress {
    shown: String,
    shown_at: Option<Instant>,
}

/// How long a line stays the last one where lines stay for ever: a log of a day's job is to be read.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

impl Progress {
    /// Shows a state; the same one again is not repeated.
    pub(super) fn show(&mut self, state: &str) {
        // It quotes output of the job, which may contain anything.
        let line: String = state
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if line == self.shown {
            return;
        }
        let width = width();
        let is_too_soon = self.shown_at.is_some_and(|at| at.elapsed() < LINE_INTERVAL);
        if width.is_none() && is_too_soon {
            return;
        }
        let text = match width {
            Some(width) => {
                let part: String = line.chars().take(width.saturating_sub(1)).collect();
                format!("\r{ERASE}{part}")
            }
            None => format!("{line}\n"),
        };
        write_err(&text);
        self.shown = line;
        self.shown_at = Some(Instant::now());
    }

    /// Takes the line away, where it stands on a terminal.
    pub(super) fn clear(&mut self) {
        if self.shown.is_empty() || width().is_none() {
            return;
        }
        self.shown.clear();
        write_err(&format!("\r{ERASE}"));
    }
}

/// Erases the line from the cursor on.
const ERASE: &str = "\x1b[K";

/// How many characters fit in a line of the terminal; `None` where standard error is none.
fn width() -> Option<usize> {
    const USUAL: usize = 80;
    let err = io::stderr();
    if !err.is_terminal() {
        return None;
    }
    // One that does not know its size says 0.
    let columns = rustix::termios::tcgetwinsize(err).map_or(0, |size| usize::from(size.ws_col));
    Some(if columns == 0 { USUAL } else { columns })
}
