//! Where among the arguments of a program its own end and a command begins that it runs.
//!
//! What is its own is read as the program reads it, by what [`super::programs`] knows of its options and operands. An
//! option that is not known may take the next word or not, so both are looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::command::{
    self, UNCLEAR_SHELL, UNKNOWN_NAME, Visitor, visit_line, visit_shell, visit_variables,
};
use super::limits::{READINGS, RUNNER_LEVELS};
use super::line::{self, Script};
use super::programs::{Begins, Form, Meaning, Runner, Said, is_one_of};
use super::variables::Variables;
use super::word::{Piece, Spread, UNKNOWN_TEXT, Word};

pub(super) const UNCLEAR_START: &str = "it is unclear where among some arguments a command begins";

/// Shows what a runner runs, and says whether there is anything.
pub(super) fn visit(
    runner: &Runner,
    arguments: &[Word],
    (depth, visitor): (u32, &mut impl Visitor),
) -> bool {
    let is_end = |word: &Word| runner.is_list && word.line() == ";";
    let mut is_any = false;
    for arguments in arguments.split(is_end) {
        if visitor.knows_enough() {
            return true;
        }
        let own = Own::read(runner, arguments);
        own.visit(depth, visitor);
        is_any |= own.is_run();
    }
    is_any
}

/// How far the arguments of a runner are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reading {
    /// The place of the next one.
    place: usize,
    /// How many operands of the runner's path were before it.
    operands: usize,
    /// Whether no more options come.
    is_ended: bool,
}

/// What the arguments of a runner that are its own say.
struct Own<'a> {
    runner: &'a Runner,
    arguments: &'a [Word],
    /// Where a command begins, each with the text that comes before what is there.
    starts: BTreeMap<usize, Option<String>>,
    /// The shell lines, by the places of their options.
    lines: BTreeMap<usize, String>,
    /// The variables that the command gets. One to which several readings come is there as often.
    assignments: Vec<Word>,
    /// What something else is put in the place of. Of several the last one counts.
    marker: Option<String>,
    asks_for_shell: bool,
    doubt: Option<&'static str>,
    /// What is still to be read.
    open: BTreeSet<Reading>,
}

impl<'a> Own<'a> {
    fn read(runner: &'a Runner, arguments: &'a [Word]) -> Self {
        let start = Reading {
            place: 0,
            operands: 0,
            is_ended: false,
        };
        let mut own = Self {
            runner,
            arguments,
            starts: BTreeMap::new(),
            lines: BTreeMap::new(),
            assignments: Vec::new(),
            marker: runner.marker.map(str::to_owned),
            asks_for_shell: runner.is_else_shell,
            doubt: None,
            open: BTreeSet::from([start]),
        };
        while let Some(reading) = own.open.pop_first() {
            if let Some(word) = arguments.get(reading.place) {
                own.argument(reading, word);
            }
        }
        own
    }

    fn argument(&mut self, reading: Reading, word: &Word) {
        let text = word.line();
        let behind = Reading {
            place: reading.place + 1,
            ..reading
        };
        if let Begins::Behind(words) = self.runner.begins
            && reading.operands >= self.runner.path.len()
            && words.contains(&&*text)
        {
            self.starts.insert(behind.place, None);
            self.open.insert(behind);
        } else if text == "--" && !reading.is_ended {
            self.open.insert(Reading {
                is_ended: true,
                ..behind
            });
        } else if text.starts_with('-') && !reading.is_ended {
            self.options(behind, word);
        } else if word.is_assignment() {
            if self.runner.begins == Begins::Next {
                self.assignments.push(word.clone());
            }
            self.open.insert(behind);
        } else {
            self.operand(reading, word);
        }
    }

    fn operand(&mut self, reading: Reading, word: &Word) {
        let is_behind = self.runner.begins != Begins::Next;
        let is_own = match self.runner.path.get(reading.operands) {
            None if is_behind => true,
            None => {
                self.starts.insert(reading.place, None);
                false
            }
            Some([]) => {
                doubt_unless_one(self.runner, &mut self.doubt, word);
                true
            }
            Some(words) => match word.text() {
                Some(text) => is_one_of(words, &text),
                None if word.spread() == Spread::Any => {
                    self.doubt = Some(UNKNOWN_NAME);
                    false
                }
                // It may be one of them.
                None => true,
            },
        };
        if is_own {
            self.open.insert(Reading {
                place: reading.place + 1,
                // Those beyond the path are alike: counted, each would be a reading of its own.
                operands: (reading.operands + 1).min(self.runner.path.len()),
                ..reading
            });
        }
    }

