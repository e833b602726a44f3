//! What programs and words of a shell do with their arguments, as far as these may be commands.
//!
//! Tables say it: `PROGRAMS` who does what, the others which options matter. Knows names and options; does not know how a
//! command is compared. A program that is not here runs nothing that is looked for, but for a line that it has a shell run.

mod options;

pub(super) use options::{
    announces_line, asks_for_shell, attached_line, hides, may_ask_for_shell, option_with_value,
    takes_next,
};

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
            "ash", "bash", "csh", "dash", "fish", "ksh", "ksh93", "lksh", "mksh", "pdksh", "posh",
            "rbash", "rksh", "rzsh", "sh", "tcsh", "yash", "zsh",
        ],
    ),
    (Kind::Source, &[".", "source"]),
    (
        Kind::Runner,
        &[
            "builtin",
            "bunx",
            "busybox",
            "caffeinate",
            "catchsegv",
            "choom",
            "chpst",
            "chronic",
            "command",
            "dbus-launch",
            "dbus-run-session",
            "doas",
            "dumb-init",
            "eatmydata",
            "entr",
            "env",
            "exec",
            "fakeroot",
            "faketime",
            "firejail",
            "i386",
            "ionice",
            "linux32",
            "linux64",
            "ltrace",
            "nice",
            "nocache",
            "nohup",
            "npx",
            "numactl",
            "pkexec",
            "prlimit",
            "proxychains",
            "rlwrap",
            "run0",
            "setpriv",
            "setsid",
            "ssh-agent",
            "sshpass",
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
            "ts",
            "uname26",
            "unbuffer",
            "unshare",
            "uvx",
            "valgrind",
            "watchexec",
            "x86_64",
            "xvfb-run",
        ],
    ),
    (
        Kind::OwnArgument,
        &[
            "arch-chroot",
            "backburner",
            "bundle",
            "bwrap",
            "chroot",
            "chrt",
            "conda",
            "coproc",
            "direnv",
            "fd",
            "fdfind",
            "find",
            "flock",
            "function",
            "gosu",
            "ip",
            "mamba",
            "micromamba",
            "mise",
            "newgrp",
            "nix",
            "nix-shell",
            "npm",
            "nsenter",
            "pdm",
            "perf",
            "pipenv",
            "pipx",
            "pnpm",
            "poetry",
            "runcon",
            "runuser",
            "sem",
            "setarch",
            "setuidgid",
            "sg",
            "softlimit",
            "ssh",
            "su",
            "su-exec",
            "taskset",
            "uv",
            "yarn",
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
            "nix-shell",
            "parallel",
            "runuser",
            "screen",
            "script",
            "sem",
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
            "arch-chroot",
            "chroot",
            "fakeroot",
            "firejail",
            "i386",
            "linux32",
            "linux64",
            "newgrp",
            "nsenter",
            "pkexec",
            "run0",
            "runuser",
            "script",
            "setarch",
            "sg",
            "ssh",
            "su",
            "uname26",
            "unshare",
            "x86_64",
        ],
    ),
    (
        Kind::ShellBehindOwn,
        &[
            "arch-chroot",
            "chroot",
            "newgrp",
            "runuser",
            "script",
            "setarch",
            "sg",
            "ssh",
            "su",
        ],
    ),
    (Kind::ShellBehindDashes, &["capsh"]),
];

/// Names of machines, too, which stand among the arguments of others more often than they run anything there.
const MACHINES: [&str; 2] = ["i386", "x86_64"];

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
    let is_it = name == "eval" || kinds.iter().any(|kind| is(name, *kind));
    (is_it || options::may_have_line(name)) && !MACHINES.contains(&name)
}

/// Whether its arguments may have a program of the shell itself run.
pub(super) fn is_word_before_builtins(name: &str) -> bool {
    ["builtin", "command", "coproc", "time"].contains(&name)
}

/// Whether a name is that of a variable whose value a shell runs.
pub(super) fn is_run_variable(name: &str) -> bool {
    RUN_VARIABLES.contains(&name)
}
