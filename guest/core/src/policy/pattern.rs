//! The patterns of a policy: words with `*`, which stands for any part of a word, and `...`, which stands for any
//! number of words.
//!
//! A comparison asks whether a command may match, as a word of it may be known only when it runs: then it may be the
//! one that the pattern names.

use super::limits::PATTERN_CHARS;
use super::word::{Piece, Spread, Word};
use crate::text::is_hidden;

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    /// One word of this form.
    Word(Vec<Token>),
    /// `...`.
    Rest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Character(char),
    /// `*`.
    Star,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What a pattern has to be, in words.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let is_long = text.chars().count() > PATTERN_CHARS;
        if is_long || text.trim().is_empty() || text.chars().any(is_hidden) {
            return Err(format!(
                "has to be a line of 1 to {PATTERN_CHARS} characters: words in which `*` stands for any part of a \
                 word, and `...` for any further words, for example \"git push ... --force\""
            ));
        }
        let items = text.split_whitespace().map(item).collect();
        Ok(Self { items })
    }

    /// Whether these words may be a command that the pattern names.
    pub(super) fn may_match(&self, words: &[Word]) -> bool {
        let mut reached = vec![false; self.items.len() + 1];
        reached[0] = true;
        for word in words {
            if !reached.contains(&true) {
                return false;
            }
            reached = self.after(&reached, word);
        }
        self.skip_rests(&mut reached);
        reached[self.items.len()]
    }

    /// Which items may come next behind this word, where these may be what it is compared with.
    fn after(&self, reached: &[bool], word: &Word) -> Vec<bool> {
        let mut from = reached.to_vec();
        self.skip_rests(&mut from);
        match word.spread() {
            Spread::One => self.step(&from, word),
            Spread::Files => {
                let mut next = self.step(&from, word);
                // Each round reaches at least one item more.
                for _ in 0..self.items.len() {
                    self.skip_rests(&mut next);
                    let further = self.step(&next, word);
                    for (place, is_further) in next.iter_mut().zip(further) {
                        *place |= is_further;
                    }
                }
                next
            }
            Spread::Any => {
                reach_all_behind(&mut from);
                from
            }
        }
    }

    /// As [`Self::after`], for one word.
    fn step(&self, reached: &[bool], word: &Word) -> Vec<bool> {
        let mut next = vec![false; reached.len()];
        for (index, item) in self.items.iter().enumerate() {
            match item {
                _ if !reached[index] => {}
                Item::Rest => next[index] = true,
                Item::Word(tokens) if index == 0 => next[1] |= may_be_program(tokens, word),
                Item::Word(tokens) => next[index + 1] |= may_be(tokens, word),
            }
        }
        next
    }

    /// `...` may stand for no word.
    fn skip_rests(&self, reached: &mut [bool]) {
        for (index, item) in self.items.iter().enumerate() {
            if reached[index] && *item == Item::Rest {
                reached[index + 1] = true;
            }
        }
    }
}

fn item(word: &str) -> Item {
    match word {
        "..." => Item::Rest,
        form => Item::Word(tokens(form)),
    }
}

fn tokens(form: &str) -> Vec<Token> {
    let token = |character| match character {
        '*' => Token::Star,
        other => Token::Character(other),
    };
    form.chars().map(token).collect()
}

/// Whether a word may have this form, in which `*` stands for any part.
pub(super) fn may_have_form(form: &str, word: &Word) -> bool {
    may_be(&tokens(form), word)
}

/// Whether a word may name this program: its directory counts only where the pattern names one.
fn may_be_program(tokens: &[Token], word: &Word) -> bool {
    let names_directory = tokens.contains(&Token::Character('/'));
    match word.base_name() {
        Some(name) if !names_directory => may_be(tokens, &Word::literal(&name)),
        _ => may_be(tokens, word),
    }
}

/// Whether a word may have this form.
fn may_be(tokens: &[Token], word: &Word) -> bool {
    // A file's name that begins like an option is possible, but asking at every `*` would help nobody.
    let is_no_option = word.pieces().next() == Some(&Piece::Glob);
    if is_no_option && tokens.first() == Some(&Token::Character('-')) {
        return false;
    }
    let mut reached = vec![false; tokens.len() + 1];
    reached[0] = true;
    skip_stars(tokens, &mut reached);
    for piece in word.pieces() {
        #[cfg(test)]
        super::steps::add(1);
        match piece {
            Piece::Character(character) => advance(tokens, &mut reached, *character),
            Piece::Unknown | Piece::Glob => reach_all_behind(&mut reached),
        }
        skip_stars(tokens, &mut reached);
        if !reached.contains(&true) {
            return false;
        }
    }
    reached[tokens.len()]
}

/// Which tokens may come next behind this character.
fn advance(tokens: &[Token], reached: &mut [bool], character: char) {
    // From the end, so that what is read is what was reached before.
    for index in (0..reached.len()).rev() {
        let stays = reached[index] && tokens.get(index) == Some(&Token::Star);
        let before = index.checked_sub(1);
        let comes = before
            .is_some_and(|before| reached[before] && tokens[before] == Token::Character(character));
        reached[index] = stays || comes;
    }
}

/// What is behind anything that was reached may be reached by something that is not known.
fn reach_all_behind(reached: &mut [bool]) {
    let first = reached.iter().position(|is_reached| *is_reached);
    let first = first.unwrap_or(reached.len());
    reached[first..].fill(true);
}

fn skip_stars(tokens: &[Token], reached: &mut [bool]) {
    for (index, token) in tokens.iter().enumerate() {
        if reached[index] && *token == Token::Star {
            reached[index + 1] = true;
        }
    }
}
