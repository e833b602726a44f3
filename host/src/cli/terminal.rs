//! Where a person reads: standard output for data, standard error for everything else.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::signals::Interruption;
use crate::stream::Stream;

/// Why data was not printed.
#[derive(Debug, thiserror::Error)]
pub(super) enum PrintError {
    /// The system said no.
    #[error("cannot write to standard output")]
    Failed(#[source] io::Error),
    /// A signal asked this program to end, and nobody read.
    #[error("nobody reads standard output")]
    Left(#[source] Interruption),
}

/// Prints data, and a line break where it does not end in one.
///
/// # Errors
/// As [`hand_over`], but that nobody reads any more, as with `| head`, is no failure.
pub(super) fn print(data: &str) -> Result<(), PrintError> {
    match hand_over(data) {
        Err(PrintError::Failed(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints data that is nowhere else, and a line break where it does not end in one.
///
/// # Errors
/// Where it cannot be written, or is not before the program is to end.
pub(super) fn hand_over(data: &str) -> Result<(), PrintError> {
    let ending = if data.ends_with('\n') { "" } else { "\n" };
    match write(Target::Out, format!("{data}{ending}")) {
        Ok(written) => written.map_err(PrintError::Failed),
        Err(interruption) => Err(PrintError::Left(interruption)),
    }
}

/// Says something to the person. Where standard error cannot be written to there is nobody to be told; what was to be
/// done is done all the same.
pub(super) fn say(text: &str) {
    write_err(&format!("{}\n", text.trim_end_matches('\n')));
}

/// Reads a line that a person types, without its end; `None` where there are no more. Another thread does it, which is left
/// where it is when a signal came: nothing else would interrupt it.
///
/// # Errors
/// [`ReadError`].
pub(super) fn read_line() -> Result<Option<String>, ReadError> {
    let (sender, typed) = mpsc::channel();
    let reader = thread::Builder::new().spawn(move || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        // Fails where nobody waits any more.
        let _ = sender.send(read.map(|bytes| (bytes > 0).then_some(line)));
    });
    reader.map_err(ReadError::Failed)?;
    let read = received(&typed).map_err(ReadError::Left)?;
    // What was typed before a signal counts no more than what was not.
    if let Some(interruption) = Interruption::first() {
        return Err(ReadError::Left(interruption));
    }
    let line = read.map_err(ReadError::Failed)?;
    Ok(line.map(|line| line.trim_end_matches(['\n', '\r']).to_owned()))
}

/// Why a person typed nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    /// The system said no.
    #[error("cannot read what is typed")]
    Failed(#[source] io::Error),
    /// A signal asked this program to end.
    #[error("nothing more was typed")]
    Left(#[source] Interruption),
}

/// How long what a thread does may still take when a signal has come, at most, and at least where it came before: who reads
/// at all has read by then, and a person does not wait for the program's end.
const SIGNAL_LOOK: Duration = Duration::from_millis(100);

/// What a thread sends before it ends, unless a signal asks this program to end before that.
fn received<T>(sent: &Receiver<T>) -> Result<T, Interruption> {
    loop {
        match sent.recv_timeout(SIGNAL_LOOK) {
            Ok(sent) => return Ok(sent),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(interruption) = Interruption::first() {
                    return Err(interruption);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                unreachable!("a thread says what became of it before it ends")
            }
        }
    }
}

/// In one piece, so that others who write there come before or after it.
fn write_err(text: &str) {
    let _ = write(Target::Err, text.to_owned());
}

/// Where something is written.
#[derive(Clone, Copy)]
enum Target {
    Out,
    Err,
}

impl Target {
    fn write(self, text: &str) -> io::Result<()> {
        match self {
            Self::Out => Stream(io::stdout()).write_all(text.as_bytes()),
            Self::Err => Stream(io::stderr()).write_all(text.as_bytes()),
        }
    }
}

/// Writes all of it, and says what became of that. Another thread does it, which is left where it is when a signal came
/// and nobody reads: nothing else would end the program then, and it has no way to write without the danger to be held
/// up, as others have the same stream open.
fn write(target: Target, text: String) -> Result<io::Result<()>, Interruption> {
    let text = Arc::new(text);
    let (sender, written) = mpsc::channel();
    let theirs = Arc::clone(&text);
    let writer = thread::Builder::new().spawn(move || {
        // Fails where nobody waits any more.
        let _ = sender.send(target.write(&theirs));
    });
    match writer {
        Ok(_) => received(&written),
        // The system has no thread to give: better to be held up than to be silent.
        Err(_) => Ok(target.write(&text)),
    }
}

/// A line that says how far something is. On a terminal it is written anew in its place; elsewhere it is a line of its own
/// where it says something new, and only now and then.
#[derive(Debug)]
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
