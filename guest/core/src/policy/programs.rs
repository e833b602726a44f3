//! What programs and words of a shell do with their arguments, as far as these may be commands.
//!
//! Two tables say it. Knows names and options; does not know how a command is compared. A program that is not here runs
//! nothing that is looked for, but for a line that it has a shell run.

/// What a program does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It runs a line or a script that it is told, or what it reads.
    Shell,
    /// It runs what is in a file, as a part of the same line.
    Source,
    /// Its later arguments are a command.
    Runner,
    /// As a runner, behind an argument of its own that is no option.
    OwnArgument,
    /// As a runner, which adds arguments from what it reads.
    Reader,
    /// As a runner, to which an argument may be a whole shell line.
    Line,
    /// As a runner, but by a shell that reads what to run where it is not told.
    ShellElse,
    /// As that, where one argument that is no option says only where or as whom.
    ShellBehindOwn,
    /// What is behind `--` are the arguments of a shell.
    ShellBehindDashes,
}

/// Who does what. A name may stand in several rows.
const PROGRAMS: [(Kind, &[&str]); 9] = [
    (
        Kind::Shell,
        &[
            "ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh",
        ],
    ),
    (Kind::Source, &[".", "source"]),
    (
        Kind::Runner,
        &[
            "builtin",
            "busybox",
            "catchsegv",
            "chpst",
            "choom",
            "command",
            "dbus-launch",
            "dbus-run-session",
            "doas",
            "dumb-init",
            "eatmydata",
            "env",
            "exec",
            "faketime",
            "fakeroot",
            "firejail",
            "i386",
            "ionice",
            "linux32",
            "linux64",
            "ltrace",
            "nice",
            "nocache",
            "nohup",
            "numactl",
            "pkexec",
            "prlimit",
            "proxychains",
            "rlwrap",
            "setpriv",
            "setsid",
            "ssh-agent",
            "start-stop-daemon",
            "stdbuf",
            "strace",
            "sudo",
            "systemd-cat",
            "systemd-inhibit",
            "systemd-run",
            "time",
            "timeout",
            "tini",
            "torsocks",
            "toybox",
            "unbuffer",
            "unshare",
            "valgrind",
            "x86_64",
            "xvfb-run",
        ],
    ),
    (
        Kind::OwnArgument,
        &[
            "backburner",
            "chroot",
            "chrt",
            "coproc",
            "find",
            "flock",
            "function",
            "gosu",
            "nsenter",
            "runcon",
            "runuser",
            "setarch",
            "setuidgid",
            "sg",
            "softlimit",
            "ssh",
            "su",
            "su-exec",
            "taskset",
        ],
    ),
    (Kind::Reader, &["parallel", "xargs"]),
    (
        Kind::Line,
        &[
            "backburner",
            "env",
            "flock",
            "hyperfine",
            "parallel",
            "runuser",
            "screen",
            "script",
            "sg",
            "ssh",
            "su",
            "tmux",
            "trap",
            "watch",
        ],
    ),
    (
        Kind::ShellElse,
        &[
            "chroot", "fakeroot", "firejail", "linux32", "linux64", "nsenter", "pkexec", "runuser",
            "setarch", "sg", "ssh", "su", "unshare",
        ],
    ),
    (
        Kind::ShellBehindOwn,
        &["chroot", "runuser", "sg", "ssh", "su"],
    ),
    (Kind::ShellBehindDashes, &["capsh"]),
];

/// The options that hold a shell line which may be a part of the same word: letters, and long names.
const LINE_OPTIONS: [(&str, &str, &[&str]); 7] = [
    ("env", "S", &["split-string"]),
    ("flock", "c", &["command"]),
    ("runuser", "c", &["command", "session-command"]),
    ("script", "c", &["command"]),
    ("sg", "c", &[]),
    ("start-stop-daemon", "ax", &["exec", "startas"]),
    ("su", "c", &["command", "session-command"]),
];

/// The options of runners that are followed by a value of their own, as far as it matters which words are a command:
/// letters, and long names. `xargs` has letters here, too, whose value is at most the rest of their word.
const VALUE_OPTIONS: [(&str, &str, &[&str]); 9] = [
    ("chroot", "", &["groups", "userspec"]),
    ("doas", "aCu", &[]),
    ("fakeroot", "bfils", &["faked", "fd-base", "lib"]),
    ("pkexec", "", &["user"]),
    ("runuser", "gGsw", SU_VALUES),
    ("ssh", "BbcDEeFIiJLlmOoPpQRSWw", &[]),
    ("su", "gGsw", SU_VALUES),
    ("sudo", "aCcDghpRrTtUu", SUDO_VALUES),
    ("xargs", "adEeIiLlnPs", XARGS_VALUES),
];

/// Those of `xargs` among them.
const REST_OF_WORD: &str = "eil";

const SU_VALUES: &[&str] = &["group", "shell", "supp-group", "whitelist-environment"];

const SUDO_VALUES: &[&str] = &[
    "auth-type",
    "chdir",
    "chroot",
    "close-from",
    "command-timeout",
    "group",
    "host",
    "login-class",
    "other-user",
    "prompt",
    "role",
    "type",
    "user",
];

const XARGS_VALUES: &[&str] = &[
    "arg-file",
    "delimiter",
    "max-args",
    "max-chars",
    "max-procs",
    "process-slot-var",
];

/// The options with which a runner runs a shell where it is given no command: letters, and long names.
const SHELL_OPTIONS: [(&str, &str, &[&str]); 2] =
    [("doas", "s", &[]), ("sudo", "is", &["login", "shell"])];

