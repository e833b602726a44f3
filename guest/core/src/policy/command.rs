//! What one simple command runs: itself, or through programs that run others.

use super::git;
use super::limits::DEPTH;
use super::line::{self, Script};
use super::programs::{self, hides};
use super::runner;
use super::shell::{Told, names_file, told};
use super::variables::{Fate, Variables, sets_hiding};
use super::word::Word;

/// What may stand before a command without being one.
const RESERVED: [&str; 13] = [
    "!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac",
];

/// Words of the shell's own whose arguments are assignments.
pub(super) const SETTERS: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

/// Settings of ssh whose value is a line that is run here, in upper or lower case; `-o` gives them also to scp and
/// others. Beside a `RemoteCommand` no command is given, which counts for every rule as it is.
///
/// *Source:* ssh_config(5).
const SSH_SETTINGS: [&str; 3] = ["KnownHostsCommand", "LocalCommand", "ProxyCommand"];

/// The shell whose lines are not taken apart.
const OTHER_LANGUAGE: &str = "fish";

pub(super) const UNKNOWN_NAME: &str = "the name of a command is only known when it runs";

pub(super) const UNCLEAR_SHELL: &str = "a shell is told what to run in a way that is not looked at";

const READ: &str = "what it reads is run";

pub(super) const HIDDEN: &str = "it has something run later, or in the place of something else";

/// Who looks at what is run.
pub(super) trait Visitor {
    /// These words are a command.
    fn candidate(&mut self, words: &[Word]);

