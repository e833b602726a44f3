//! Tells text from the sequences that steer a terminal.
//!
//! A state machine of our own, since what is needed of a terminal is small: the sequences that move within a line or erase
//! it, and the ends of all others. A crate for it would know a whole terminal, and would be in the component.
//!
//! *Source:* ECMA-48, 5.4 Control sequences and 5.6 Control strings; for `BEL` as the end of an operating
//! system command, xterm's "Control Sequences".

/// What a character, after those before it, asks the terminal to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Show this character; a tab is one.
    Print(char),
    /// Begin the next line.
    LineFeed,
    /// Go to the beginning of the line.
    CarriageReturn,
    /// Go one column to the left.
    Backspace,
    /// Go this many columns to the left.
    Left(usize),
    /// Go this many columns to the right.
    Right(usize),
    /// Go to this column; the first is 0.
    Column(usize),
    /// Erase from the cursor to the end of the line.
    EraseRight,
    /// Erase from the beginning of the line to the cursor.
    EraseLeft,
    /// Erase the line; the cursor stays.
    EraseLine,
}

/// Where in a sequence the reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// In none.
    #[default]
    Ground,
    /// After `ESC`, and after what may come between it and the final character.
    Escape,
    /// In a control sequence.
    Control(Parameter),
    /// In a control string, whose contents nobody sees.
    ControlString(Terminator),
}

/// The only parameter that matters here: the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parameter {
    /// Its digits so far, none being 0.
    Number(usize),
    /// It is complete.
    Complete(usize),
    /// The sequence is a private one, or has intermediate characters: it means something else.
    Foreign,
}

/// What ends a control string beside `ST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terminator {
    /// `BEL` does, too: an operating system command.
    OrBell,
    /// Nothing else does.
    Only,
}

const BELL: char = '\u{7}';
const CANCEL: char = '\u{18}';
const SUBSTITUTE: char = '\u{1a}';
const ESCAPE: char = '\u{1b}';
const STRING_TERMINATOR: char = '\u{9c}';

/// Reads characters, and forgets no unfinished sequence between two of them.
#[derive(Debug, Default)]
pub(super) struct Escapes {
    state: State,
}

impl Escapes {
    /// Takes one character and says what is to be done now; `None` where it is part of a sequence or has no
    /// visible effect.
    pub(super) fn push(&mut self, character: char) -> Option<Action> {
        match self.state {
            State::Ground => self.ground(character),
            State::Escape => self.escape(character),
            State::Control(parameter) => self.control(parameter, character),
            State::ControlString(terminator) => self.control_string(terminator, character),
        }
    }

    fn ground(&mut self, character: char) -> Option<Action> {
        self.state = State::Ground;
        match character {
            '\n' => Some(Action::LineFeed),
            '\r' => Some(Action::CarriageReturn),
            '\u{8}' => Some(Action::Backspace),
            '\t' => Some(Action::Print('\t')),
            ESCAPE => self.enter(State::Escape),
            // The 8-bit forms of `ESC [`, `ESC ]` and the other control strings.
            '\u{9b}' => self.enter(State::Control(Parameter::Number(0))),
            '\u{9d}' => self.enter(State::ControlString(Terminator::OrBell)),
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => {
                self.enter(State::ControlString(Terminator::Only))
            }
            _ if character.is_control() => None,
            _ => Some(Action::Print(character)),
        }
    }

    fn escape(&mut self, character: char) -> Option<Action> {
        match character {
            '[' => self.enter(State::Control(Parameter::Number(0))),
            ']' => self.enter(State::ControlString(Terminator::OrBell)),
            'P' | 'X' | '^' | '_' => self.enter(State::ControlString(Terminator::Only)),
            ' '..='/' => self.enter(State::Escape),
            '0'..='~' => self.enter(State::Ground),
            // Not a sequence at all: the character is what it would be without the `ESC`.
            _ => self.ground(character),
        }
    }

    fn control(&mut self, parameter: Parameter, character: char) -> Option<Action> {
        match character {
            '0'..='?' => self.enter(State::Control(parameter.followed_by(character))),
            ' '..='/' => self.enter(State::Control(Parameter::Foreign)),
            '@'..='~' => {
                self.state = State::Ground;
                parameter
                    .number()
                    .and_then(|number| effect(character, number))
            }
            // A terminal would obey the character and go on with the sequence. Here the sequence ends, so
            // that one cut short takes nothing of the next line with it.
            _ => self.ground(character),
        }
    }

    fn control_string(&mut self, terminator: Terminator, character: char) -> Option<Action> {
        match character {
            BELL if terminator == Terminator::OrBell => self.enter(State::Ground),
            CANCEL | SUBSTITUTE | STRING_TERMINATOR => self.enter(State::Ground),
            // Usually the first half of `ST`; its second half then ends this as any two-character sequence.
            ESCAPE => self.enter(State::Escape),
            // A terminal would go on. But a string that is never ended, as in binary output, would hide
            // everything that follows it, and what matters most is at the end.
            '\n' => self.ground(character),
            _ => None,
        }
    }