/// What makes something run later, or makes words stand for others, in a way that is not followed: with one of these
/// options, or always where there are none.
const HIDING: [(&str, &str); 10] = [
    ("alias", ""),
    ("at", ""),
    ("batch", ""),
    ("bind", "x"),
    ("compgen", "CF"),
    ("complete", "CF"),
    ("enable", "f"),
    ("hash", "p"),
    ("mapfile", "C"),
    ("readarray", "C"),
];

/// Variables whose value a shell runs.
const RUN_VARIABLES: [&str; 3] = ["BASH_ENV", "PROMPT_COMMAND", "PS4"];

/// Whether the program of this name does this.
pub(super) fn is(name: &str, kind: Kind) -> bool {
    let mut rows = PROGRAMS.iter().filter(|(row, _)| *row == kind);
    rows.any(|(_, names)| names.contains(&name))
}

/// Whether an argument of it may begin a command.
pub(super) fn is_runner(name: &str) -> bool {
    let rows = PROGRAMS.iter();
    let mut rows = rows.filter(|(kind, _)| !matches!(kind, Kind::Shell | Kind::Source));
    rows.any(|(_, names)| names.contains(&name))
}

/// Whether something of it has to be looked at by itself where it stands among the arguments of a runner.
pub(super) fn is_more_than_runner(name: &str) -> bool {
    let kinds = [
        Kind::Shell,
        Kind::Reader,
        Kind::Line,
        Kind::ShellElse,
        Kind::ShellBehindDashes,
    ];
    name == "eval"
        || kinds.iter().any(|kind| is(name, *kind))
        || has_line_options(name)
        || has_shell_options(name)
}

/// Whether its arguments may have a program of the shell itself run.
pub(super) fn is_word_before_builtins(name: &str) -> bool {
    ["builtin", "command", "coproc", "time"].contains(&name)
}

/// Whether a name is that of a variable whose value a shell runs.
pub(super) fn is_run_variable(name: &str) -> bool {
    RUN_VARIABLES.contains(&name)
}

/// Whether these arguments of it hide what is run.
pub(super) fn hides<'a>(name: &str, mut arguments: impl Iterator<Item = &'a str>) -> bool {
    let row = HIDING.iter().find(|(other, _)| *other == name);
    row.is_some_and(|(_, letters)| {
        letters.is_empty()
            || arguments.any(|word| option_letters(word).contains(is_one_of(letters)))
    })
}

/// The shell line that is a part of this argument, together with its option; `None` where there is none.
pub(super) fn attached_line<'a>(name: &str, argument: &'a str) -> Option<&'a str> {
    let (_, letters, names) = LINE_OPTIONS.iter().find(|(other, ..)| *other == name)?;
    if let Some(long) = argument.strip_prefix("--") {
        let (option, line) = long.split_once('=')?;
        // A name may be shortened.
        return names
            .iter()
            .any(|name| name.starts_with(option))
            .then_some(line);
    }
    let cluster = argument.strip_prefix('-')?;
    let (_, line) = cluster.split_once(is_one_of(letters))?;
    (!line.is_empty()).then_some(line)
}

/// Whether an argument is, or ends with, an option that is followed by a shell line.
pub(super) fn announces_line(name: &str, argument: &str) -> bool {
    let row = LINE_OPTIONS.iter().find(|(other, ..)| *other == name);
    row.is_some_and(|(_, letters, names)| match argument.strip_prefix("--") {
        Some(long) => {
            let option = long.split('=').next().unwrap_or_default();
            !option.is_empty() && names.iter().any(|name| name.starts_with(option))
        }
        None => option_letters(argument).contains(is_one_of(letters)),
    })
}

/// The first option in this argument that has a value, and what of that stands in the same word.
pub(super) fn option_with_value<'a>(name: &str, argument: &'a str) -> Option<(char, &'a str)> {
    let (_, letters, _) = VALUE_OPTIONS.iter().find(|(other, ..)| *other == name)?;
    let cluster = option_letters(argument);
    let place = cluster.find(is_one_of(letters))?;
    let letter = cluster[place..].chars().next()?;
    Some((letter, &cluster[place + letter.len_utf8()..]))
}

/// Whether an argument is, or ends with, an option whose value is the next word.
pub(super) fn takes_next(name: &str, argument: &str) -> bool {
    if let Some(long) = argument.strip_prefix("--") {
        let row = VALUE_OPTIONS.iter().find(|(other, ..)| *other == name);
        return row.is_some_and(|(.., names)| begins_one_of(names, long));
    }
    match option_with_value(name, argument) {
        Some((letter, "")) => name != "xargs" || !REST_OF_WORD.contains(letter),
        Some(_) | None => false,
    }
}

/// Whether with this argument it runs a shell where it is given no command.
pub(super) fn wants_shell(name: &str, argument: &str) -> bool {
    let row = SHELL_OPTIONS.iter().find(|(other, ..)| *other == name);
    row.is_some_and(|(_, letters, names)| match argument.strip_prefix("--") {
        Some(long) => begins_one_of(names, long),
        None => option_letters(argument).contains(is_one_of(letters)),
    })
}

/// Whether this is one of the names, or a short form of one.
fn begins_one_of(names: &[&str], short: &str) -> bool {
    !short.is_empty() && names.iter().any(|name| name.starts_with(short))
}

fn has_shell_options(name: &str) -> bool {
    SHELL_OPTIONS.iter().any(|(other, ..)| *other == name)
}

fn has_line_options(name: &str) -> bool {
    LINE_OPTIONS.iter().any(|(other, ..)| *other == name)
}

/// The letters of a word that is a cluster of options; none where it is no such.
fn option_letters(word: &str) -> &str {
    let letters = word.strip_prefix('-').unwrap_or_default();
    if letters.starts_with('-') {
        ""
    } else {
        letters
    }
}

fn is_one_of(letters: &str) -> impl Fn(char) -> bool {
    move |letter| letters.contains(letter)
}
