//! What programs and words of a shell do with their arguments, as far as these may be commands.
//!
//! Tables say it, of names and options. Does not know how a command is compared. A program that is not here runs
//! nothing that is looked for, but for a line that it has a shell run.

mod options;
mod runners;

pub(super) use options::{Meaning, Said};
pub(super) use runners::{Begins, Form, Runner, is_one_of, runners};

/// Programs that run a line or a script that they are told, or what they read.
const SHELLS: [&str; 18] = [
    "ash", "bash", "csh", "dash", "fish", "ksh", "ksh93", "lksh", "mksh", "pdksh", "posh", "rbash",
    "rksh", "rzsh", "sh", "tcsh", "yash", "zsh",
];

/// What makes something run later, or makes words stand for others, in a way that is not followed: with one of these
/// letters as an option, or always where there are none.
const HIDING: [(&str, &[char]); 11] = [
    ("alias", &[]),
    ("at", &[]),
    ("batch", &[]),
    ("bind", &['x']),
    ("compgen", &['C', 'F']),
    ("complete", &['C', 'F']),
    ("enable", &['f']),
    ("hash", &['p']),
    ("mapfile", &['C']),
    ("readarray", &['C']),
    ("set", &['H']),
];

/// The name of an option of shells with which `!!` is an earlier line.
const HISTORY_IS_RUN: &str = "histexpand";

/// Whether the program of this name is a shell.
pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Whether these arguments of the program of this name hide what is run.
pub(super) fn hides(name: &str, arguments: &[String]) -> bool {
    let end = arguments.iter().position(|it| it == "--");
    let options = &arguments[..end.unwrap_or(arguments.len())];
    let has_one = |letters: &[char]| options.iter().any(|it| is_option(it, letters));
    // With `-l` it lists them.
    if name == "fc" && !has_one(&['l']) {
        return true;
    }
    let mut rows = HIDING.iter().filter(|(program, _)| *program == name);
    rows.any(|(_, letters)| letters.is_empty() || has_one(letters))
        || ((name == "set" || is_shell(name)) && sets_history(options))
}

/// Whether the words behind an `-o` name [`HISTORY_IS_RUN`].
fn sets_history(options: &[String]) -> bool {
    let is_set = |option: &str| option.starts_with('-') && option.ends_with('o');
    options
        .windows(2)
        .any(|pair| is_set(&pair[0]) && pair[1] == HISTORY_IS_RUN)
}

/// Whether one of these letters is among the options that an argument is.
fn is_option(argument: &str, letters: &[char]) -> bool {
    let options = argument.strip_prefix('-');
    options.is_some_and(|options| !options.starts_with('-') && options.contains(letters))
}
