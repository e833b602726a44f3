//! What one simple command runs: itself, or through programs that run others.

use std::collections::BTreeMap;

use super::limits::{DEPTH, RUNNER_LEVELS};
use super::line::{self, Script};
use super::pattern::{Candidate, End, Place};
use super::programs::{
    Kind, announces_line, asks_for_shell, attached_line, hides, is, is_more_than_runner,
    is_run_variable, is_runner, is_word_before_builtins, may_ask_for_shell, option_with_value,
    takes_next,
};
use super::shell::{Told, names_file, told};
use super::word::{Piece, Spread, Word};

/// What may stand before a command without being one.
const RESERVED: [&str; 13] = [
    "!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac",
];

const UNKNOWN_NAME: &str = "the name of a command is only known when it runs";

const UNCLEAR_SHELL: &str = "a shell is told what to run in a way that is not looked at";

const READ: &str = "what it reads is run";

const HIDDEN: &str = "it has something run later, or in the place of something else";

/// Who looks at what is run.
pub(super) trait Visitor {
    /// These words may be, or end with, a command.
    fn candidate(&mut self, candidate: &Candidate<'_>);

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
    if words.iter().any(hides_command) {
        visitor.doubt(HIDDEN);
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
    visitor.candidate(&Candidate {
        words,
        place: Place::First,
        end: End::Known,
    });
    visit_arguments(&name, &words[1..], (depth + 1, visitor));
}

/// Shows what a program runs by its arguments.
fn visit_arguments(name: &str, arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let texts: Vec<String> = arguments.iter().map(Word::line).collect();
    if hides(name, texts.iter().map(String::as_str)) {
        visitor.doubt(HIDDEN);
    } else if is(name, Kind::Shell) {
        visit_shell(arguments, (depth, visitor));
    } else if is(name, Kind::Source) {
        if arguments.first().is_some_and(|word| !names_file(word)) {
            visitor.doubt(READ);
        }
    } else if name == "eval" {
        visit_line(&texts.join(" "), depth, visitor);
    } else if is_runner(name) {
        if !only_asks(name, arguments) {
            visit_runner(name, &filled(name, arguments), (depth, visitor));
        }
    } else if let Some(place) = arguments.iter().position(is_shell)
        && let Told::Line(line) = told(&arguments[place + 1..])
    {
        // Whatever the program is, it has been given this to run.
        visit_line(&line.line(), depth, visitor);
    }
}

/// Whether a word says what is run in another place: by the value of a variable that a shell runs, or by a substitution
/// that a shell makes of the text where it computes.
fn hides_command(word: &Word) -> bool {
    let line = word.line();
    let name = line
        .split_once('=')
        .map(|(name, _)| name.trim_end_matches('+'));
    name.is_some_and(is_run_variable) || line.contains("[$(") || line.contains("[`")
}

fn is_shell(word: &Word) -> bool {
    is_named(word, |name| is(name, Kind::Shell))
}

/// Whether nothing is run: `command -v` looks a command up, and of our own program only `run` runs any, which may stand
/// behind options.
fn only_asks(name: &str, arguments: &[Word]) -> bool {
    let first = arguments.first().map(Word::beginning).unwrap_or_default();
    let may_be_run = |word: &Word| word.text().is_none_or(|text| text == "run");
    match name {
        "command" => first.to_lowercase() == "-v",
        "backburner" => !arguments.iter().any(may_be_run),
        _ => false,
    }
}

/// Whether a word stands before a command: an assignment, or a word of the shell's own.
fn is_before_command(word: &Word) -> bool {
    is_assignment(word) || word.text().is_some_and(|text| RESERVED.contains(&&*text))
}

fn is_assignment(word: &Word) -> bool {
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

/// What a program puts something else in the place of.
struct Marker {
    /// The text; `None` where it is only known when it runs.
    text: Option<String>,
    /// Where that is named if in a word of its own.
    own: Option<usize>,
}

impl Marker {
    fn braces() -> Self {
        Self {
            text: Some("{}".to_owned()),
            own: None,
        }
    }
}

/// The arguments of a program, in which what it will put in is unknown.
fn filled(name: &str, arguments: &[Word]) -> Vec<Word> {
    let (marker, piece) = match name {
        "find" => (Some(Marker::braces()), Piece::Glob),
        "parallel" => (Some(Marker::braces()), Piece::Unknown),
        "xargs" => (marker(arguments), Piece::Unknown),
        _ => (None, Piece::Unknown),
    };
    let Some(marker) = marker.filter(|marker| marker.text.as_deref() != Some("")) else {
        return arguments.to_vec();
    };
    let filled = arguments.iter().enumerate().map(|(place, word)| {
        let is_own = marker.own == Some(place) && word.spread() == Spread::One;
        match &marker.text {
            // It belongs to the option before it.
            _ if is_own => Word::literal("-"),
            Some(text) => word.filled(text, &piece),
            // Any part of it may be the marker.
            None => Word::unknown(),
        }
    });
    filled.collect()
}

/// What `xargs` puts in the place of.
fn marker(arguments: &[Word]) -> Option<Marker> {
    let takes_word = |word: &Word| takes_next("xargs", &word.line());
    let is_own = |place: &usize| {
        let before = place.checked_sub(1).map(|before| &arguments[before]);
        arguments[*place].beginning().starts_with('-') || before.is_some_and(takes_word)
    };
    let own = (0..arguments.len()).take_while(is_own);
    let named = own.filter_map(|place| {
        let word = &arguments[place];
        let (text, own) = match replaced(&word.line())? {
            Replaced::Next => (arguments.get(place + 1)?.text(), Some(place + 1)),
            Replaced::This(_) if !word.is_known() => (None, None),
            Replaced::This(text) => (Some(text), None),
        };
        Some(Marker { text, own })
    });
    // Of several the last one counts.
    named.last()
}

/// What an option of `xargs` says that something is put in the place of.
enum Replaced {
    /// This.
    This(String),
    /// The next word.
    Next,
}

/// What this argument says of it; `None` where that is nothing.
fn replaced(argument: &str) -> Option<Replaced> {
    if let Some(long) = argument.strip_prefix("--") {
        let (name, marker) = long.split_once('=').unwrap_or((long, "{}"));
        let is_it = !name.is_empty() && "replace".starts_with(name);
        return is_it.then(|| Replaced::This(marker.to_owned()));
    }
    match option_with_value("xargs", argument)? {
        // The latter with as many words as there are.
        ('I' | 'J', "") => Some(Replaced::Next),
        ('i', "") => Some(Replaced::This("{}".to_owned())),
        ('I' | 'J' | 'i', marker) => Some(Replaced::This(marker.to_owned())),
        _ => None,
    }
}

/// Shows what a runner runs. Which of its arguments are its own is not looked for, so any may begin the command.
fn visit_runner(name: &str, arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    let place = nested(name, arguments);
    // First, as of what is nested too deeply nothing more has to be known.
    if let Some(place) = place {
        visit(&arguments[place..], depth + RUNNER_LEVELS, visitor);
    }
    if visitor.knows_enough() {
        return;
    }
    if let Some(why) = doubt(name, arguments) {
        visitor.doubt(why);
    }
    visitor.candidate(&Candidate {
        words: arguments,
        place: Place::Anywhere,
        end: if is(name, Kind::Reader) {
            End::Unknown
        } else {
            End::Known
        },
    });
    if is(name, Kind::ShellBehindDashes)
        && let Some(place) = arguments.iter().position(|word| word.line() == "--")
    {
        visit_shell(&arguments[place + 1..], (depth, visitor));
    }
    // Another one to which an argument may be a line looks at all behind it.
    let end = place.filter(|place| is_named(&arguments[*place], |name| is(name, Kind::Line)));
    for line in lines(name, &arguments[..end.unwrap_or(arguments.len())]) {
        visit_line(&line, depth, visitor);
    }
}

/// Where among the arguments of a runner something stands that has to be looked at by itself: the first one, as what is
/// behind that is behind all of them. A runner that is more than that by an option alone is one where it has that: its name
/// may be that of a group or a package.
fn nested(name: &str, arguments: &[Word]) -> Option<usize> {
    if is_word_before_builtins(name) {
        return arguments.iter().position(|word| !is_own(word));
    }
    // Looked for once, as a line may have nothing but such names.
    let mut last_asked: BTreeMap<String, Option<usize>> = BTreeMap::new();
    let mut is_asked_behind = |name: String, place: usize| {
        let is_it = |word: &Word| asks_for_shell(&name, &word.line());
        let last = || arguments.iter().rposition(is_it);
        let last = *last_asked.entry(name.clone()).or_insert_with(last);
        last.is_some_and(|last| last > place)
    };
    let mut words = arguments.iter().enumerate();
    let found = words.find(|(place, word)| match word.base_name() {
        Some(name) if is_more_than_runner(&name) => true,
        Some(name) if may_ask_for_shell(&name) => is_asked_behind(name, *place),
        Some(_) | None => false,
    });
    let found = found.map(|(place, _)| place);
    found
        .into_iter()
        .chain(runner_behind(name, arguments))
        .min()
}

/// Where a runner runs another one, as that is the first of its operands: there it is a program, and no other name.
fn runner_behind(name: &str, arguments: &[Word]) -> Option<usize> {
    let is_operand =
        |place: &usize| !is_own(&arguments[*place]) && !is_value(name, arguments, *place);
    let places = (0..arguments.len()).filter(is_operand);
    // One of its own may come first.
    let looked_at = if is(name, Kind::OwnArgument) { 2 } else { 1 };
    let mut first = places.take(looked_at);
    first.find(|place| is_named(&arguments[*place], is_runner))
}

/// The arguments of a runner that are neither options nor values of options.
struct Operands<'a> {
    /// Those that may be some: the value of an option among them that may be several words.
    possible: Vec<&'a Word>,
    /// How many of them surely are.
    certain: usize,
}

fn operands<'a>(name: &str, arguments: &'a [Word]) -> Operands<'a> {
    let mut operands = Operands {
        possible: Vec::new(),
        certain: 0,
    };
    for (place, word) in arguments.iter().enumerate() {
        if is_own(word) {
            continue;
        }
        let is_value = is_value(name, arguments, place);
        if !is_value || word.spread() != Spread::One {
            operands.possible.push(word);
        }
        operands.certain += usize::from(!is_value);
    }
    operands
}

