//! A place in a text that is read once, with a look ahead.

use crate::policy::limits::AHEAD_CHARS;

/// The characters from a place on.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    characters: Vec<char>,
    place: usize,
}

impl Cursor {
    /// The beginning of a text.
    pub(super) fn new(text: &str) -> Self {
        Self {
            characters: text.chars().collect(),
            place: 0,
        }
    }

    /// The next character, which stays.
    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.place).copied()
    }

    /// The next character, which is read.
    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.place += 1;
        Some(next)
    }

    /// As [`Self::next`], where the character is one of these.
    pub(super) fn next_if(&mut self, is_one: impl Fn(char) -> bool) -> Option<char> {
        self.peek().filter(|next| is_one(*next))?;
        self.next()
    }

    /// What is left of a word, quotes aside; `None` where it is long.
    pub(super) fn rest_of_word(&self) -> Option<&[char]> {
        let rest = &self.characters[self.place..];
        let near = &rest[..rest.len().min(AHEAD_CHARS)];
        let end = near.iter().position(|next| next.is_whitespace());
        match end {
            Some(end) => Some(&near[..end]),
            None if near.len() == rest.len() => Some(near),
            None => None,
        }
    }
}