    /// Takes in the options that an argument is, and reads on behind their values.
    fn options(&mut self, mut behind: Reading, argument: &Word) {
        let text = argument.line();
        let options = self.runner.options.read(&text);
        let is_unknown = |said: &Said<'_>| said.meaning == Meaning::Unknown;
        for (place, said) in options.iter().enumerate() {
            match said.meaning {
                Meaning::Nothing => {
                    // It may be the value of one that is before it in its word.
                    if options[..place].iter().any(is_unknown) {
                        self.open.insert(behind);
                    }
                    // No shell is run either, unless another reading is open in which this is a value.
                    self.asks_for_shell &= !self.open.is_empty();
                    return;
                }
                Meaning::EndsOperandsByValue | Meaning::EndsOperands => {
                    behind.operands = self.runner.path.len();
                }
                _ => self.option(behind.place, *said),
            }
        }
        let Some(last) = options.last() else {
            self.open.insert(behind);
            return;
        };
        let taken = next_words(*last);
        if last.meaning != Meaning::Unknown {
            let values = self.arguments.iter().skip(behind.place).take(taken);
            values.for_each(|word| doubt_unless_one(self.runner, &mut self.doubt, word));
        }
        if options.iter().any(is_unknown) {
            self.open.insert(behind);
        }
        // What is split has the words behind it, and so has a command that only a `;` ends.
        let is_rest = last.meaning == Meaning::Command && self.runner.is_list;
        if last.meaning != Meaning::Split && !is_rest {
            let place = behind.place + taken;
            self.open.insert(Reading { place, ..behind });
        }
    }

    /// Takes in an option whose argument is before this place.
    fn option(&mut self, place: usize, Said { meaning, value }: Said<'_>) {
        // Made only where it is used: many options may be in one argument.
        let line = || {
            let next = || self.arguments.get(place).map(Word::line);
            value.map(str::to_owned).or_else(next)
        };
        match meaning {
            Meaning::Shell => self.asks_for_shell = true,
            Meaning::Line => self.lines.extend(line().map(|line| (place, line))),
            Meaning::Command => {
                self.starts.insert(place, value.map(str::to_owned));
            }
            Meaning::Split => {
                let Some(line) = line() else { return };
                // `\_` stands for a blank there.
                if line.contains('\\') {
                    self.doubt = Some(UNKNOWN_NAME);
                }
                let behind = place + usize::from(value.is_none());
                self.starts.insert(behind, Some(format!("env {line}")));
            }
            Meaning::Assignment => self
                .assignments
                .extend(line().map(|line| Word::of_line(&line))),
            Meaning::Marker => self.marker = line(),
            Meaning::Braces => self.marker = Some(value.unwrap_or("{}").to_owned()),
            Meaning::Flag
            | Meaning::Values(_)
            | Meaning::Nothing
            | Meaning::EndsOperands
            | Meaning::EndsOperandsByValue
            | Meaning::Unknown => {}
        }
    }

    /// Whether anything is run.
    fn is_run(&self) -> bool {
        !self.starts.is_empty() || !self.lines.is_empty()
    }

    /// Shows what is run.
    fn visit(&self, depth: u32, visitor: &mut impl Visitor) {
        if let Some(why) = self.why_unclear() {
            return visitor.doubt(why);
        }
        visit_variables(&Variables::of_words(&self.assignments), (depth, visitor));
        for line in self.lines.values() {
            let line = format!("{line} {}", self.runner.adds);
            visit_line(&line, depth, visitor);
        }
        // From the last one on, as each ends where the next one begins.
        let mut end = self.arguments.len();
        for (place, before) in self.starts.iter().rev() {
            if visitor.knows_enough() {
                return;
            }
            let mut words = Vec::new();
            if let Some(before) = before {
                let Script { commands, doubt } = line::read(before, depth);
                doubt.into_iter().for_each(|why| visitor.doubt(why));
                words = commands.concat();
            }
            let arguments = self.arguments.get(*place..end).unwrap_or_default();
            words.extend(arguments.iter().map(|word| self.filled(word)));
            // Behind `:::` that stands which would be read.
            if self.runner.reads && !arguments.iter().any(|word| word.line() == ":::") {
                words.push(Word::unknown());
            }
            visit_command(self.runner, &words, (depth + RUNNER_LEVELS, visitor));
            if self.runner.begins != Begins::Next {
                end = place.saturating_sub(1);
            }
        }
    }

    /// Why it cannot be told what is run; `None` where it can.
    fn why_unclear(&self) -> Option<&'static str> {
        let is_unknown = |marker: &String| marker.contains(UNKNOWN_TEXT);
        if self.runner.begins == Begins::Next && self.starts.len() > READINGS {
            return Some(UNCLEAR_START);
        }
        if self.marker.as_ref().is_some_and(is_unknown) {
            // Any word may be it.
            return Some(UNKNOWN_NAME);
        }
        let is_shell = self.asks_for_shell && !self.is_run();
        self.doubt.or(is_shell.then_some(UNCLEAR_SHELL))
    }

    /// A word of the command, in which what will be put in is not known.
    fn filled(&self, word: &Word) -> Word {
        let piece = if self.runner.is_list {
            Piece::Glob
        } else {
            Piece::Unknown
        };
        match self.marker.as_deref() {
            None | Some("") => word.clone(),
            Some(marker) => word.filled(marker, &piece),
        }
    }
}

