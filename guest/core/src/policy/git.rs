//! What git runs because of a setting: the value of some of its variables is a shell line.
//!
//! What it runs as an argument, such as that of `rebase --exec`, is among [`super::programs`].

use super::command::{HIDDEN, Visitor, visit_line};
use super::word::Word;

/// The variables whose value is run, in lower case; `*` stands for any part of a name.
///
/// *Source:* git-config(1).
const RUN: [&str; 44] = [
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

/// What stands before a setting in its own word.
const OPTIONS: [&str; 3] = ["--config-env=", "--config=", "-c"];

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
    let mut rest = arguments.iter().peekable();
    let mut before = String::new();
    while let Some(word) = rest.next() {
        let text = word.line();
        let option = OPTIONS.iter().find(|option| text.starts_with(**option));
        let setting = option.map_or(&*text, |option| &text[option.len()..]);
        match setting.split_once('=') {
            Some((name, value)) if runs(name) => {
                if option == Some(&"--config-env=") || before == "--config-env" {
                    visitor.doubt(HIDDEN);
                }
                visit_value(name, value, (depth, visitor));
            }
            None if runs(setting) => {
                if let Some(value) = rest.peek() {
                    visit_value(setting, &value.line(), (depth, visitor));
                }
            }
            // Which variable it is of is not known.
            None if ["-c", "--config-env"].contains(&&*before) && !word.is_known() => {
                visitor.doubt(HIDDEN);
            }
            Some(_) | None => {}
        }
        before = text;
    }
}

/// Shows what the value of such a variable runs: of an alias that may be another command of git's.
fn visit_value(name: &str, value: &str, (depth, visitor): (u32, &mut impl Visitor)) {
    let name = name.to_ascii_lowercase();
    if name == "protocol.ext.allow" && value != "never" {
        return visitor.doubt(HIDDEN);
    }
    match value.strip_prefix('!') {
        Some(line) => visit_line(line, depth, visitor),
        None if name.starts_with("alias.") => visit_line(&format!("git {value}"), depth, visitor),
        None => visit_line(value, depth, visitor),
    }
}
