//! A place in a text that is read once, with a look ahead.

use crate::policy::limits::AHEAD_CHARS;

/// The characters from a place on.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    characters: Vec<char>,
    place: usize,
    /// How many characters were looked at for an end of arithmetic where there is none.
    in_vain: usize,
}

impl Cursor {
    /// The beginning of a text.
    pub(super) fn new(text: &str) -> Self {
        Self {
            characters: text.chars().collect(),
            place: 0,
            in_vain: 0,
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
        #[cfg(test)]
        crate::policy::steps::add(1);
        Some(next)
    }

    /// As [`Self::next`], where the character is one of these.
    pub(super) fn next_if(&mut self, is_one: impl Fn(char) -> bool) -> Option<char> {
        self.peek().filter(|next| is_one(*next))?;
        self.next()
    }

    /// What stands between the `(` that comes next and the `))` that closes it and the one before it, all of which is
    /// read; `None`, and nothing is read, where there is no such thing: then these are groups. After too many looks in
    /// vain all is taken for read instead, so that the group is not closed: each may go as far as the text does.
    pub(super) fn arithmetic(&mut self) -> Option<String> {
        let inside = self.characters[self.place..].strip_prefix(&['('])?;
        if self.in_vain > self.characters.len() {
            self.place = self.characters.len();
            return None;
        }
        let end = match end_of_arithmetic(inside) {
            Ok(end) => end,
            Err(looked_at) => {
                self.in_vain += looked_at;
                return None;
            }
        };
        let text = inside[..end].iter().collect();
        self.place += end + 3;
        Some(text)
    }

    /// What is left of a word, quotes aside; `None` where it is long.
    pub(super) fn rest_of_word(&self) -> Option<&[char]> {
        let rest = &self.characters[self.place..];
        let near = &rest[..rest.len().min(AHEAD_CHARS)];
        #[cfg(test)]
        crate::policy::steps::add(near.len());
        let end = near.iter().position(|next| next.is_whitespace());
        match end {
            Some(end) => Some(&near[..end]),
            None if near.len() == rest.len() => Some(near),
            None => None,
        }
    }
}

/// Where the `))` is that closes what is open before these characters. What is quoted closes nothing.
///
/// # Errors
/// Where there is none: how many characters it took to see that.
fn end_of_arithmetic(characters: &[char]) -> Result<usize, usize> {
    let mut open = 0;
    let mut place = 0;
    while let Some(character) = characters.get(place) {
        #[cfg(test)]
        crate::policy::steps::add(1);
        match character {
            '\\' => place += 1,
            '\'' | '"' | '`' => {
                let rest = &characters[place + 1..];
                let end = rest.iter().position(|it| it == character);
                let end = end.unwrap_or(rest.len());
                #[cfg(test)]
                crate::policy::steps::add(end);
                place += 1 + end;
            }
            '(' => open += 1,
            ')' if open == 0 && characters.get(place + 1) == Some(&')') => return Ok(place),
            ')' if open == 0 => return Err(place),
            ')' => open -= 1,
            _ => {}
        }
        place += 1;
    }
    Err(characters.len())
}
