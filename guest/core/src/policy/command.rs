//! What one simple command runs: itself, or through programs that run others.

use super::git;
use super::limits::DEPTH;
use super::line::{self, Script};
use super::programs::{self, hides};
use super::runner;
use super::shell::{Told, names_file, told};
use super::variables::{Fate, fate, sets_hiding};
use super::word::Word;

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
    let Some(start) = words.iter().position(|word| !is_before_command(word)) else {
        return;
    };
    let words = &words[start..];
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

/// Shows what a word has run in another place: by the value of a variable that is run, or by a substitution that a
/// shell makes of the text where it computes.
fn visit_within(word: &Word, (depth, visitor): (u32, &mut impl Visitor)) {
    let line = word.line();
    if line.contains("[$(") || line.contains("[`") {
        visitor.doubt(HIDDEN);
    }
    if let Some((name, value)) = line.split_once('=') {
        visit_variable(name.trim_end_matches('+'), value, depth, visitor);
    }
}

/// Shows what is run because a variable has this value.
pub(super) fn visit_variable(name: &str, value: &str, depth: u32, visitor: &mut impl Visitor) {
    match fate(name, value) {
        None => {}
        Some(Fate::Hidden) => visitor.doubt(HIDDEN),
        Some(Fate::Line(more)) => visit_line(&format!("{value} {more}"), depth + 1, visitor),
    }
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
