//! What git runs because of a setting: the value of some of its variables is a shell line, or a program.
//!
//! What it runs as an argument, such as that of `rebase --exec`, is among [`super::programs`].

use super::command::{HIDDEN, Visitor, visit, visit_line, visit_value};
use super::line;
use super::pattern::may_have_form;
use super::runner::UNCLEAR_START;
use super::variables::{Fate, HOST_AND_COMMAND, is_nothing};
use super::word::{Piece, Spread, UNKNOWN_TEXT, Word};

/// The variables whose value is run as a line, in lower case; `*` stands for any part of a name.
///
/// *Source:* git-config(1).
const LINES: &[&str] = &[
    "browser.*.cmd",
    "core.alternaterefscommand",
    "core.editor",
    "core.fsmonitor",
    "core.pager",
    "credential.*helper",
    "diff.*.command",
    "diff.*.textconv",
    "diff.external",
    "difftool.*.cmd",
    "filter.*.clean",
    "filter.*.process",
    "filter.*.smudge",
    "gpg.ssh.defaultkeycommand",
    "guitool.*.cmd",
    "help.browser",
    "hook.*.command",
    "imap.tunnel",
    "interactive.difffilter",
    "man.*.cmd",
    "merge.*.driver",
    "mergetool.*.cmd",
    "pager.*",
    "remote.*.receivepack",
    "remote.*.uploadpack",
    "remote.*.vcs",
    "sendemail.*cmd",
    "sequence.editor",
    "submodule.*.update",
    "tar.*.command",
    "trailer.*.cmd",
    "trailer.*.command",
    "uploadpack.packobjectshook",
    "web.browser",
];

/// As those, whose value names a program.
const PROGRAMS: &[&str] = &[
    "browser.*.path",
    "core.askpass",
    "difftool.*.path",
    "gpg.*program",
    "man.*.path",
    "mergetool.*.path",
    "sendemail.smtpserver",
];

/// With this set, an address may be a command.
const ADDRESSES_ARE_RUN: &str = "protocol.ext.allow";

/// What becomes of the values of all that are run.
const FATES: [(&[&str], Fate); 6] = [
    (LINES, Fate::Line(UNKNOWN_TEXT)),
    (PROGRAMS, Fate::Program(UNKNOWN_TEXT)),
    (&["core.sshcommand"], Fate::Line(HOST_AND_COMMAND)),
    (&["core.gitproxy"], Fate::Program(HOST_AND_COMMAND)),
    (&["alias.*"], Fate::Alias),
    (&[ADDRESSES_ARE_RUN], Fate::Hidden),
];

/// The options before a subcommand that the next word belongs to, and those of `git config`.
const WITH_VALUE: [&str; 18] = [
    "-C",
    "-c",
    "-f",
    "-t",
    "--attr-source",
    "--blob",
    "--comment",
    "--config-env",
    "--default",
    "--file",
    "--git-dir",
    "--namespace",
    "--shallow-file",
    "--super-prefix",
    "--type",
    "--url",
    "--value",
    "--work-tree",
];

/// The options before a subcommand that stand for themselves. Of long ones a value may also be in the same word.
///
/// *Source:* git(1), and `handle_options` in git's `git.c`.
const FLAGS: [&str; 21] = [
    "-P",
    "-h",
    "-p",
    "-v",
    "--bare",
    "--exec-path",
    "--glob-pathspecs",
    "--help",
    "--html-path",
    "--icase-pathspecs",
    "--info-path",
    "--literal-pathspecs",
    "--man-path",
    "--no-advice",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-pager",
    "--no-replace-objects",
    "--noglob-pathspecs",
    "--paginate",
    "--version",
];

/// The options of `git config` that set nothing, by their beginnings.
const SETS_NOTHING: [&str; 5] = ["--get", "--list", "--remove", "--rename", "--unset"];

/// What becomes of the value of the variable of this name; `None` where it is not run.
pub(super) fn fate(name: &Word, value: &Word) -> Option<Fate> {
    let name = name.to_ascii_lowercase();
    let is = |word: &Word, text: &str| word.text().is_some_and(|it| it == text);
    if is_nothing(value) || (is(&name, ADDRESSES_ARE_RUN) && is(value, "never")) {
        return None;
    }
    let mut rows = FATES.iter();
    let row = rows.find(|(forms, _)| forms.iter().any(|form| may_have_form(form, &name)));
    row.map(|(_, fate)| match name.is_known() {
        true => *fate,
        false => Fate::Hidden,
    })
}