    /// It cannot be told what is run, for this reason.
    fn doubt(&mut self, why: &'static str);

    /// Whether nothing that is still to come changes anything.
    fn knows_enough(&self) -> bool;
}

/// Shows everything that a shell line may run, which is nested this deep in others.
pub(super) fn visit_line(line: &str, depth: u32, visitor: &mut impl Visitor) {
    if depth > DEPTH {
        return visitor.doubt(line::TOO_DEEP);
    }
    if visitor.knows_enough() {
        return;
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
    if depth > DEPTH {
        return visitor.doubt(line::TOO_DEEP);
    }
    if words.iter().any(is_computed) {
        visitor.doubt(HIDDEN);
    }
    let start = words.iter().position(|word| !is_before_command(word));
    let (before, words) = words.split_at(start.unwrap_or(words.len()));
    visit_variables(&Variables::of_words(before), (depth, visitor));
    if words.is_empty() {
        return;
    }
    let Some(name) = words[0].base_name() else {
        return visitor.doubt(UNKNOWN_NAME);
    };
    if name == "case" {
        return visitor.doubt(line::CASE);
    }
    visitor.candidate(words);
    if name == "git" {
        git::visit_without_options(words, visitor);
    }
    visit_arguments(&name, &words[1..], (depth + 1, visitor));
}

/// Shows what a program runs by its arguments.
fn visit_arguments(name: &str, arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let texts: Vec<String> = arguments.iter().map(Word::line).collect();
    if hides(name, &texts) || sets_hiding(name, &texts) {
        return visitor.doubt(HIDDEN);
    }
    if SETTERS.contains(&name) {
        visit_variables(&Variables::of_words(arguments), (depth, visitor));
    }
    visit_ssh_settings(arguments, (depth, visitor));
    if name == "git" {
        git::visit_settings(arguments, (depth, visitor));
    }
    if programs::is_shell(name) {
        return visit_named_shell(name, arguments, (depth, visitor));
    }
    // Behind it there are no options.
    let ended = usize::from(texts.first().is_some_and(|text| text == "--"));
    match name {
        "eval" => visit_line(&texts[ended..].join(" "), depth, visitor),
        "." | "source" => {
            // With an option, as bash 5.3 has one, it is looked for elsewhere.
            let is_file = |word: &Word| {
                names_file(word) && (ended == 1 || !word.beginning().starts_with('-'))
            };
            if !arguments.get(ended).is_none_or(is_file) {
                visitor.doubt(READ);
            }
        }
        _ => {
            let arguments: Vec<_> = match name {
                "git" => git::subcommands(arguments).collect(),
                _ => vec![arguments],
            };
            for arguments in arguments {
                let runners = programs::runners(name);
                let run: Vec<_> = runners
                    .map(|runner| runner::visit(runner, arguments, (depth, visitor)))
                    .collect();
                if !run.contains(&true) {
                    visit_told(arguments, (depth, visitor));
                }
            }
        }
    }
}

/// Shows the line that a shell among these arguments is given: whatever the program is, it has been given this to run.
fn visit_told(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    if let Some(place) = arguments.iter().position(is_shell)
        && let Some(name) = arguments[place].base_name()
        && let Told::Line(_) = told(&arguments[place + 1..])
    {
        visit_named_shell(&name, &arguments[place + 1..], (depth, visitor));
    }
}

/// Shows what the shell of this name is told to run by its arguments.
fn visit_named_shell(name: &str, arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let is_script = |word: &Word| !word.beginning().starts_with('-');
    // What its lines mean is not what they mean to the others: `and rm x`, `a=(rm x) ls`.
    if name == OTHER_LANGUAGE && !arguments.first().is_some_and(is_script) {
        return visitor.doubt(UNCLEAR_SHELL);
    }
    visit_shell(arguments, (depth, visitor));
}

/// Shows what a shell is told to run by its arguments.
pub(super) fn visit_shell(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    match told(arguments) {
        Told::Line(line) => visit_line(&line.line(), depth, visitor),
        // A script in a file is a program like any other.
        Told::Script(word) if names_file(word) => {}
        Told::Script(_) | Told::Unclear => visitor.doubt(UNCLEAR_SHELL),
    }
}

/// Shows what is run because these variables have their values.
pub(super) fn visit_variables(variables: &Variables, (depth, visitor): (u32, &mut impl Visitor)) {
    for (fate, value) in variables.fates() {
        if let Some(fate) = fate {
            visit_value(fate, value, (depth, visitor));
        }
    }
}

/// Shows what becomes of a value.
pub(super) fn visit_value(fate: Fate, value: &Word, (depth, visitor): (u32, &mut impl Visitor)) {
    let depth = depth + 1;
    match fate {
        Fate::Names => {}
        Fate::Hidden => visitor.doubt(HIDDEN),
        Fate::Alias => git::visit_alias(value, None, (depth, visitor)),
        Fate::Line(more) => {
            let line = format!("{} {more}", with_one_program(&value.line()));
            visit_line(&line, depth, visitor);
        }
        Fate::Program(more) => {
            let mut words = vec![value.clone()];
            words.extend(line::read(more, depth).commands.concat());
            visit(&words, depth, visitor);
        }
    }
}

/// A line that is the value of a variable, where the name of the program is one word also if its directory is not
/// known: `$HOME/bin/x`. What git and less want before some lines is left out.
fn with_one_program(line: &str) -> String {
    let line = line.trim_start_matches(['!', '|', '-', ' ']);
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (program, rest) = line.split_at(end);
    let is_plain = |it: char| it.is_alphanumeric() || "$_{}/.-+~".contains(it);
    match program.chars().all(is_plain) {
        true => format!("\"{program}\"{rest}"),
        false => line.to_owned(),
    }
}

/// Shows what settings of ssh behind an `-o` run here, whatever the program is that hands them on.
fn visit_ssh_settings(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let mut is_setting = false;
    for word in arguments {
        let text = word.line();
        let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
        let behind = letters.and_then(|it| it.split_once('o'));
        let setting = behind.map_or(&*text, |(_, behind)| behind).trim_start();
        let end = setting.find(['=', ' ', '\t']).unwrap_or(setting.len());
        let (name, value) = setting.split_at(end);
        let is_run = SSH_SETTINGS.iter().any(|it| it.eq_ignore_ascii_case(name));
        if is_run && (is_setting || behind.is_some()) {
            let value = value.trim_start();
            let value = value.strip_prefix('=').unwrap_or(value);
            visit_line(value, depth + 1, visitor);
        }
        is_setting = behind.is_some_and(|(_, behind)| behind.is_empty());
    }
}

/// Whether a word has a substitution that a shell makes of the text where it computes.
fn is_computed(word: &Word) -> bool {
    let line = word.line();
    line.contains("[$(") || line.contains("[`")
}

fn is_shell(word: &Word) -> bool {
    let name = word.base_name();
    name.is_some_and(|name| programs::is_shell(&name))
}

/// Whether a word stands before a command: an assignment, or a word of the shell's own.
fn is_before_command(word: &Word) -> bool {
    word.is_assignment() || word.text().is_some_and(|text| RESERVED.contains(&&*text))
}
