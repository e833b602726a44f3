//! Variables whose value is run, or has something run: by a shell, by git, or by what shows and edits texts; and
//! settings of ssh, which stand in a word as variables do.
//!
//! Tables say it, of names. Does not know where a variable is set, nor who looks at what is run.

use super::git;
use super::word::UNKNOWN_TEXT;

/// What becomes of the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is a shell line, to which these words are added.
    Line(&'static str),
    /// Something is run that is not looked for.
    Hidden,
}

/// Those whose value a shell or the loader of programs takes, or which say how several others are read.
const HIDING: [&str; 6] = [
    "BASH_ENV",
    "DYLD_INSERT_LIBRARIES",
    "GIT_CONFIG_PARAMETERS",
    "LD_AUDIT",
    "LD_PRELOAD",
    "PS4",
];

/// As those, by the beginnings of their names: functions of bash.
const HIDING_BEGINNINGS: [&str; 1] = ["BASH_FUNC_"];

/// Those whose value is a line that is run in the place of a program.
const LINES: [&str; 8] = [
    "BROWSER",
    "FCEDIT",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "LESSCLOSE",
    "LESSOPEN",
    "RSYNC_CONNECT_PROG",
    "VISUAL",
];

/// As those, by the ends of their names, since nearly each program has some of its own: alone, behind `_` or `MAN`.
const LINE_ENDS: [&str; 3] = ["ASKPASS", "EDITOR", "PAGER"];

/// How names begin that say whether there is something, or shall be.
const QUESTIONS: [&str; 6] = ["BUILD_", "ENABLE_", "HAS_", "HAVE_", "USE_", "WITH_"];

/// As those, which get a host and a command for it.
const SHELLS_ELSEWHERE: [&str; 5] = [
    "CVS_RSH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "RSYNC_RSH",
    "SVN_SSH",
];

/// Settings of ssh whose value is a line that is run here, in upper or lower case; `-o` gives them also to scp and
/// others. Beside a `RemoteCommand` no command is given, which counts for every rule as it is.
///
/// *Source:* ssh_config(5).
const SSH_SETTINGS: [&str; 3] = ["KnownHostsCommand", "LocalCommand", "ProxyCommand"];

/// What a remote shell is given: a host, and a command of its caller's.
pub(super) const HOST_AND_COMMAND: &str = "${_} true";

/// What has to be known of a variable with this name and value; `None` where its value is not run.
pub(super) fn fate(name: &str, value: &str) -> Option<Fate> {
    if value.is_empty() || value == "/dev/null" {
        None
    } else if is_hiding(name) {
        Some(Fate::Hidden)
    } else if name.starts_with("GIT_CONFIG_KEY_") {
        git::runs(value).then_some(Fate::Hidden)
    } else if SHELLS_ELSEWHERE.contains(&name) {
        Some(Fate::Line(HOST_AND_COMMAND))
    } else if LINES.contains(&name) || LINE_ENDS.iter().any(|end| ends_with_word(name, end)) {
        Some(Fate::Line(UNKNOWN_TEXT))
    } else {
        None
    }
}

fn ends_with_word(name: &str, end: &str) -> bool {
    let before = name.strip_suffix(end);
    let is_question = QUESTIONS.iter().any(|it| name.starts_with(it));
    !is_question && before.is_some_and(|it| it.is_empty() || it.ends_with('_') || it == "MAN")
}

/// Whether a word is a setting of ssh whose value is run, with an option before it or without; its value.
pub(super) fn ssh_line(word: &str) -> Option<&str> {
    let (name, value) = word.split_once('=')?;
    let of_option = name.strip_prefix('-').and_then(|it| it.split_once('o'));
    let name = of_option.map_or(name, |(_, name)| name).trim();
    let is_run = SSH_SETTINGS.iter().any(|it| it.eq_ignore_ascii_case(name));
    is_run.then_some(value)
}

/// What sets variables that its arguments name with a value.
const SETTERS: [&str; 8] = [
    "declare", "doas", "env", "export", "local", "readonly", "sudo", "typeset",
];

/// Whether a program sets variables that its arguments name with a value.
pub(super) fn sets_variables(program: &str) -> bool {
    SETTERS.contains(&program)
}

/// Whether something is run that is not looked for, whatever the value of the variable of this name.
pub(super) fn is_hiding(name: &str) -> bool {
    HIDING.contains(&name)
        || HIDING_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
}

/// Whether a word of the shell's own sets such a variable by its name, to a value that is not among its arguments.
pub(super) fn sets_hiding(program: &str, arguments: &[String]) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    match program {
        "for" | "getopts" | "mapfile" | "read" | "readarray" | "select" => words.any(is_hiding),
        "printf" => match words.next() {
            Some("-v") => words.next().is_some_and(is_hiding),
            first => first
                .and_then(|it| it.strip_prefix("-v"))
                .is_some_and(is_hiding),
        },
        // Another name for it.
        "declare" | "local" | "typeset" => words
            .filter_map(|word| word.split_once('='))
            .any(|(_, value)| is_hiding(value)),
        _ => false,
    }
}