/// Whether an argument is the value of the option before it.
fn is_value(name: &str, arguments: &[Word], place: usize) -> bool {
    let before = place.checked_sub(1).map(|before| arguments[before].line());
    before.is_some_and(|before| takes_next(name, &before))
}

/// Whether an argument of a runner is surely its own, by what it looks like.
fn is_own(word: &Word) -> bool {
    let beginning = word.beginning();
    is_assignment(word) || beginning.starts_with(|it: char| it == '-' || it.is_ascii_digit())
}

fn is_named(word: &Word, is_it: impl Fn(&str) -> bool) -> bool {
    word.base_name().is_some_and(|name| is_it(&name))
}

/// Why it cannot be told what a runner runs; `None` where it can.
fn doubt(name: &str, arguments: &[Word]) -> Option<&'static str> {
    let Operands { possible, certain } = operands(name, arguments);
    let takes_lines = is(name, Kind::Line);
    let is_unknown =
        |word: &&Word| word.text().is_none() && !(takes_lines && is_line(&word.line()));
    if !is(name, Kind::OwnArgument) && possible.first().is_some_and(is_unknown) {
        return Some(UNKNOWN_NAME);
    }
    let announces = |word: &Word| announces_line(name, &word.line());
    let is_told = certain > usize::from(says_where(name, arguments));
    let asks = |word: &Word| asks_for_shell(name, &word.line());
    let may_be_shell = is(name, Kind::ShellElse) || arguments.iter().any(asks);
    if may_be_shell && !is_told && !arguments.iter().any(announces) {
        return Some(UNCLEAR_SHELL);
    }
    let is_read = match possible.last() {
        None => name == "parallel",
        Some(last) => is(name, Kind::Reader) && is_named(last, is_runner),
    };
    // `\_` stands for a blank there.
    let is_escaped = |word: &Word| word.line().contains('\\');
    let is_split = name == "env" && arguments.iter().any(announces);
    if is_split && arguments.iter().any(is_escaped) {
        return Some(UNKNOWN_NAME);
    }
    is_read.then_some(READ)
}

