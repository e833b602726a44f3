//! What a shell is told to run by its arguments.

use super::word::{Spread, Word};

/// The long options of shells that are followed by a word of their own. One dash is enough for them.
const WITH_VALUE: [&str; 2] = ["init-file", "rcfile"];

/// Their other long options, which are no clusters of letters where they have one dash.
const LONG: [&str; 14] = [
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "restricted",
    "verbose",
    "version",
];

/// What a shell runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told<'a> {
    /// This line.
    Line(&'a Word),
    /// What is in the file of this name.
    Script(&'a Word),
    /// What it reads, or something in a way that is not looked at.
    Unclear,
}

/// What these arguments tell a shell to run.
pub(super) fn told(arguments: &[Word]) -> Told<'_> {
    let mut rest = arguments.iter();
    let mut is_line_next = false;
    while let Some(word) = rest.next() {
        let values = match shell_option(&word.beginning()) {
            Some(ShellOption::Unclear) => break,
            // What is not known of it may be another option.
            Some(_) if !word.is_known() => break,
            Some(ShellOption::Long { values }) => values,
            Some(ShellOption::Letters { values, is_line }) => {
                is_line_next |= is_line;
                values
            }
            None if is_line_next => return Told::Line(word),
            None => return Told::Script(word),
        };
        // One that may be several words may be a value and more options.
        if !rest
            .by_ref()
            .take(values)
            .all(|value| value.spread() == Spread::One)
        {
            break;
        }
    }
    Told::Unclear
}

/// Whether a word names a file, which is a program like any other: not what a command prints or what is read.
pub(super) fn names_file(word: &Word) -> bool {
    let beginning = word.beginning();
    let is_device = beginning.starts_with("/dev/") || beginning.starts_with("/proc/");
    word.file_name().is_some() && !is_device
}

/// What a word says to a shell that begins as its options do.
enum ShellOption {
    /// A long option, and how many words behind it are its own.
    Long { values: usize },
    /// One-letter options, how many words behind them are theirs, and whether a line to run follows.
    Letters { values: usize, is_line: bool },
    /// That it is told what to run in another way.
    Unclear,
}

/// What a word says to a shell; `None` where it is no option.
///
/// *Source:* POSIX.1-2024, sh, Options; Bash Reference Manual, Invoking Bash.
fn shell_option(text: &str) -> Option<ShellOption> {
    let letters = text.strip_prefix(['-', '+'])?;
    let name = letters.trim_start_matches('-');
    if text == "-" || name.starts_with("command") {
        return Some(ShellOption::Unclear);
    }
    if WITH_VALUE.contains(&name) {
        return Some(ShellOption::Long { values: 1 });
    }
    if letters.starts_with('-') || LONG.contains(&name) {
        return Some(ShellOption::Long { values: 0 });
    }
    let is_on = text.starts_with('-');
    if is_on && letters.contains('s') {
        return Some(ShellOption::Unclear);
    }
    Some(ShellOption::Letters {
        // Each takes the next word that is left, wherever it stands among the letters.
        values: letters.matches(['o', 'O']).count(),
        is_line: is_on && letters.contains('c'),
    })
}
