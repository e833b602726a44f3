//! What one simple command runs: itself, or through programs that run others.

use super::limits::DEPTH;
use super::line::{self, Script};
use super::pattern::{Candidate, End, Place};
use super::word::Word;

/// What may stand before a command without being one.
const RESERVED: [&str; 13] = [
    "!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac",
];

/// Programs, and words of a shell, whose later arguments are a command.
const RUNNERS: [&str; 41] = [
    "backburner",
    "builtin",
    "busybox",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "doas",
    "env",
    "exec",
    "find",
    "flock",
    "function",
    "gosu",
    "ionice",
    "nice",
    "nohup",
    "nsenter",
    "numactl",
    "parallel",
    "pkexec",
    "runuser",
    "script",
    "setpriv",
    "setsid",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "su-exec",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "trap",
    "unshare",
    "watch",
    "xargs",
    "xvfb-run",
];

/// Those of them whose first argument that is no option is not the command yet.
const WITH_OWN_ARGUMENT: [&str; 14] = [
    "backburner",
    "chroot",
    "chrt",
    "coproc",
    "find",
    "flock",
    "function",
    "gosu",
    "nsenter",
    "runuser",
    "ssh",
    "su",
    "su-exec",
    "taskset",
];

/// Those of them that add arguments from what they read.
const READERS: [&str; 2] = ["parallel", "xargs"];

/// Those of them to which an argument may be a whole shell line.
const LINE_RUNNERS: [&str; 10] = [
    "backburner",
    "flock",
    "parallel",
    "runuser",
    "script",
    "ssh",
    "su",
    "trap",
    "watch",
    "env",
];

/// Shells, which run what they read where they are not told what to run.
const SHELLS: [&str; 9] = [
    "ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh",
];

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

const UNKNOWN_NAME: &str = "the name of a command is only known when it runs";

/// Who looks at what is run.
pub(super) trait Visitor {
    /// These words may be, or end with, a command.
    fn candidate(&mut self, candidate: &Candidate<'_>);

    /// It cannot be told what is run, for this reason.
    fn doubt(&mut self, why: &'static str);
}

/// Shows everything that a shell line may run, which is nested this deep in others.
pub(super) fn visit_line(line: &str, depth: u32, visitor: &mut impl Visitor) {
    if depth > DEPTH {
        return visitor.doubt(line::TOO_DEEP);
    }
    let Script { commands, doubt } = line::read(line, depth);
    if let Some(why) = doubt {
        visitor.doubt(why);
    }
    for words in commands {
        visit(&words, depth, visitor);
    }
}

/// Shows everything that these words may run as a command.
pub(super) fn visit(words: &[Word], depth: u32, visitor: &mut impl Visitor) {
    let Some(start) = words.iter().position(|word| !is_before_command(word)) else {
        return;
    };
    let words = &words[start..];
    let Some(name) = words[0].base_name() else {
        return visitor.doubt(UNKNOWN_NAME);
    };
    let name = name.as_str();
    if name == "case" {
        return visitor.doubt("what a `case` runs is not looked for");
    }
    visitor.candidate(&Candidate {
        words,
        place: Place::First,
        end: End::Known,
    });
    let (arguments, nested) = (&words[1..], (depth + 1, visitor));
    if SHELLS.contains(&name) {
        visit_shell(arguments, nested);
    } else if name == "eval" {
        let words: Vec<String> = arguments.iter().map(Word::line).collect();
        visit_line(&words.join(" "), depth + 1, nested.1);
    } else if RUNNERS.contains(&name) && !only_asks(name, arguments) {
        visit_runner(name, arguments, nested);
    }
}

/// Whether nothing is run: `command -v` looks a command up, and of our own program only `run` runs any, which may stand
/// behind options.
fn only_asks(name: &str, arguments: &[Word]) -> bool {
    let first = arguments.first().map(Word::beginning).unwrap_or_default();
    let may_be_run = |word: &Word| word.text().is_none_or(|text| text == "run");
    match name {
        "command" => first.to_lowercase() == "-v",
        "backburner" => !arguments.iter().any(may_be_run),
        _ => false,
    }
}

/// Whether a word stands before a command: an assignment, or a word of the shell's own.
fn is_before_command(word: &Word) -> bool {
    is_assignment(word) || word.text().is_some_and(|text| RESERVED.contains(&&*text))
}

fn is_assignment(word: &Word) -> bool {
    let beginning = word.beginning();
    let Some((name, _)) = beginning.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    !name.is_empty()
        && name.chars().all(is_name)
        && !name.starts_with(|it: char| it.is_ascii_digit())
}

/// Shows what a runner runs. Which of its arguments are its own is not looked for, so any may begin the command.
fn visit_runner(name: &str, arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let is_own = |word: &&Word| {
        let beginning = word.beginning();
        is_assignment(word) || beginning.starts_with(|it: char| it == '-' || it.is_ascii_digit())
    };
    let first = arguments.iter().find(|word| !is_own(word));
    let takes_lines = LINE_RUNNERS.contains(&name);
    let is_unknown = |word: &Word| word.text().is_none() && !(takes_lines && is_line(&word.line()));
    if first.is_some_and(is_unknown) && !WITH_OWN_ARGUMENT.contains(&name) {
        visitor.doubt(UNKNOWN_NAME);
    }
    visitor.candidate(&Candidate {
        words: arguments,
        place: Place::Anywhere,
        end: if READERS.contains(&name) {
            End::Unknown
        } else {
            End::Known
        },
    });
    if takes_lines {
        let lines = arguments
            .iter()
            .map(Word::line)
            .filter(|text| is_line(text));
        lines.for_each(|line| visit_line(&line, depth, visitor));
    }
    // A shell may be among what it runs. What is behind the first one is behind all of them.
    let is_shell = |word: &Word| {
        let name = word.base_name().unwrap_or_default();
        name == "eval" || SHELLS.contains(&name.as_str())
    };
    if let Some(place) = arguments.iter().position(is_shell) {
        visit(&arguments[place..], depth, visitor);
    }
}

/// Whether a text is more than a word to a shell.
fn is_line(text: &str) -> bool {
    text.trim()
        .contains(|it: char| it.is_whitespace() || ";&|()`<>".contains(it))
}

/// Shows what a shell is told to run by its arguments.
fn visit_shell(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let mut rest = arguments.iter();
    let mut is_line_next = false;
    while let Some(word) = rest.next() {
        match shell_option(&word.beginning()) {
            Some(ShellOption::Unclear) => break,
            Some(ShellOption::Long { values }) => rest.by_ref().take(values).for_each(drop),
            Some(ShellOption::Letters { values, is_line }) => {
                rest.by_ref().take(values).for_each(drop);
                is_line_next |= is_line;
            }
            // A script in a file is a program like any other.
            None if is_line_next => return visit_line(&word.line(), depth, visitor),
            None => return,
        }
    }
    visitor.doubt("a shell is told what to run in a way that is not looked at");
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
