//! Quotes, and what a shell puts in the place of a part of a word.

use super::{Lexer, Quotes, Script, read};
use crate::policy::command::HIDDEN;
use crate::policy::variables::is_hiding;
use crate::policy::word::{Spread, Word};

/// That a text ends within quotes.
pub(in crate::policy) const OPEN_QUOTE: &str = "a quote is not closed";

const PROMPT: &str = "what a variable has is expanded as a prompt is, which runs commands in it";

/// Of bash 5.3 and of the Korn shells with a blank or a `|`, and with flags in parentheses of zsh.
const BRACED_COMMANDS: &str = "what a `${ }` runs is not looked for";

/// dash knows no quotes in arithmetic.
const ARITHMETIC_END: &str = "not all shells see the same end of arithmetic";

impl Lexer {
    /// Takes the commands of another script for some of this one's.
    pub(super) fn take_in(&mut self, script: Script) {
        self.script.commands.extend(script.commands);
        if let Some(why) = script.doubt {
            self.doubt(why);
        }
    }

    /// Reads what is behind a `'`.
    pub(super) fn single_quoted(&mut self, word: &mut Word) {
        while let Some(character) = self.rest.next() {
            if character == '\'' {
                return;
            }
            word.push(character);
        }
        self.doubt(OPEN_QUOTE);
    }

    /// Reads what is behind a `"`.
    pub(super) fn double_quoted(&mut self, word: &mut Word) {
        while let Some(character) = self.rest.next() {
            match character {
                '"' => return,
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(quoted @ ('$' | '`' | '"' | '\\')) => word.push(quoted),
                    Some(other) => {
                        word.push('\\');
                        word.push(other);
                    }
                    None => break,
                },
                '$' => self.dollar(word, Quotes::Inside),
                '`' => self.backquoted(word, Quotes::Inside),
                other => word.push(other),
            }
        }
        self.doubt(OPEN_QUOTE);
    }

    /// Reads what is behind a `$`.
    pub(super) fn dollar(&mut self, word: &mut Word, quotes: Quotes) {
        let spread = spread(quotes);
        match self.rest.peek() {
            Some('(') => {
                self.rest.next();
                match self.rest.arithmetic() {
                    Some(text) => {
                        if !ends_alike(&text) {
                            self.doubt(ARITHMETIC_END);
                        }
                        self.expanded(&text);
                    }
                    None => self.nested(),
                }
                word.push_unknown(spread);
            }
            Some('{') => {
                self.rest.next();
                let inside = self.deeper(|lexer| lexer.braced(quotes));
                word.push_unknown(inside.max(spread));
            }
            Some('\'') if quotes == Quotes::Outside => {
                self.rest.next();
                self.ansi_quoted(word);
            }
            Some('"') if quotes == Quotes::Outside => {
                self.rest.next();
                self.double_quoted(word);
            }
            Some('@' | '*') => {
                self.rest.next();
                word.push_unknown(Spread::Any);
            }
            Some('#' | '?' | '$' | '!' | '-' | '0'..='9') => {
                self.rest.next();
                word.push_unknown(spread);
            }
            Some(first) if is_name(first) => {
                while self.rest.next_if(is_name).is_some() {}
                word.push_unknown(spread);
            }
            Some(_) | None => word.push('$'),
        }
    }

    /// Reads what is behind a `${`, and says how many words it may be where it is quoted.
    fn braced(&mut self, quotes: Quotes) -> Spread {
        let mut spread = Spread::One;
        let mut ignored = Word::default();
        let mut name = String::new();
        if let Some(' ' | '\t' | '\n' | '|' | '(') = self.rest.peek() {
            self.doubt(BRACED_COMMANDS);
        }
        while let Some(next) = self.rest.next_if(is_name) {
            name.push(next);
        }
        self.rest.next_if(|next| next == ':');
        if self.rest.peek() == Some('=') && is_hiding(&name) {
            self.doubt(HIDDEN);
        }
        while let Some(character) = self.rest.next() {
            match character {
                '}' => return spread,
                '@' if self.rest.next_if(|next| next == 'P').is_some() => {
                    if self.rest.peek() == Some('}') {
                        self.doubt(PROMPT);
                    }
                    spread = Spread::Any;
                }
                '@' | '*' => spread = Spread::Any,
                '\\' => {
                    self.rest.next();
                }
                '\'' if quotes == Quotes::Outside => self.single_quoted(&mut ignored),
                '"' => self.double_quoted(&mut ignored),
                '$' => self.dollar(&mut ignored, quotes),
                '`' => self.backquoted(&mut ignored, quotes),
                _ => {}
            }
        }
        self.doubt("a `${` is not closed");
        spread
    }

    /// Reads what is behind a `$'`, where a backslash may stand for any character.
    fn ansi_quoted(&mut self, word: &mut Word) {
        while let Some(character) = self.rest.next() {
            match character {
                '\'' => return,
                '\\' => {
                    self.rest.next();
                    word.push_unknown(Spread::One);
                }
                other => word.push(other),
            }
        }
        self.doubt(OPEN_QUOTE);
    }

    /// Reads what is behind a backquote.
    pub(super) fn backquoted(&mut self, word: &mut Word, quotes: Quotes) {
        let mut line = String::new();
        loop {
            match self.rest.next() {
                None => return self.doubt(OPEN_QUOTE),
                Some('`') => break,
                Some('\\') => match self.rest.next() {
                    Some(quoted @ ('$' | '`' | '\\')) => line.push(quoted),
                    Some(other) => line.extend(['\\', other]),
                    None => {}
                },
                Some(other) => line.push(other),
            }
        }
        self.deeper(|lexer| {
            let script = read(&line, lexer.depth);
            lexer.take_in(script);
        });
        word.push_unknown(spread(quotes));
    }

    /// Reads what is behind a `[`, which may be a command, or the beginning of a set of characters.
    pub(super) fn bracket(&mut self, word: &mut Word) {
        let is_set = match self.rest.rest_of_word() {
            Some(rest) => rest.contains(&']'),
            None => true,
        };
        if is_set {
            word.push_glob();
        } else {
            word.push('[');
        }
    }

    /// Reads what is behind a `{`, which may be a group, or the beginning of a list of words.
    pub(super) fn brace(&mut self, word: &mut Word) {
        let is_list = match self.rest.rest_of_word() {
            Some(rest) => {
                let inside = rest.split(|character| *character == '}').next();
                let inside = inside.unwrap_or_default();
                inside.contains(&',') || inside.windows(2).any(|pair| pair == ['.', '.'])
            }
            None => true,
        };
        if is_list {
            word.push_unknown(Spread::Any);
        }
        word.push('{');
    }
}

fn spread(quotes: Quotes) -> Spread {
    match quotes {
        Quotes::Inside => Spread::One,
        Quotes::Outside => Spread::Any,
    }
}

/// Whether a shell for which nothing is quoted in this arithmetic finds that it ends here too.
fn ends_alike(arithmetic: &str) -> bool {
    if !arithmetic.contains(['\'', '"', '`']) {
        return true;
    }
    let mut open = 0_usize;
    for character in arithmetic.chars() {
        match character {
            '\\' => return false,
            '(' => open += 1,
            ')' if open == 0 => return false,
            ')' => open -= 1,
            _ => {}
        }
    }
    open == 0
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}
