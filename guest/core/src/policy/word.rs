//! A word of a command, as far as it is known before a shell expands it.

use super::limits::WORD_CHARS;

/// What stands in a shell line for what is not known.
pub(super) const UNKNOWN_TEXT: &str = "${_}";

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// This character.
    Character(char),
    /// Any text, such as the value of a variable or what a command prints.
    Unknown,
    /// Any part of a file's name.
    Glob,
}

/// How many words a shell may make of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spread {
    /// It stays one.
    #[default]
    One,
    /// One or more, each of this form: the names of files.
    Files,
    /// Any number, none included, whatever they are.
    Any,
}

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pieces: Vec<Piece>,
    spread: Spread,
}

impl Word {
    /// The word that this text is.
    pub(super) fn literal(text: &str) -> Self {
        let mut word = Self::default();
        text.chars().for_each(|character| word.push(character));
        word
    }

    /// Any words of which nothing is known.
    pub(super) fn unknown() -> Self {
        let mut word = Self::default();
        word.push_unknown(Spread::Any);
        word
    }

    /// Appends a character that stands for itself.
    pub(super) fn push(&mut self, character: char) {
        self.pieces.push(Piece::Character(character));
    }

    /// Appends something that is not known.
    pub(super) fn push_unknown(&mut self, spread: Spread) {
        self.pieces.push(Piece::Unknown);
        self.spread = self.spread.max(spread);
    }

    /// Appends something that stands for the names of files.
    pub(super) fn push_glob(&mut self) {
        self.pieces.push(Piece::Glob);
        self.spread = self.spread.max(Spread::Files);
    }

    /// Its parts, as many as are compared.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        let is_cut = self.pieces.len() > WORD_CHARS;
        let rest = is_cut.then_some(&Piece::Unknown);
        self.pieces.iter().take(WORD_CHARS).chain(rest)
    }

    /// How many words a shell may make of it.
    pub(super) fn spread(&self) -> Spread {
        self.spread
    }

    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether all of it is known.
    pub(super) fn is_known(&self) -> bool {
        let is_known = |piece: &Piece| matches!(piece, Piece::Character(_));
        self.pieces.iter().all(is_known)
    }

    /// Its text; `None` where a part of it is not known.
    pub(super) fn text(&self) -> Option<String> {
        self.pieces.iter().map(known).collect()
    }

    /// What is behind its last `/`: the name of a program without its directory. `None` where that is not known, or may
    /// be several words.
    pub(super) fn base_name(&self) -> Option<String> {
        let is_one = self.spread == Spread::One || self.is_known();
        self.file_name().filter(|_| is_one)
    }

    /// What is behind its last `/`, however many words what is before that may be; `None` where it is not known.
    pub(super) fn file_name(&self) -> Option<String> {
        let parts = self.pieces.rsplit(|piece| *piece == Piece::Character('/'));
        let base = parts.into_iter().next().unwrap_or_default();
        base.iter().map(known).collect()
    }

    /// The same word with this piece wherever the text stands in it, which is not empty.
    pub(super) fn filled(&self, text: &str, piece: &Piece) -> Self {
        let text: Vec<Piece> = text.chars().map(Piece::Character).collect();
        let mut pieces = Vec::with_capacity(self.pieces.len());
        let mut rest = self.pieces.as_slice();
        while let Some((first, behind)) = rest.split_first() {
            match rest.strip_prefix(text.as_slice()) {
                Some(after) => {
                    pieces.push(piece.clone());
                    rest = after;
                }
                None => {
                    pieces.push(first.clone());
                    rest = behind;
                }
            }
        }
        Self {
            pieces,
            spread: self.spread,
        }
    }

    /// Its text as a part of a shell line, in which a shell expands later what is not known yet.
    pub(super) fn line(&self) -> String {
        #[cfg(test)]
        super::steps::add(self.pieces.len());
        let mut line = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Character(character) => line.push(*character),
                Piece::Unknown => line.push_str(UNKNOWN_TEXT),
                Piece::Glob => line.push('*'),
            }
        }
        line
    }

    /// As [`Self::line`], so quoted that a shell makes the same of it again: what is known means nothing else.
    pub(super) fn quoted(&self) -> String {
        #[cfg(test)]
        super::steps::add(self.pieces.len());
        let mut line = "'".to_owned();
        for piece in &self.pieces {
            match piece {
                Piece::Character('\'') => line.push_str(r"'\''"),
                Piece::Character(character) => line.push(*character),
                Piece::Unknown if self.spread == Spread::Any => {
                    line.extend(["'", UNKNOWN_TEXT, "'"]);
                }
                Piece::Unknown => line.extend(["'\"", UNKNOWN_TEXT, "\"'"]),
                Piece::Glob => line.push_str("'*'"),
            }
        }
        line.push('\'');
        line
    }

    /// The one word of which this is [`Self::line`].
    pub(super) fn of_line(line: &str) -> Self {
        let mut parts = line.split(UNKNOWN_TEXT);
        let mut word = Self::literal(parts.next().unwrap_or_default());
        for part in parts {
            word.push_unknown(Spread::One);
            part.chars().for_each(|character| word.push(character));
        }
        word
    }

    /// What is before and behind the first character like this. What is behind it stays one word, as the value of a
    /// variable does.
    pub(super) fn split_once(&self, character: char) -> Option<(Self, Self)> {
        let is_it = |piece: &Piece| *piece == Piece::Character(character);
        let place = self.pieces.iter().position(is_it)?;
        let part = |pieces: &[Piece]| Self {
            pieces: pieces.to_vec(),
            spread: Spread::One,
        };
        Some((part(&self.pieces[..place]), part(&self.pieces[place + 1..])))
    }

    /// What is behind this text, with which it begins.
    pub(super) fn strip_prefix(&self, text: &str) -> Option<Self> {
        let text: Vec<Piece> = text.chars().map(Piece::Character).collect();
        let rest = self.pieces.strip_prefix(text.as_slice())?;
        Some(Self {
            pieces: rest.to_vec(),
            spread: self.spread,
        })
    }

    /// The same in lower case, where it is known.
    pub(super) fn to_ascii_lowercase(&self) -> Self {
        let mut lower = self.clone();
        for piece in &mut lower.pieces {
            if let Piece::Character(character) = piece {
                character.make_ascii_lowercase();
            }
        }
        lower
    }

    /// Whether it sets a variable where it stands before a command.
    pub(super) fn is_assignment(&self) -> bool {
        let beginning = self.beginning();
        let Some((name, _)) = beginning.split_once('=') else {
            return false;
        };
        let name = name.strip_suffix('+').unwrap_or(name);
        // By such names bash finds functions in its environment.
        let name = name.strip_suffix("%%").unwrap_or(name);
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        !name.is_empty()
            && name.chars().all(is_name)
            && !name.starts_with(|it: char| it.is_ascii_digit())
    }

    /// The text up to its first part that is not known.
    pub(super) fn beginning(&self) -> String {
        self.pieces.iter().map_while(known).collect()
    }
}

fn known(piece: &Piece) -> Option<char> {
    match piece {
        Piece::Character(character) => Some(*character),
        Piece::Unknown | Piece::Glob => None,
    }
}
