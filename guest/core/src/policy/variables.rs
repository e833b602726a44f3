//! Variables whose value is run, or has something run: by a shell, by git, or by what shows and edits texts.
//!
//! Tables say it, of names. Does not know where a variable is set, nor who looks at what is run.

use std::collections::BTreeMap;

use super::git;
use super::word::{UNKNOWN_TEXT, Word};

/// What becomes of the value of a variable, or of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is a shell line, to which these words are added.
    Line(&'static str),
    /// It is the name of a program, which is given these words.
    Program(&'static str),
    /// It is a subcommand of git, or behind a `!` a shell line.
    Alias,
    /// It says what becomes of the value of another one.
    Names,
    /// Something is run that is not looked for.
    Hidden,
}

/// Those whose value a shell or the loader of programs takes, or which say how several others are read. Of the prompts
/// of a shell only `PS4` is shown where nobody types.
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
const LINES: [&str; 7] = [
    "BROWSER",
    "FCEDIT",
    "GIT_EXTERNAL_DIFF",
    "LESSCLOSE",
    "LESSOPEN",
    "RSYNC_CONNECT_PROG",
    "VISUAL",
];

/// As those, by the ends of their names, since nearly each program has some of its own.
const LINE_ENDS: [&str; 2] = ["EDITOR", "PAGER"];

/// As those, of programs that are given a question.
const PROGRAM_ENDS: [&str; 1] = ["ASKPASS"];

/// What may stand before such an end without a `_` between them.
const BEFORE_ENDS: [&str; 4] = ["", "CVS", "HG", "MAN"];

/// With what a name begins that only says whether there is such a program, or whether it is built.
const SWITCHES: [&str; 6] = ["BUILD_", "ENABLE_", "HAS_", "HAVE_", "USE_", "WITH_"];

/// Those whose value is a line that gets a host and a command for it.
const SHELLS_ELSEWHERE: [&str; 4] = ["CVS_RSH", "GIT_SSH_COMMAND", "RSYNC_RSH", "SVN_SSH"];

/// As those, where the value is the name of a program.
const PROGRAMS_ELSEWHERE: [&str; 2] = ["GIT_PROXY_COMMAND", "GIT_SSH"];

/// What a remote shell is given: a host, and a command of its caller's.
pub(super) const HOST_AND_COMMAND: &str = "${_} true";

/// The beginnings of the names of variables that are settings of git, by the numbers that follow.
const GIT_KEY: &str = "GIT_CONFIG_KEY_";
const GIT_VALUE: &str = "GIT_CONFIG_VALUE_";

/// Variables that are set together.
#[derive(Debug, Default)]
pub(super) struct Variables {
    all: Vec<(String, Word)>,
}

impl Variables {
    /// Those of an environment.
    pub(super) fn of_environment(environment: &[(String, String)]) -> Self {
        let all = environment.iter();
        let all = all.map(|(name, value)| (name.clone(), Word::literal(value)));
        Self { all: all.collect() }
    }

    /// Those that are assigned by these words. The others assign nothing.
    pub(super) fn of_words(words: &[Word]) -> Self {
        let mut all = Vec::new();
        for word in words {
            if let Some((name, value)) = word.split_once('=').filter(|_| word.is_assignment()) {
                let name = name.line();
                all.push((name.trim_end_matches('+').to_owned(), value));
            }
        }
        Self { all }
    }

    /// What becomes of each; `None` where its value is not run.
    pub(super) fn fates(&self) -> Vec<(Option<Fate>, &Word)> {
        let mut by_name: BTreeMap<&str, &Word> = BTreeMap::new();
        for (name, value) in &self.all {
            if name.starts_with("GIT_CONFIG_") {
                by_name.insert(name, value);
            }
        }
        let fate = |name: &str, value| {
            let other = |beginning: &str, number: &str| {
                by_name.get(&*format!("{beginning}{number}")).copied()
            };
            if let Some(number) = name.strip_prefix(GIT_KEY) {
                of_git_key(value, other(GIT_VALUE, number))
            } else if let Some(number) = name.strip_prefix(GIT_VALUE) {
                other(GIT_KEY, number).and_then(|key| git::fate(key, value))
            } else {
                fate(name, value)
            }
        };
        let all = self.all.iter();
        all.map(|(name, value)| (fate(name, value), value))
            .collect()
    }
}

/// What becomes of a setting of git of this name, whose value is set as well, or somewhere else.
fn of_git_key(key: &Word, value: Option<&Word>) -> Option<Fate> {
    let fate = git::fate(key, value.unwrap_or(&Word::unknown()))?;
    let is_seen = value.is_some() && fate != Fate::Hidden;
    Some(if is_seen { Fate::Names } else { Fate::Hidden })
}

/// What becomes of a variable with this name and value; `None` where its value is not run.
fn fate(name: &str, value: &Word) -> Option<Fate> {
    if is_nothing(value) {
        None
    } else if is_hiding(name) {
        Some(Fate::Hidden)
    } else if SHELLS_ELSEWHERE.contains(&name) {
        Some(Fate::Line(HOST_AND_COMMAND))
    } else if PROGRAMS_ELSEWHERE.contains(&name) {
        Some(Fate::Program(HOST_AND_COMMAND))
    } else if LINES.contains(&name) || ends_with(name, &LINE_ENDS) {
        Some(Fate::Line(UNKNOWN_TEXT))
    } else if ends_with(name, &PROGRAM_ENDS) {
        Some(Fate::Program(UNKNOWN_TEXT))
    } else {
        None
    }
}

/// Whether the value of a variable of this name is run, or says what is.
pub(super) fn may_be_run(name: &str) -> bool {
    name.starts_with("GIT_CONFIG_") || fate(name, &Word::unknown()).is_some()
}

/// Whether nothing is run because of a value, whatever it is of.
pub(super) fn is_nothing(value: &Word) -> bool {
    value.is_empty() || value.text().is_some_and(|text| text == "/dev/null")
}

fn ends_with(name: &str, ends: &[&str]) -> bool {
    let is_switch = SWITCHES.iter().any(|switch| name.starts_with(switch));
    let mut before = ends.iter().filter_map(|end| name.strip_suffix(end));
    !is_switch && before.any(|before| before.ends_with('_') || BEFORE_ENDS.contains(&before))
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
        "getopts" | "mapfile" | "read" | "readarray" => words.any(is_hiding),
        "for" | "select" => words.next().is_some_and(is_hiding),
        "printf" => match words.next() {
            Some("-v") => words.next().is_some_and(is_hiding),
            first => first
                .and_then(|it| it.strip_prefix("-v"))
                .is_some_and(is_hiding),
        },
        // Another name for it.
        "declare" | "local" | "typeset" if words.clone().any(is_reference) => words
            .filter_map(|word| word.split_once('='))
            .any(|(_, value)| is_hiding(value)),
        _ => false,
    }
}

/// Whether an option makes variables names of others.
fn is_reference(argument: &str) -> bool {
    argument.starts_with('-') && argument.contains('n')
}
