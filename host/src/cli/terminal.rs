//! Where a person reads: standard output for data, standard error for everything else.

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use super::line::one_line;
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
/// done is done all the same. What others wrote may be in it, so nothing in it moves the cursor.
pub(super) fn say(text: &str) {
    write_err(&format!("{}\n", said(text)));
}

fn said(text: &str) -> String {
    let moves_cursor = |it: char| it.is_control() && it != '\n';
    text.trim_end_matches('\n').replace(moves_cursor, " ")
}

/// The words of somebody else, of which the first line goes on one of ours: the others are set in, so that none of them
/// can look like what this program says.
pub(super) fn set_in(text: &str) -> String {
    text.trim_end_matches('\n').replace('\n', "\n    ")
}

/// Reads a line that a person types, without its end; `None` where there are no more. Another thread does it, which is
/// left where it is when a signal came: nothing else would interrupt it.
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

/// Says something, and reads what a person types then, as [`read_line`] does, without showing it.
///
/// # Errors
/// [`ReadError`], and where standard input is no terminal.
pub(super) fn read_hidden_line(words: &str) -> Result<Option<String>, ReadError> {
    // Hidden first: whoever has read the words may type, and nothing of that is shown or thrown away.
    let hidden = Hidden::new().map_err(ReadError::Failed)?;
    say(words);
    let line = read_line();
    drop(hidden);
    // The end of the line was not shown either.
    write_err("\n");
    line
}

/// Standard input, which shows nothing that is typed as long as this lives.
struct Hidden(Termios);

impl Hidden {
    fn new() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut settings = before.clone();
        settings.local_modes -= LocalModes::ECHO;
        // No key stops this program or ends it at once: then the terminal would show nothing for ever, and a core dump
        // has what was typed. Ctrl-C is taken as a signal.
        for key in [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT] {
            settings.special_codes[key] = NO_KEY;
        }
        // What was typed before is not meant for this.
        tcsetattr(io::stdin(), OptionalActions::Flush, &settings)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// What no key types, `_POSIX_VDISABLE`.
const NO_KEY: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

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

/// How long what a thread does may still take when a signal has come, at most, and at least where it came before: who
/// reads at all has read by then, and a person does not wait for the program's end.
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

/// A line that says how far something is. On a terminal it is written anew in its place; elsewhere it is a line of its
/// own where it says something new, and only now and then.
#[derive(Debug)]
pub(super) struct Progress {
    telling: Telling,
    shown: String,
    shown_at: Option<Instant>,
    /// When the first line was written.
    begun_at: Option<Instant>,
}

/// Whether it is said how far something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// It is.
    Usual,
    /// It is not.
    Quiet,
}

/// How long a line stays the last one where lines stay for ever: as long as all before it, within these bounds. So what
/// takes seconds is followed, and the log of a day's job can be read.
const LINE_INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(10);

impl Progress {
    /// One of which nothing is shown yet.
    pub(super) fn new(telling: Telling) -> Self {
        Self {
            telling,
            shown: String::new(),
            shown_at: None,
            begun_at: None,
        }
    }

    /// Shows a state; the same one again is not repeated.
    pub(super) fn show(&mut self, state: &str) {
        if self.telling == Telling::Quiet {
            return;
        }
        let line = one_line(state);
        let Some(width) = width() else {
            if self.is_news(&line, Instant::now()) {
                write_err(&format!("{line}\n"));
            }
            return;
        };
        if line != self.shown {
            let part: String = line.chars().take(width.saturating_sub(1)).collect();
            write_err(&format!("\r{ERASE}{part}"));
            self.shown = line;
        }
    }

    /// Notes that a state was said in another way, so that it is no news.
    pub(super) fn said(&mut self, state: &str) {
        if width().is_none() {
            self.note(timeless(&one_line(state)), Instant::now());
        }
    }

    /// Whether a line is to be written where it stays for ever, and then notes that it is.
    fn is_news(&mut self, line: &str, now: Instant) -> bool {
        let since = |at| now.saturating_duration_since(at);
        let all_before = self.begun_at.map_or(Duration::ZERO, since) / 2;
        let interval = all_before.clamp(*LINE_INTERVALS.start(), *LINE_INTERVALS.end());
        let is_too_soon = |at| since(at) < interval;
        let state = timeless(line);
        let is_news = state != self.shown && !self.shown_at.is_some_and(is_too_soon);
        if is_news {
            self.note(state, now);
        }
        is_news
    }

    fn note(&mut self, state: String, now: Instant) {
        self.shown = state;
        self.shown_at = Some(now);
        self.begun_at.get_or_insert(now);
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

/// How the server begins to say for how long something has gone on, and what stands behind that.
const SINCE: [(&str, char); 2] = [("running for ", ';'), ("being stopped after ", '(')];

/// A state without the time that it has lasted, which is another one each time and no news.
fn timeless(state: &str) -> String {
    let found = SINCE
        .iter()
        .find_map(|(since, end)| Some((state.split_once(*since)?, end)));
    match found {
        Some(((before, after), end)) => {
            let rest = after.split_once(*end).map_or("", |(_, rest)| rest);
            format!("{before}{rest}")
        }
        None => state.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_set_in_and_moves_nothing() {
        let theirs = "Sure?\n\nopen this page: https://example.org/\n";
        let shown = "Sure?\n    \n    open this page: https://example.org/";
        assert_eq!(set_in(theirs), shown);
        assert_eq!(said("a\u{1b}[2J\rb\nc\n"), "a [2J b\nc");
    }

    #[test]
    fn the_time_that_a_state_has_lasted_is_no_news() {
        let mut progress = Progress::new(Telling::Usual);
        let start = Instant::now();
        let mut is_news = |line: &str, seconds| {
            let now = start + Duration::from_secs(seconds);
            progress.is_news(line, now)
        };
        assert!(is_news("l: running for 103 ms; no output yet", 0));
        assert!(!is_news("l: running for 1.1 s; no output yet", 1));
        assert!(!is_news("l: running for 1 min 40 s; no output yet", 100));
        assert!(is_news(
            "l: running for 1 min 50 s; last line: running for 1 s",
            110
        ));
        assert!(is_news(
            "waits for an answer: Sure?; running for 2 min",
            120
        ));
        assert!(!is_news(
            "waits for an answer: Sure?; running for 3 min",
            180
        ));
        assert!(is_news("being stopped after 3 min 1 s (cancelled)", 181));
        assert!(!is_news("being stopped after 3 min 20 s (cancelled)", 200));
    }

    #[test]
    fn what_is_news_too_soon_is_told_later() {
        let mut progress = Progress::new(Telling::Usual);
        let start = Instant::now();
        let mut is_news =
            |line: &str, ms| progress.is_news(line, start + Duration::from_millis(ms));
        assert!(is_news("running for 1 s; last line: 1", 0));
        assert!(!is_news("running for 1.9 s; last line: 2", 999));
        assert!(is_news("running for 2 s; last line: 2", 1_000));
        assert!(is_news("running for 3 s; last line: 3", 2_000));
        assert!(!is_news("running for 4.9 s; last line: 4", 3_900));
        assert!(is_news("running for 5 s; last line: 5", 4_000));
        assert!(is_news("running for 1 min 41 s; last line: 6", 100_000));
        assert!(!is_news("running for 1 min 50.9 s; last line: 7", 109_999));
        assert!(is_news("running for 1 min 51 s; last line: 7", 110_000));
        assert!(!is_news("running for 3 min; last line: 7", 180_000));
    }
}
