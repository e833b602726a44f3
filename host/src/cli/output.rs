//! What a command wrote, as the server shows it, taken apart into what is the command's and what is not.

use super::terminal::{self, Unwritable};

/// What the note begins, goes on and ends with that the server puts in place of what it leaves out.
const NOTE: [&str; 3] = ["[… ", " of output left out", " …]"];

/// What a command wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Output<'a> {
    /// All of it, or its beginning.
    pub(super) head: &'a str,
    /// What is missing behind the beginning, in the server's words, and the end; `None` where nothing is missing.
    rest: Option<Rest<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Rest<'a> {
    note: &'a str,
    tail: &'a str,
}

impl<'a> Output<'a> {
    /// One of which nothing was left out, whatever it looks like.
    pub(super) fn whole(text: &'a str) -> Self {
        Self {
            head: text,
            rest: None,
        }
    }

    /// One of which something was left out. Where the command wrote such notes itself nobody knows which one is the
    /// server's: then all of them stay where they are.
    pub(super) fn shortened(text: &'a str) -> Self {
        let mut notes = text.lines().filter(|line| is_note(line));
        let (Some(note), None) = (notes.next(), notes.next()) else {
            return Self::whole(text);
        };
        let (head, tail) = text
            .split_once(note)
            .expect("the note was found in this text");
        Self {
            head,
            rest: Some(Rest {
                note,
                tail: tail.strip_prefix('\n').unwrap_or(tail),
            }),
        }
    }

    /// Prints it to standard output. What is missing is said on standard error, on a terminal in its place.
    ///
    /// # Errors
    /// As [`terminal::print`].
    pub(super) fn print(&self) -> Result<(), Unwritable> {
        print_piece(self.head)?;
        if let Some(Rest { note, tail }) = self.rest {
            terminal::say(note);
            print_piece(tail)?;
        }
        Ok(())
    }
}

/// Nothing is no empty line.
fn print_piece(text: &str) -> Result<(), Unwritable> {
    if text.is_empty() {
        Ok(())
    } else {
        terminal::print(text)
    }
}

fn is_note(line: &str) -> bool {
    let [begin, middle, end] = NOTE;
    line.starts_with(begin) && line.contains(middle) && line.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: &str = "[… 9 bytes (2 lines) of output left out; to read all of it, let the command write to a file …]";

    #[test]
    fn the_note_about_what_is_missing_is_no_output() {
        let text = format!("a\n{MISSING}\nz");
        let rest = Rest {
            note: MISSING,
            tail: "z",
        };
        let expect = Output {
            head: "a\n",
            rest: Some(rest),
        };
        assert_eq!(Output::shortened(&text), expect);
    }

    #[test]
    fn a_note_that_the_command_wrote_stays() {
        let text = format!("a\n{MISSING}\nz");
        assert_eq!(Output::whole(&text).head, text);
        let twice = format!("{MISSING}\n{MISSING}");
        assert_eq!(Output::shortened(&twice).head, twice);
    }
}