/// How many words behind an argument belong to its last option, or may.
fn next_words(Said { meaning, value }: Said<'_>) -> usize {
    let values: usize = match meaning {
        Meaning::Values(values) => values,
        Meaning::Line
        | Meaning::Assignment
        | Meaning::Marker
        | Meaning::EndsOperandsByValue
        | Meaning::Unknown => 1,
        // With the value of some of these the command begins.
        Meaning::Command
        | Meaning::Split
        | Meaning::Flag
        | Meaning::EndsOperands
        | Meaning::Shell
        | Meaning::Nothing
        | Meaning::Braces => 0,
    };
    values.saturating_sub(usize::from(value.is_some()))
}

fn doubt_unless_one(runner: &Runner, doubt: &mut Option<&'static str>, word: &Word) {
    if word.spread() != Spread::One && !runner.takes_one {
        *doubt = Some(UNKNOWN_NAME);
    }
}

/// Shows what the words of a command run, with what has been added to them.
fn visit_command(runner: &Runner, words: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let texts = || words.iter().map(Word::line);
    match (runner.form, words) {
        (Form::Several, [_]) => {}
        (Form::Words, [word]) if is_line(&word.line()) => visit_line(&word.line(), depth, visitor),
        // A word that begins as an option is one of the shell that the runner gives it to, as in
        // `runuser bob -- -c LINE`.
        (Form::Words, [first, ..])
            if runner.is_else_shell && first.beginning().starts_with('-') =>
        {
            visit_shell(words, (depth, visitor));
        }
        (Form::Words | Form::Several, _) => command::visit(words, depth, visitor),
        (Form::Joined, [first, lines @ ..]) if first.beginning().starts_with(":::") => {
            for line in lines {
                visit_line(&line.line(), depth, visitor);
            }
        }
        (Form::Joined, _) => visit_line(&texts().collect::<Vec<_>>().join(" "), depth, visitor),
        (Form::Lines, _) => {
            for line in lines_of(runner, words) {
                visit_line(&line, depth, visitor);
            }
        }
        (Form::LinesOrSubcommands, _) => {
            for line in lines_of(runner, words) {
                visit_line(&line, depth, visitor);
                visit_subcommands(runner, &line, (depth, visitor));
            }
        }
        (Form::Typed, _) => {
            visit_typed(&texts().collect::<Vec<_>>().join(" "), (depth, visitor));
            texts().for_each(|text| visit_typed(&text, (depth, visitor)));
        }
        (Form::Subcommand, [word]) => visit_subcommands(runner, &word.line(), (depth, visitor)),
        (Form::Subcommand, _) => visit_subcommand(runner, words, (depth, visitor)),
        (Form::First, _) => texts()
            .take(1)
            .for_each(|line| visit_line(&line, depth, visitor)),
        (Form::Shell, _) => visit_shell(words, (depth, visitor)),
    }
}

/// Shows what a line of subcommands of a runner runs, which are written as commands of a shell.
fn visit_subcommands(runner: &Runner, line: &str, (depth, visitor): (u32, &mut impl Visitor)) {
    let Script { commands, doubt } = line::read(line, depth);
    doubt.into_iter().for_each(|why| visitor.doubt(why));
    for words in commands {
        visit_subcommand(runner, &words, (depth, visitor));
    }
}

fn visit_subcommand(runner: &Runner, words: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let program = Word::literal(runner.name());
    command::visit(&[&[program], words].concat(), depth, visitor);
}

/// Shows what may run that is typed: a line, or a part of one, so that a quote may be closed by what is typed later. It
/// may also be text for a program that is no shell.
fn visit_typed(text: &str, (depth, visitor): (u32, &mut impl Visitor)) {
    let Script { commands, doubt } = line::read(text, depth);
    let doubt = doubt.filter(|why| *why != line::OPEN_QUOTE);
    doubt.into_iter().for_each(|why| visitor.doubt(why));
    for words in commands {
        command::visit(&words, depth, visitor);
    }
}

/// The lines that words are, or that options among them have as their values: options may stand behind lines.
fn lines_of(runner: &Runner, words: &[Word]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.line();
        let last = match text.starts_with('-') {
            true => runner.options.read(&text).pop(),
            false => None,
        };
        match last {
            None => lines.push(text),
            Some(Said {
                meaning: Meaning::Line | Meaning::Unknown,
                value,
            }) => lines.extend(value.map(str::to_owned)),
            Some(said) => {
                let values = next_words(said);
                rest.by_ref().take(values).for_each(drop);
            }
        }
    }
    lines
}

/// Whether a text is more than a word to a shell.
fn is_line(text: &str) -> bool {
    text.trim()
        .contains(|it: char| it.is_whitespace() || ";&|()`<>".contains(it))
}
