//! What git runs because of a setting: the value of some of its variables is a shell line.
//!
//! What it runs as an argument, such as that of `rebase --exec`, is among [`super::programs`].

use super::command::{HIDDEN, Visitor, visit_line, visit_program};
use super::variables::HOST_AND_COMMAND;
use super::word::{UNKNOWN_TEXT, Word};

/// The variables whose value is run, or has commands run, in lower case; `*` stands for any part of a name.
///
/// *Source:* git-config(1).
const RUN: [&str; 45] = [
    "alias.*",
    "browser.*.cmd",
    "browser.*.path",
    "core.alternaterefscommand",
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.pager",
    "core.sshcommand",
    "credential.*helper",
    "diff.*.command",
    "diff.*.textconv",
    "diff.external",
    "difftool.*.cmd",
    "difftool.*.path",
    "filter.*.clean",
    "filter.*.process",
    "filter.*.smudge",
    "gpg.*program",
    "gpg.ssh.defaultkeycommand",
    "guitool.*.cmd",
    "help.browser",
    "hook.*.command",
    "imap.tunnel",
    "interactive.difffilter",
    "man.*.cmd",
    "man.*.path",
    "merge.*.driver",
    "mergetool.*.cmd",
    "mergetool.*.path",
    "pager.*",
    "protocol.ext.allow",
    "remote.*.receivepack",
    "remote.*.uploadpack",
    "remote.*.vcs",
    "sendemail.*cmd",
    "sendemail.smtpserver",
    "sequence.editor",
    "submodule.*.update",
    "tar.*.command",
    "trailer.*.cmd",
    "trailer.*.command",
    "uploadpack.packobjectshook",
    "web.browser",
];

/// Options of git itself whose value is the next word.
const WITH_VALUE: [&str; 5] = [
    "-C",
    "--attr-source",
    "--git-dir",
    "--namespace",
    "--work-tree",
];

/// What allows addresses that are commands.
const ALLOWS_COMMANDS: &str = "protocol.ext.allow";

/// Whether git runs the value of the variable of this name.
pub(super) fn runs(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    RUN.iter().any(|pattern| match pattern.split_once('*') {
        None => name == *pattern,
        Some((before, after)) => name
            .strip_prefix(before)
            .is_some_and(|rest| rest.ends_with(after)),
    })
}

/// Shows what git runs because of the settings among these arguments, whether they hold for one command or for longer.
pub(super) fn visit_settings(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.line();
        match &*text {
            "-c" => visit_next(rest.next(), (depth, visitor)),
            "--config-env" => visit_named(rest.next(), visitor),
            "clone" => return visit_clone(rest.as_slice(), (depth, visitor)),
            "config" => return visit_config(rest.as_slice(), (depth, visitor)),
            option if WITH_VALUE.contains(&option) => drop(rest.next()),
            option if option.starts_with("--config-env=") => visit_named(Some(word), visitor),
            option if option.starts_with('-') => {}
            _ => return,
        }
    }
}

/// Looks at a setting whose value is that of a variable, which is not known.
fn visit_named(word: Option<&Word>, visitor: &mut impl Visitor) {
    let text = word.map(Word::line).unwrap_or_default();
    let setting = text.strip_prefix("--config-env=").unwrap_or(&text);
    let name = setting.split_once('=').map_or(setting, |(name, _)| name);
    if runs(name) || name.contains(UNKNOWN_TEXT) {
        visitor.doubt(HIDDEN);
    }
}

/// Looks at what has to be a setting.
fn visit_next(word: Option<&Word>, (depth, visitor): (u32, &mut impl Visitor)) {
    if let Some(word) = word {
        visit_setting(&word.line(), (depth, visitor));
    }
}

fn visit_setting(setting: &str, (depth, visitor): (u32, &mut impl Visitor)) {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    if name.contains(UNKNOWN_TEXT) {
        // Which variable it is of is not known.
        visitor.doubt(HIDDEN);
    } else if runs(name) {
        visit_value(name, value, (depth, visitor));
    }
}

/// The options of `git clone` that set something in the new repository.
fn visit_clone(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.line();
        if ["-c", "--config"].contains(&&*text) {
            visit_next(rest.next(), (depth, visitor));
        } else if let Some(setting) = ["--config=", "-c"]
            .iter()
            .find_map(|it| text.strip_prefix(it))
        {
            visit_setting(setting, (depth, visitor));
        }
    }
}

/// What `git config` sets: the operand behind the name.
fn visit_config(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let operands = arguments.iter().map(Word::line);
    let mut operands = operands.filter(|text| !text.starts_with('-'));
    if let Some(name) = operands.find(|text| runs(text))
        && let Some(value) = operands.next()
    {
        visit_value(&name, &value, (depth, visitor));
    }
}

/// Shows what the value of such a variable runs: of an alias that may be another command of git's.
fn visit_value(name: &str, value: &str, (depth, visitor): (u32, &mut impl Visitor)) {
    let name = name.to_ascii_lowercase();
    if name == ALLOWS_COMMANDS {
        if value != "never" {
            visitor.doubt(HIDDEN);
        }
        return;
    }
    match value.strip_prefix('!') {
        Some(line) => visit_line(line, depth, visitor),
        None if name.starts_with("alias.") => visit_line(&format!("git {value}"), depth, visitor),
        None if value.is_empty() => {}
        None if name == "core.sshcommand" => {
            visit_program(value, HOST_AND_COMMAND, (depth, visitor));
        }
        None => visit_program(value, UNKNOWN_TEXT, (depth, visitor)),
    }
}