    fn enter(&mut self, state: State) -> Option<Action> {
        self.state = state;
        None
    }
}

impl Parameter {
    fn followed_by(self, character: char) -> Self {
        match (self, character.to_digit(10)) {
            (Self::Number(number), Some(digit)) => {
                let digit = usize::try_from(digit).unwrap_or(0);
                Self::Number(number.saturating_mul(10).saturating_add(digit))
            }
            (Self::Number(number) | Self::Complete(number), None)
                if matches!(character, ';' | ':') =>
            {
                Self::Complete(number)
            }
            (Self::Complete(number), Some(_)) => Self::Complete(number),
            _ => Self::Foreign,
        }
    }

    /// The value of a parameter that means what the standard says.
    fn number(self) -> Option<usize> {
        match self {
            Self::Number(number) | Self::Complete(number) => Some(number),
            Self::Foreign => None,
        }
    }
}

/// What a control sequence does within its line. Colours, and moves to other lines, do nothing.
fn effect(last: char, number: usize) -> Option<Action> {
    match (last, number) {
        ('C', _) => Some(Action::Right(number.max(1))),
        ('D', _) => Some(Action::Left(number.max(1))),
        ('G', _) => Some(Action::Column(number.saturating_sub(1))),
        ('K', 0) => Some(Action::EraseRight),
        ('K', 1) => Some(Action::EraseLeft),
        ('K', 2) => Some(Action::EraseLine),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Escapes};

    /// What is printed, with every other action in angle brackets.
    fn check(input: &str, expect: &str) {
        let mut escapes = Escapes::default();
        let mut shown = String::new();
        for action in input
            .chars()
            .filter_map(|character| escapes.push(character))
        {
            match action {
                Action::Print(character) => shown.push(character),
                other => shown.push_str(&format!("<{other:?}>")),
            }
        }
        assert_eq!(shown, expect, "{input:?}");
    }

    #[test]
    fn colours_and_other_control_sequences_vanish() {
        check("\x1b[31mred\x1b[0m", "red");
        check("\x1b[38;5;196ma\x1b[38:2::1:2:3mb\x1b[mc", "abc");
        check("\x1b[?25la\x1b[?2004hb\x1b[>4;1mc", "abc");
        check("\x1b[2Ja\x1b[1;1Hb\x1b[3Ac\x1b[4 qd\x1b[!pe", "abcde");
        check("\u{9b}31ma", "a");
    }

    #[test]
    fn control_strings_end_at_their_terminator() {
        check("\x1b]0;title\x07a", "a");
        check("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ a", "link a");
        check("\u{9d}0;title\u{9c}a", "a");
        check(
            "\x1bP1$r0m\x1b\\a\x1b_apc\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d",
            "abcd",
        );
        check("\x1bPbell\x07is data\x1b\\a", "a");
        check("\x1b]cancelled\x18a\x1bPsubstituted\x1ab", "ab");
    }

    #[test]
    fn short_sequences_vanish() {
        check("\x1bMa\x1b7b\x1b8c\x1b=d\x1b(Be\x1b#8f", "abcdef");
        check("\x1b\x1b[1ma", "a");
    }

    #[test]
    fn what_is_cut_short_takes_nothing_of_the_next_line() {
        check("a\x1b[31\nnext", "a<LineFeed>next");
        check("a\x1b\nnext", "a<LineFeed>next");
        check("a\x1b]0;title\nnext", "a<LineFeed>next");
        check("a\x1bPsixel\nnext", "a<LineFeed>next");
        check("a\x1b[3é", "aé");
        check("a\x1b[31", "a");
        check("a\x1b", "a");
    }

    #[test]
    fn moves_within_the_line_are_kept() {
        check("\r\x08\t\n", "<CarriageReturn><Backspace>\t<LineFeed>");
        check("\x1b[C\x1b[0C\x1b[12C", "<Right(1)><Right(1)><Right(12)>");
        check("\x1b[D\x1b[3D", "<Left(1)><Left(3)>");
        check("\x1b[G\x1b[1G\x1b[7G", "<Column(0)><Column(0)><Column(6)>");
        check(
            "\x1b[K\x1b[0K\x1b[1K\x1b[2K",
            "<EraseRight><EraseRight><EraseLeft><EraseLine>",
        );
        check("\x1b[?2K\x1b[3K", "");
        let huge = format!("\x1b[{}C", "9".repeat(40));
        check(&huge, &format!("<Right({})>", usize::MAX));
    }

    #[test]
    fn other_control_characters_vanish() {
        check(
            "a\0b\x07c\x0bd\x0ce\x0ef\x7fg\u{85}h\u{200b}",
            "abcdefgh\u{200b}",
        );
    }
}
