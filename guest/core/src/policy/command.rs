//! What one simple command runs: itself, or through programs that run others.

use super::git;
use super::limits::DEPTH;
use super::line::{self, Script};
use super::programs::{self, hides};
use super::runner;
use super::shell::{Told, names_file, told};
use super::variables::{Fate, fate, sets_hiding, sets_variables, ssh_line};
use super::word::{UNKNOWN_TEXT, Word};

/// What may stand before a command without being one.
const RESERVED: [&str; 13] = [
    "!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac",
];

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
    for word in words {
        visit_within(word, (depth, visitor));
    }
    let start = words.iter().position(|word| !is_before_command(word));
    let (before, words) = words.split_at(start.unwrap_or(words.len()));
    visit_assignments(before, (depth, visitor));
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
    visit_arguments(&name, &words[1..], (depth + 1, visitor));
}

/// Shows what a program runs by its arguments.
fn visit_arguments(name: &str, arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let texts: Vec<String> = arguments.iter().map(Word::line).collect();
    if hides(name, &texts) || sets_hiding(name, &texts) {
        return visitor.doubt(HIDDEN);
    }
    if sets_variables(name) {
        visit_assignments(arguments, (depth, visitor));
    }
    if name == "git" {
        git::visit_settings(arguments, (depth, visitor));
    }
    if programs::is_shell(name) {
        return visit_shell(arguments, (depth, visitor));
    }
    match name {
        "eval" => visit_line(&texts.join(" "), depth, visitor),
        "." | "source" => {
            if arguments.first().is_some_and(|word| !names_file(word)) {
                visitor.doubt(READ);
            }
        }
        _ => {
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

/// Shows the line that a shell among these arguments is given: whatever the program is, it has been given this to run.
fn visit_told(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    if let Some(place) = arguments.iter().position(is_shell)
        && let Told::Line(line) = told(&arguments[place + 1..])
    {
        visit_line(&line.line(), depth, visitor);
    }
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

/// Shows what a word has run in another place: by a setting of ssh, or by a substitution that a shell makes of the text
/// where it computes.
fn visit_within(word: &Word, (depth, visitor): (u32, &mut impl Visitor)) {
    let line = word.line();
    if line.contains("[$(") || line.contains("[`") {
        visitor.doubt(HIDDEN);
    }
    if let Some(line) = ssh_line(&line) {
        visit_line(line, depth + 1, visitor);
    }
}

/// Shows what is run because of the values that these words give to variables.
fn visit_assignments(words: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    // The names of functions that bash takes over are no names to a shell's syntax.
    let sets = |word: &&Word| is_assignment(word) || word.beginning().starts_with("BASH_FUNC_");
    for word in words.iter().filter(sets) {
        if let Some((name, value)) = word.line().split_once('=') {
            visit_variable(name.trim_end_matches('+'), value, depth, visitor);
        }
    }
}

/// Shows what is run because a variable has this value.
pub(super) fn visit_variable(name: &str, value: &str, depth: u32, visitor: &mut impl Visitor) {
    match fate(name, value) {
        None => {}
        Some(Fate::Hidden) => visitor.doubt(HIDDEN),
        Some(Fate::Line(more)) => visit_program(value, more, (depth + 1, visitor)),
    }
}

/// Shows what a line runs to which these words are added. A file in a directory that is not known is a program like any
/// other, though blanks in that name would make it several words.
pub(super) fn visit_program(line: &str, more: &str, (depth, visitor): (u32, &mut impl Visitor)) {
    let is_plain = |it: char| it.is_alphanumeric() || "/-_.".contains(it);
    let file = line.strip_prefix(UNKNOWN_TEXT);
    let is_file = file.is_some_and(|it| it.starts_with('/') && it.chars().all(is_plain));
    let line = if is_file {
        format!("\"{line}\" {more}")
    } else {
        // So `less` takes what opens a file: what is behind this is the line.
        format!("{} {more}", line.trim_start_matches(['|', '-']))
    };
    visit_line(&line, depth, visitor);
}

fn is_shell(word: &Word) -> bool {
    let name = word.base_name();
    name.is_some_and(|name| programs::is_shell(&name))
}

/// Whether a word stands before a command: an assignment, or a word of the shell's own.
fn is_before_command(word: &Word) -> bool {
    is_assignment(word) || word.text().is_some_and(|text| RESERVED.contains(&&*text))
}

pub(super) fn is_assignment(word: &Word) -> bool {
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
