//! Words that are no command although what separates commands stands before them: those of a `[[ ]]` behind its `&&`,
//! and those of a list of words that a variable gets.
//!
//! All of them are read as commands nevertheless, as other shells may, and count as such where it is known what they
//! would run. Only that such a name is *not* known is no reason for a doubt here, and that only where no shell runs it:
//! one that knows no `[[` finds no program of this name, and runs nothing that is behind a `&&`; one that knows no
//! lists refuses the line. Where it is not certain that these are such words, they are commands like any other.

use super::{Command, Next};
use crate::policy::command::SETTERS;
use crate::policy::word::Word;

/// The words of a shell's own behind which a command begins. `!` is not among them: behind it a `[[` that is not found
/// lets the next command run.
const STARTERS: [&str; 8] = ["{", "do", "elif", "else", "if", "then", "until", "while"];

/// Of what words are a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Data {
    /// Of a command.
    #[default]
    No,
    /// Of a test that is open.
    Test,
    /// Of a list that is open.
    List,
}

/// What the next word of a command may begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// A `[[`, or an assignment.
    #[default]
    Start,
    /// An assignment. Also behind a line feed it is so: behind a `||`, or a `|` with a `!` before it, what comes with a
    /// `&&` runs although a `[[` is not found.
    Behind,
    /// An assignment.
    Values,
    /// As that, behind a word of the shell's own that has them as arguments.
    Arguments,
    /// Neither.
    Other,
}

impl Place {
    /// What it is behind a list that stood here.
    pub(super) fn behind_list(self) -> Self {
        match self {
            Self::Start | Self::Behind => Self::Values,
            other => other,
        }
    }
}

impl Command {
    /// One whose words are a part of this.
    pub(super) fn within(data: Data) -> Self {
        let place = match data {
            Data::No => Place::Start,
            Data::Test | Data::List => Place::Other,
        };
        Self {
            place,
            data,
            ..Self::default()
        }
    }

    /// The name of the variable that gets a list of words, if a parenthesis comes next.
    pub(super) fn list(&self) -> Option<String> {
        let word = self.word.as_ref().filter(|word| word.is_assignment())?;
        let text = word.text()?;
        let (name, value) = text.split_once('=')?;
        let may_be = self.place != Place::Other && self.next == Next::Argument;
        (may_be && !self.is_quoted && value.is_empty()).then(|| name.trim_end_matches('+').into())
    }

    /// Takes in the next character of the word, which is not quoted, as far as it is of the subscript of a variable:
    /// one begins behind a name, in a list also where there is none, and behind a `$`.
    pub(super) fn count_bracket(&mut self, character: char) {
        match character {
            '[' if self.subscripts > 0 || self.may_have_subscript() => self.subscripts += 1,
            ']' => self.subscripts = self.subscripts.saturating_sub(1),
            _ => {}
        }
    }

    fn may_have_subscript(&self) -> bool {
        let Some(word) = &self.word else {
            return self.data == Data::List;
        };
        let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
        word.text()
            .is_some_and(|it| it.chars().all(is_part) || it.ends_with('$'))
    }

    /// Adds a word, behind a name that is known where none is needed.
    pub(super) fn argument(&mut self, word: Word) {
        let is_first = self.words.is_empty() && self.data != Data::No;
        if is_first && word.base_name().is_none() {
            self.words.push(Word::literal("[["));
        }
        self.words.push(word);
    }

    /// Takes in what a word says of the next one. Nothing of a shell's own is quoted.
    pub(super) fn look_at(&mut self, word: &Word, is_quoted: bool) {
        if self.place == Place::Other && self.data != Data::Test {
            return;
        }
        let text = word.text();
        let is_one_of = |words: &[&str]| text.as_deref().is_some_and(|it| words.contains(&it));
        if self.data == Data::Test && is_one_of(&["]]"]) {
            self.data = Data::No;
        }
        let is_own = |words: &[&str]| !is_quoted && is_one_of(words);
        self.place = match self.place {
            Place::Start if is_own(&STARTERS) => Place::Start,
            Place::Start if is_own(&["[["]) => {
                self.data = Data::Test;
                Place::Other
            }
            Place::Arguments if text.is_some() || word.is_assignment() => Place::Arguments,
            Place::Other | Place::Arguments => Place::Other,
            _ if is_own(&SETTERS) => Place::Arguments,
            _ if word.is_assignment() && !is_quoted => Place::Values,
            _ => Place::Other,
        };
    }
}
