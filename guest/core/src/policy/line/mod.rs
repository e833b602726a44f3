//! Taking a shell line apart into the simple commands that a shell may run for it.
//!
//! Knows quotes, separators, redirections, groups, substitutions and here-documents, as far as POSIX shells and bash
//! agree on them. Does not know what a variable has, which files there are, or what any command does. Where it is not
//! certain what a shell would do, it says so: see [`Script::doubt`].
//!
//! *Source:* POSIX.1-2024, Shell Command Language, Token Recognition, Quoting, and Word Expansions.

mod cursor;
mod data;
mod expansion;
mod heredoc;

use super::command::HIDDEN;
use super::limits::{DEPTH, RUNNER_LEVELS};
use super::variables::may_be_run;
use super::word::{Spread, Word};
use cursor::Cursor;
use data::{Data, Place};
pub(super) use expansion::OPEN_QUOTE;
use heredoc::Heredoc;

/// What is known of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// All simple commands in it, those in substitutions and groups included, in no particular order.
    pub(super) commands: Vec<Vec<Word>>,
    /// Why it cannot be told what a shell would do; `None` where it can.
    pub(super) doubt: Option<&'static str>,
}

/// Why nobody looks further.
pub(super) const TOO_DEEP: &str = "it is nested too deeply";

/// Why a line with a `case` is not taken apart.
pub(super) const CASE: &str = "what a `case` runs is not looked for";

/// That a list is none: bash then goes on in the next line.
const BROKEN_LIST: &str = "a list of words has something else in it";

/// That bash reads on behind a blank, in which it sees neither a separator nor a `#`.
const OPEN_SUBSCRIPT: &str = "a `[` is not closed in its word";

/// That bash takes the parenthesis for a part of a regular expression, in which nothing is a comment.
const COMMENT_IN_TEST: &str = "a `#` stands in a parenthesis that may be of a test";

/// Takes a line apart that is nested this deep in others.
pub(super) fn read(line: &str, depth: u32) -> Script {
    let mut lexer = Lexer::new(line, depth);
    lexer.list(Until::TextEnds);
    lexer.read_heredocs();
    lexer.script
}

/// What ends a list of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    TextEnds,
    Parenthesis,
    /// The parenthesis of a list of words.
    ListEnds,
}

/// Whether a word may fall apart into several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    Inside,
    Outside,
}

/// What the next word is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Next {
    /// One of the command's.
    #[default]
    Argument,
    /// A file that is read or written, or the text of a here-string.
    Target,
    /// What ends a here-document.
    Delimiter,
    /// As that, where the lines may be indented by tabs.
    IndentedDelimiter,
}

/// A simple command of which more may follow.
#[derive(Debug, Default)]
struct Command {
    words: Vec<Word>,
    word: Option<Word>,
    next: Next,
    /// Whether a part of the word was quoted, which matters for what ends a here-document.
    is_quoted: bool,
    /// How many brackets are open in the word of which the first one began the subscript of a variable.
    subscripts: usize,
    place: Place,
    data: Data,
}

struct Lexer {
    rest: Cursor,
    depth: u32,
    script: Script,
    heredocs: Vec<Heredoc>,
    has_test: bool,
}

impl Lexer {
    fn new(text: &str, depth: u32) -> Self {
        Self {
            rest: Cursor::new(text),
            depth,
            script: Script::default(),
            heredocs: Vec::new(),
            has_test: false,
        }
    }

    /// Keeps the first reason; one about a here-document, which may turn out to be none, gives way to any other.
    fn doubt(&mut self, why: &'static str) {
        let doubt = &mut self.script.doubt;
        if doubt.is_none_or(|known| heredoc::REASONS.contains(&known)) {
            *doubt = Some(why);
        }
    }