/// Shows what git runs because of the settings among these arguments, whether they hold for one command or for longer.
pub(super) fn visit_settings(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let Some((options, rest)) = split_options(arguments) else {
        return visitor.doubt(UNCLEAR_START);
    };
    let subcommand = rest.first().map(Word::line).unwrap_or_default();
    let behind = rest.get(1..).unwrap_or_default();
    let set = settings(options, &["-c"]);
    if has_several_aliases(&set) {
        // One may call another, with arguments of its own.
        visitor.doubt(HIDDEN);
    }
    // Of several git uses the last one.
    let called = set.iter().rposition(|it| is_alias(it, &subcommand));
    let is_sure = rest.first().is_none_or(Word::is_known) && are_one_each(options);
    for (place, setting) in set.iter().enumerate() {
        let more = if called == Some(place) { behind } else { &[] };
        visit_setting(setting, is_sure.then_some(more), (depth, visitor));
    }
    for setting in settings(options, &["--config-env"]) {
        // What its value is, another variable says.
        let (name, value) = setting
            .split_once('=')
            .unwrap_or((setting, Word::unknown()));
        if fate(&name, &value).is_some() {
            visitor.doubt(HIDDEN);
        }
    }
    match &*subcommand {
        "clone" => {
            for setting in settings(behind, &["-c", "--config"]) {
                visit_setting(&setting, None, (depth, visitor));
            }
        }
        "config" => {
            let operands: Vec<_> = operands(behind).iter().map(|it| &behind[*it]).collect();
            visit_config(behind, &operands, (depth, visitor));
        }
        "grep" => visit_grep(behind, (depth, visitor)),
        _ => {}
    }
}

/// Shows these words of git without the options before the subcommand.
pub(super) fn visit_without_options(words: &[Word], visitor: &mut impl Visitor) {
    let Some((options, rest)) = split_options(&words[1..]) else {
        return;
    };
    if options.is_empty() {
        return;
    }
    let program = &words[..1];
    if !are_one_each(options) {
        // A value without quotes may be several words, of which one is the subcommand.
        visitor.candidate(&[program, &[Word::unknown()], rest].concat());
    }
    for rest in subcommands(&words[1..]) {
        visitor.candidate(&[program, rest].concat());
    }
}

/// What may be the subcommand and its arguments: what is behind the options before it, or all where these are not
/// clear; where a value without quotes may be no word, so that the next one is the value, also what is behind that.
pub(super) fn subcommands(arguments: &[Word]) -> impl Iterator<Item = &[Word]> {
    let split = split_options(arguments);
    let (options, rest) = split.unwrap_or((&[], arguments));
    let shifted = rest.get(1..).filter(|_| !are_one_each(options));
    // An option that git does not know there is an error.
    let shifted = shifted.and_then(split_options).map(|(_, rest)| rest);
    [rest].into_iter().chain(shifted)
}

/// The options before a subcommand, and what is behind them; `None` where it is not known which word that is.
fn split_options(arguments: &[Word]) -> Option<(&[Word], &[Word])> {
    let mut place = 0;
    while let Some(word) = arguments.get(place) {
        let text = word.beginning();
        if !text.starts_with('-') {
            // It may be an option instead, where there are words that this one may leave to be the subcommand.
            let may_be_option = word.pieces().next() == Some(&Piece::Unknown);
            let is_last = word.spread() == Spread::One && place + 1 == arguments.len();
            if may_be_option && !is_last {
                return None;
            }
            break;
        }
        let is_whole = word.is_known();
        if is_whole && WITH_VALUE.contains(&&*text) {
            place += 2;
        } else if (is_whole && FLAGS.contains(&&*text))
            || (text.starts_with("--") && text.contains('='))
        {
            place += 1;
        } else {
            return None;
        }
    }
    Some(arguments.split_at(place.min(arguments.len())))
}

/// Whether each of these is one word whatever is in it.
fn are_one_each(words: &[Word]) -> bool {
    words.iter().all(|word| word.spread() == Spread::One)
}