/// Whether the first operand of a runner that may run a shell says only where or as whom it does. The name of a machine may
/// be left out, where options come first.
fn says_where(name: &str, arguments: &[Word]) -> bool {
    let is_left_out = || {
        let first = arguments.first();
        name == "setarch" && first.is_some_and(|first| first.beginning().starts_with('-'))
    };
    is(name, Kind::ShellBehindOwn) && !is_left_out()
}

/// The shell lines among the arguments of a runner.
fn lines(name: &str, arguments: &[Word]) -> Vec<String> {
    let texts = arguments.iter().map(Word::line);
    let lines = texts.filter_map(|text| match attached_line(name, &text) {
        Some(line) => Some(line.to_owned()),
        None => (is(name, Kind::Line) && is_line(&text)).then_some(text),
    });
    lines.collect()
}

/// Whether a text is more than a word to a shell.
fn is_line(text: &str) -> bool {
    text.trim()
        .contains(|it: char| it.is_whitespace() || ";&|()`<>".contains(it))
}

/// Shows what a shell is told to run by its arguments.
fn visit_shell(arguments: &[Word], (depth, visitor): (u32, &mut impl Visitor)) {
    match told(arguments) {
        Told::Line(line) => visit_line(&line.line(), depth, visitor),
        // A script in a file is a program like any other.
        Told::Script(word) if names_file(word) => {}
        Told::Script(_) | Told::Unclear => visitor.doubt(UNCLEAR_SHELL),
    }
}