    /// Reads commands up to the end.
    fn list(&mut self, until: Until) {
        let mut command = Command::within(match until {
            Until::ListEnds => Data::List,
            Until::TextEnds | Until::Parenthesis => Data::No,
        });
        while let Some(character) = self.rest.next() {
            match character {
                ')' if until != Until::TextEnds => {
                    self.finish(&mut command);
                    return;
                }
                ')' => {
                    self.finish(&mut command);
                    self.unopened();
                }
                '(' => self.parenthesis(&mut command),
                '\n' => {
                    self.line_feed(&mut command);
                    self.read_heredocs();
                }
                '&' if self.rest.peek() == Some('>') => {
                    self.end_word(&mut command);
                    // To a shell without it this is a `&`, and what is behind it no part of a test.
                    command.data = Data::No;
                    if until == Until::ListEnds {
                        self.doubt(BROKEN_LIST);
                    }
                    self.rest.next();
                    self.redirection('>', &mut command);
                }
                '&' | '|' => self.separator(character, &mut command),
                ';' => {
                    self.finish(&mut command);
                }
                ' ' | '\t' => self.end_word(&mut command),
                '<' | '>' => {
                    if until == Until::ListEnds && self.rest.peek() != Some('(') {
                        self.doubt(BROKEN_LIST);
                    }
                    self.redirection(character, &mut command);
                }
                '#' if command.word.is_none() => {
                    if until == Until::Parenthesis && self.has_test {
                        self.doubt(COMMENT_IN_TEST);
                    }
                    self.comment();
                }
                _ => self.part(character, &mut command),
            }
        }
        self.finish(&mut command);
        if until != Until::TextEnds {
            self.doubt("a `(` is not closed");
        }
    }

    /// Says why a `)` cannot be understood to which there is no `(`: it may stand behind a pattern.
    fn unopened(&mut self) {
        let is = |words: &[Word], name: &str| {
            words
                .iter()
                .any(|word| word.text().as_deref() == Some(name))
        };
        let mut commands = self.script.commands.iter();
        let is_pattern =
            self.script.doubt.is_none() && commands.any(|it| is(it, "case") && is(it, "in"));
        self.doubt(if is_pattern { CASE } else { "a `)` has no `(`" });
    }

    /// Reads a group whose parenthesis is open, or with a second one arithmetic. A shell that does not know the latter
    /// takes it for groups: the commands that would be in them count like those that are expanded.
    fn group(&mut self) {
        let Some(text) = self.rest.arithmetic() else {
            return self.nested();
        };
        self.deeper(|lexer| {
            let Script { commands, doubt } = read(&text, lexer.depth);
            // What shifts names no here-document.
            let doubt = doubt.filter(|why| !heredoc::REASONS.contains(why));
            lexer.take_in(Script { commands, doubt });
        });
        // Within `(( ))` bash makes a substitution also where it stands in quotes or behind `#`. A shell without
        // arithmetic would not, and `read` above is that shell. It counts as several levels, as everything in it is
        // then read twice.
        if text.contains(['\'', '#', '\\']) || text.contains("<<") {
            self.depth += RUNNER_LEVELS;
            self.expanded(&text);
            self.depth -= RUNNER_LEVELS;
        }
    }

    /// Reads a group or a substitution, whose parenthesis is open.
    fn nested(&mut self) {
        self.deeper(|lexer| lexer.list(Until::Parenthesis));
    }