/// The places of the operands: a subcommand, and its own.
fn operands(arguments: &[Word]) -> Vec<usize> {
    let mut operands = Vec::new();
    let mut place = 0;
    while let Some(word) = arguments.get(place) {
        let text = word.line();
        if !text.starts_with('-') {
            operands.push(place);
        }
        place += 1 + usize::from(WITH_VALUE.contains(&&*text));
    }
    operands
}

/// The values of these options: the next word, or what follows in the same one.
fn settings(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    let mut settings = Vec::new();
    for (place, word) in arguments.iter().enumerate() {
        for option in options {
            if word.text().as_deref() == Some(option) {
                settings.extend(arguments.get(place + 1).cloned());
            } else if let Some(value) = word.strip_prefix(option) {
                let is_long = option.starts_with("--");
                let value = if is_long {
                    value.strip_prefix("=")
                } else {
                    Some(value)
                };
                settings.extend(value);
            }
        }
    }
    settings
}

/// The name in lower case of the alias that a setting is of.
///
/// *Source:* git-config(1), `alias.*`.
fn alias(setting: &Word) -> Option<String> {
    let (name, _) = setting.split_once('=')?;
    let name = name.line().to_ascii_lowercase();
    let name = name.strip_prefix("alias.")?;
    Some(name.strip_suffix(".command").unwrap_or(name).to_owned())
}

/// Whether a setting is of the alias of this name.
fn is_alias(setting: &Word, name: &str) -> bool {
    alias(setting).is_some_and(|it| it.eq_ignore_ascii_case(name))
}

/// Whether settings are of aliases with different names.
fn has_several_aliases(settings: &[Word]) -> bool {
    let mut names = settings.iter().filter_map(alias);
    let first = names.next();
    names.any(|name| first.as_ref() != Some(&name))
}

/// Shows what is run because of a setting; of an alias as [`visit_alias`] does.
fn visit_setting(
    setting: &Word,
    more: Option<&[Word]>,
    (depth, visitor): (u32, &mut impl Visitor),
) {
    // Without a value it is a switch. One that is not known may have one.
    let split = setting.split_once('=');
    let (name, value) = match split {
        Some(split) => split,
        None if setting.is_known() => return,
        None => (setting.clone(), Word::unknown()),
    };
    match fate(&name, &value) {
        Some(Fate::Alias) => visit_alias(&value, more, (depth, visitor)),
        Some(fate) => visit_value(fate, &value, (depth, visitor)),
        None => {}
    }
}

/// Shows what `git config` has run later, with these operands among its arguments. Which setting it is of has to be
/// known in full.
fn visit_config(
    arguments: &[Word],
    operands: &[&Word],
    (depth, visitor): (u32, &mut impl Visitor),
) {
    let sets_nothing = |text: &str| SETS_NOTHING.iter().any(|it| text.starts_with(it));
    if arguments.iter().any(|word| sets_nothing(&word.line())) {
        return;
    }
    let is_set = operands.first().is_some_and(|it| it.line() == "set");
    if let [name, value, ..] = &operands[usize::from(is_set)..]
        && name.is_known()
        && let Some(fate) = fate(name, value)
    {
        visit_value(fate, value, (depth, visitor));
    }
}

/// Shows what `git grep` opens files with.
fn visit_grep(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    for option in ["-O", "--open-files-in-pager="] {
        for pager in arguments
            .iter()
            .filter_map(|word| word.strip_prefix(option))
        {
            if !pager.is_empty() {
                visit_value(Fate::Line(UNKNOWN_TEXT), &pager, (depth, visitor));
            }
        }
    }
}

/// Shows what an alias runs that is called with these arguments, or where `None` with some that are not seen: another
/// command of git's, or a line, to which git adds them.
pub(super) fn visit_alias(
    value: &Word,
    more: Option<&[Word]>,
    (depth, visitor): (u32, &mut impl Visitor),
) {
    let unknown = [Word::unknown()];
    let more = more.unwrap_or(&unknown);
    let text = value.line();
    if let Some(line) = text.strip_prefix('!') {
        let more: Vec<_> = more.iter().map(Word::quoted).collect();
        let more = more.join(" ");
        return visit_line(&format!("{line} {more}"), depth, visitor);
    }
    let script = line::read(&text, depth);
    script.doubt.into_iter().for_each(|why| visitor.doubt(why));
    let mut words = vec![Word::literal("git")];
    words.extend(script.commands.concat());
    words.extend_from_slice(more);
    visit(&words, depth, visitor);
}
