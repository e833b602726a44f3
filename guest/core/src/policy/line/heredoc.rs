//! Here-documents: text that stands in the lines behind the one that names it.

use super::{Lexer, Quotes};
use crate::policy::word::Word;

/// That what ends one is only known when it is read.
pub(super) const UNKNOWN_END: &str = "the end of a here-document is not known";

const NO_END: &str = "a here-document has no end";

/// All reasons for a doubt that is none where there is no here-document.
pub(super) const REASONS: [&str; 2] = [UNKNOWN_END, NO_END];

/// One whose text comes with the next line.
#[derive(Debug)]
pub(super) struct Heredoc {
    /// The line that ends it.
    pub(super) end: String,
    /// Whether tabs at the beginning of its lines do not count.
    pub(super) is_indented: bool,
    /// Whether nothing in it is expanded.
    pub(super) is_literal: bool,
}

impl Lexer {
    /// Reads those that the last line named, at its end.
    pub(super) fn read_heredocs(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let text = self.heredoc(&heredoc);
            if !heredoc.is_literal {
                self.expanded(&text);
            }
        }
    }

    /// Reads what a shell puts into a text in which quotes mean nothing: that of a here-document, or arithmetic.
    pub(super) fn expanded(&mut self, text: &str) {
        self.deeper(|lexer| {
            let mut inner = Self::new(text, lexer.depth);
            inner.expansions();
            lexer.take_in(inner.script);
        });
    }

    /// The text of one.
    fn heredoc(&mut self, heredoc: &Heredoc) -> String {
        let mut text = String::new();
        let mut goes_on = false;
        while self.rest.peek().is_some() {
            let mut line = String::new();
            while let Some(character) = self.rest.next_if(|next| next != '\n') {
                line.push(character);
            }
            self.rest.next();
            let content = if heredoc.is_indented {
                line.trim_start_matches('\t')
            } else {
                &line
            };
            let is_end = content == heredoc.end;
            // Shells put the next line behind such a one before they look for the end, some at its beginning alone.
            let begun = content.strip_suffix('\\').filter(|_| !heredoc.is_literal);
            if (goes_on && is_end) || begun.is_some_and(|it| heredoc.end.starts_with(it)) {
                self.doubt(UNKNOWN_END);
            }
            if is_end {
                return text;
            }
            goes_on = begun.is_some();
            text.push_str(content);
            text.push('\n');
        }
        // A shell takes what there is. More probably nobody meant a here-document, and these are commands.
        self.doubt(NO_END);
        text
    }

    /// Looks for substitutions in a text in which quotes mean nothing.
    fn expansions(&mut self) {
        let mut ignored = Word::default();
        while let Some(character) = self.rest.next() {
            match character {
                '\\' => {
                    self.rest.next();
                }
                '$' => self.dollar(&mut ignored, Quotes::Inside),
                '`' => self.backquoted(&mut ignored, Quotes::Inside),
                _ => {}
            }
        }
    }
}