    /// Reads what is nested in what is read, if that is not too deep.
    fn deeper<T: Default>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEPTH {
            self.doubt(TOO_DEEP);
            // Nothing more can be said: what is nested cannot be told from what is not.
            self.rest = Cursor::default();
            return T::default();
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Ends a command with one or two of `&` or `|`.
    fn separator(&mut self, character: char, command: &mut Command) {
        let data = self.finish(command);
        let is_double = self.rest.next_if(|next| next == character).is_some();
        match (is_double, character) {
            (true, '&') if data == Data::Test => *command = Command::within(data),
            (_, '|') => {
                // `|&` is a `|`.
                self.rest.next_if(|next| next == '&');
                command.place = Place::Behind;
            }
            _ => {}
        }
    }

    /// Ends a command at the end of a line, unless it is still to come.
    fn line_feed(&mut self, command: &mut Command) {
        self.end_word(command);
        let place = command.place;
        let data = self.finish(command);
        if data == Data::List {
            *command = Command::within(data);
        } else if place == Place::Behind {
            command.place = place;
        }
    }

    /// Reads what is in a parenthesis that is open, behind what has been read of a command.
    fn parenthesis(&mut self, command: &mut Command) {
        let place = command.place;
        let list = command.list().filter(|_| self.rest.peek() != Some('('));
        self.finish(command);
        match list {
            Some(name) => {
                if may_be_run(&name) {
                    self.doubt(HIDDEN);
                }
                self.deeper(|lexer| lexer.list(Until::ListEnds));
                // To bash what stands close behind it is a part of the value, and the next word is the command.
                let next = self.rest.peek();
                if next.is_some_and(|next| !" \t\n;&|)<>".contains(next)) {
                    self.doubt(BROKEN_LIST);
                }
                command.place = place.behind_list();
            }
            None => {
                self.group();
                command.place = Place::Other;
            }
        }
    }

    /// Ends a command, and says of what its words were a part.
    fn finish(&mut self, command: &mut Command) -> Data {
        self.end_word(command);
        let Command { words, data, .. } = std::mem::take(command);
        if !words.is_empty() {
            self.script.commands.push(words);
        }
        data
    }

    fn end_word(&mut self, command: &mut Command) {
        let Some(word) = command.word.take() else {
            return;
        };
        if std::mem::take(&mut command.subscripts) > 0 {
            self.doubt(OPEN_SUBSCRIPT);
        }
        self.has_test |= word.text().as_deref() == Some("[[");
        let is_quoted = std::mem::take(&mut command.is_quoted);
        let next = std::mem::take(&mut command.next);
        if next != Next::Argument {
            command.place = Place::Other;
        }
        command.look_at(&word, is_quoted);
        match next {
            Next::Argument => command.argument(word),
            Next::Target => {}
            kind @ (Next::Delimiter | Next::IndentedDelimiter) => match word.text() {
                Some(end) => self.heredocs.push(Heredoc {
                    end,
                    is_indented: kind == Next::IndentedDelimiter,
                    is_literal: is_quoted,
                }),
                None => self.doubt(heredoc::UNKNOWN_END),
            },
        }
    }

    fn comment(&mut self) {
        while self.rest.next_if(|next| next != '\n').is_some() {}
    }

    /// Reads what follows a `<` or `>`.
    fn redirection(&mut self, direction: char, command: &mut Command) {
        if self.rest.next_if(|next| next == '(').is_some() {
            // The name of a file whose other end is a command.
            let word = command.word.get_or_insert_default();
            word.push_unknown(Spread::One);
            return self.nested();
        }
        let word = command.word.as_ref().filter(|_| !command.is_quoted);
        let descriptor = word.and_then(Word::text);
        match descriptor {
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => command.word = None,
            Some(text) if text.starts_with('{') => self.doubt("a descriptor has a name"),
            Some(_) | None => self.end_word(command),
        }
        command.next = self.operator(direction);
    }

    /// Reads the rest of a redirection's operator, and says what follows it.
    fn operator(&mut self, direction: char) -> Next {
        if direction == '<' && self.rest.next_if(|next| next == '<').is_some() {
            if self.rest.next_if(|next| next == '<').is_some() {
                return Next::Target;
            }
            return match self.rest.next_if(|next| next == '-') {
                Some(_) => Next::IndentedDelimiter,
                None => Next::Delimiter,
            };
        }
        self.rest
            .next_if(|next| matches!(next, '>' | '<' | '&' | '|'));
        Next::Target
    }

    /// Reads a part of a word that begins with this character.
    fn part(&mut self, character: char, command: &mut Command) {
        command.count_bracket(character);
        let word = command.word.get_or_insert_default();
        match character {
            '\'' => {
                command.is_quoted = true;
                self.single_quoted(word);
            }
            '"' => {
                command.is_quoted = true;
                self.double_quoted(word);
            }
            '\\' => {
                // One before the end of a line quotes nothing.
                command.is_quoted |= self.rest.peek() != Some('\n');
                self.escaped(word);
            }
            '$' => self.dollar(word, Quotes::Outside),
            '`' => self.backquoted(word, Quotes::Outside),
            '*' | '?' => word.push_glob(),
            '[' => self.bracket(word),
            '{' => self.brace(word),
            other => word.push(other),
        }
        // A line that goes on in the next one adds nothing to a word, and is none by itself.
        let is_nothing = command.word.as_ref().is_some_and(Word::is_empty);
        if is_nothing && character == '\\' {
            command.word = None;
        }
    }

    /// Reads a character that a backslash quotes.
    fn escaped(&mut self, word: &mut Word) {
        match self.rest.next() {
            Some('\n') => {}
            Some(character) => word.push(character),
            None => word.push('\\'),
        }
    }
}

#[cfg(test)]
mod tests;
