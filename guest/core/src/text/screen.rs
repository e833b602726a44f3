//! What a terminal would show of a job's output, without its colours.
//!
//! Knows one line that can be rewritten and any number that cannot: a cursor that moves up is ignored, since
//! programs whose output is no terminal rarely move it. A character is one column wide, a tab, too. Lines
//! do not wrap.

use super::decoder::Decoder;
use super::escape::{Action, Escapes};
use super::limits::TERMINAL_COLUMNS;
use crate::imports::Stream;

/// Takes the output of both streams in the order of its arrival.
#[derive(Debug, Default)]
pub(super) struct Screen {
    stdout: Source,
    stderr: Source,
    sheet: Sheet,
    gap: Option<Gap>,
}

/// All that a screen showed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rendered {
    /// Lines, of which only the last may lack its line feed. No control character but line feed and tab.
    pub(super) text: String,
    /// What is missing in it.
    pub(super) gap: Option<Gap>,
}

/// Where output is missing: at one place, or at several with a little text between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// Up to here nothing is missing, as a position in the text, in bytes.
    pub(super) first: usize,
    /// From here on nothing is missing, as a position in the text, in bytes.
    pub(super) last: usize,
    /// How many bytes that the job wrote are missing.
    pub(super) bytes: u64,
}

impl Screen {
    /// Shows what a job wrote.
    pub(super) fn write(&mut self, stream: Stream, bytes: &[u8]) {
        let source = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        for &byte in bytes {
            source.push(byte, &mut self.sheet);
        }
    }

    /// Notes that `bytes` bytes are missing here. What was unfinished before them stays so: nothing is said
    /// of half a character or half a sequence, since it was not the job that broke it.
    pub(super) fn skip(&mut self, bytes: u64) {
        self.stdout = Source::midway();
        self.stderr = Source::midway();
        self.sheet.end_line();
        let here = self.sheet.text.len();
        self.gap = Some(match self.gap {
            None => Gap {
                first: here,
                last: here,
                bytes,
            },
            Some(gap) => Gap {
                last: here,
                bytes: gap.bytes.saturating_add(bytes),
                ..gap
            },
        });
    }

    /// Says that nothing follows.
    pub(super) fn finish(mut self) -> Rendered {
        self.stdout.finish(&mut self.sheet);
        self.stderr.finish(&mut self.sheet);
        self.sheet.end_line();
        Rendered {
            text: self.sheet.text,
            gap: self.gap,
        }
    }
}

/// One stream: each has characters and sequences of its own, which the other's bytes do not break.
#[derive(Debug, Default)]
struct Source {
    decoder: Decoder,
    escapes: Escapes,
}

impl Source {
    fn midway() -> Self {
        Self {
            decoder: Decoder::midway(),
            escapes: Escapes::default(),
        }
    }

    fn push(&mut self, byte: u8, sheet: &mut Sheet) {
        let Self { decoder, escapes } = self;
        decoder.push(byte, |character| show(character, escapes, sheet));
    }

    fn finish(&mut self, sheet: &mut Sheet) {
        let Self { decoder, escapes } = self;
        decoder.finish(|character| show(character, escapes, sheet));
    }
}

fn show(character: char, escapes: &mut Escapes, sheet: &mut Sheet) {
    if let Some(action) = escapes.push(character) {
        sheet.apply(action);
    }
}

/// Finished lines, and the one that the cursor is in.
#[derive(Debug, Default)]
struct Sheet {
    text: String,
    line: Vec<char>,
    column: usize,
    /// Whether anything in the line was erased or overwritten. Then spaces at its end are what is left of
    /// longer text, and not what the job meant.
    rewritten: bool,
}

impl Sheet {
    fn apply(&mut self, action: Action) {
        match action {
            Action::Print(character) => self.print(character),
            Action::LineFeed => {
                self.end_line();
                self.text.push('\n');
            }
            Action::CarriageReturn => self.column = 0,
            Action::Backspace => self.column = self.column.saturating_sub(1),
            Action::Left(columns) => self.column = self.column.saturating_sub(columns),
            Action::Right(columns) => self.move_to(self.column.saturating_add(columns)),
            Action::Column(column) => self.move_to(column),
            Action::EraseRight => self.line.truncate(self.column),
            Action::EraseLeft => self.erase_left(),
            Action::EraseLine => self.erase_line(),
        }
    }

    fn print(&mut self, character: char) {
        if self.column < self.line.len() {
            self.line[self.column] = character;
            self.rewritten = true;
        } else {
            self.line.resize(self.column, ' ');
            self.line.push(character);
        }
        self.column += 1;
    }

    fn move_to(&mut self, column: usize) {
        self.column = column.min(self.line.len().max(TERMINAL_COLUMNS));
    }

    /// In a terminal a long line is several rows, and the row with the cursor is all that is erased. That
    /// also bounds the work: a few bytes of output cannot ask for a megabyte to be filled, again and again.
    fn erase_left(&mut self) {
        let end = self.column.saturating_add(1).min(self.line.len());
        let start = end.saturating_sub(TERMINAL_COLUMNS);
        self.line[start..end].fill(' ');
        self.rewritten = true;
    }

    /// Keeps the cursor within the first row, for the same reason: what is printed next is padded up to it.
    fn erase_line(&mut self) {
        self.line.clear();
        self.column = self.column.min(TERMINAL_COLUMNS);
    }

    /// Adds the line to the text, without a line feed, and begins an empty one.
    fn end_line(&mut self) {
        let start = self.text.len();
        self.text.extend(self.line.drain(..));
        if std::mem::take(&mut self.rewritten) {
            let kept = self.text[start..].trim_end_matches(' ').len();
            self.text.truncate(start + kept);
        }
        self.column = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{Gap, Rendered, Screen};
    use crate::imports::Stream::{Stderr, Stdout};

    fn check(input: &str, expect: &str) {
        let mut screen = Screen::default();
        screen.write(Stdout, input.as_bytes());
        assert_eq!(screen.finish().text, expect, "{input:?}");
    }

    #[test]
    fn plain_text_is_shown_as_it_is() {
        check("", "");
        check("a\n\n  b\t \nc", "a\n\n  b\t \nc");
        check("a  \r\nb\r\n", "a  \nb\n");
        check("naïve → 日本 🎉\n", "naïve → 日本 🎉\n");
    }

    #[test]
    fn a_carriage_return_lets_the_line_be_rewritten() {
        check("10%\r50%\r100%\n", "100%\n");
        check("done: 9\rok", "okne: 9");
        check("downloading\rdone       \nx", "done\nx");
        check("10%\r\x1b[Kdone", "done");
        check("100%\r", "100%");
        check("50%\r\r\n100%", "50%\n100%");
    }

    #[test]
    fn ten_thousand_updates_leave_the_last_state() {
        let updates: String = (1..=10_000)
            .map(|step| format!("\rstep {step}/10000"))
            .collect();
        check(
            &format!("start\n{updates}\nend\n"),
            "start\nstep 10000/10000\nend\n",
        );
    }

    #[test]
    fn a_backspace_goes_back_and_erases_nothing_itself() {
        check("|\x08/\x08-\x08", "-");
        check("pass\x08\x08\x08\x08word", "word");
        check("ab\x08 \x08c", "ac");
        check("\x08\x08a", "a");
        check("_\x08bo_\x08ld", "bold");
    }

    #[test]
    fn sequences_move_within_the_line_and_erase_it() {
        check("abc\x1b[2DX", "aXc");
        check("a\x1b[3Cb", "a   b");
        check("abc\x1b[1Gx\x1b[0K", "x");
        check("abc\x1b[1K\x1b[1Gx", "x");
        check("abcd\x1b[2D\x1b[1Kx", "  xd");
        check("abc\x1b[2Kx", "   x");
        check("\x1b[32mgreen\x1b[0m text", "green text");
    }

    #[test]
    fn short_sequences_cannot_ask_for_much_memory_or_work() {
        check(
            &"\x1b[999999999Cx\n".repeat(3),
            &format!("{}x\n", " ".repeat(200)).repeat(3),
        );
        let long = "x".repeat(250_000);
        let times = 50_000;
        // Were each of these to touch the whole line, this test would take minutes.
        check(
            &format!("{long}{}", "\x1b[1K".repeat(times)),
            &"x".repeat(249_800),
        );
        check(
            &format!("{long}{}\r", "\x1b[2Ky".repeat(times)),
            &format!("{}y", " ".repeat(200)),
        );
    }

    #[test]
    fn streams_are_interleaved_in_the_order_of_arrival() {
        let mut screen = Screen::default();
        screen.write(Stdout, b"one\ntw");
        screen.write(Stderr, b"[oops]");
        screen.write(Stdout, b"o\n");
        assert_eq!(screen.finish().text, "one\ntw[oops]o\n");
    }

    #[test]
    fn the_other_stream_breaks_no_character_and_no_sequence() {
        let mut screen = Screen::default();
        screen.write(Stdout, b"\xe2\x82");
        screen.write(Stderr, b"error\x1b[3");
        screen.write(Stdout, b"\xac 5");
        screen.write(Stderr, b"1m!");
        assert_eq!(screen.finish().text, "error€ 5!");
    }

    #[test]
    fn what_is_not_utf8_is_replaced_also_at_the_end() {
        let mut screen = Screen::default();
        screen.write(Stdout, b"a\xff\xfeb\xe2\x82");
        assert_eq!(screen.finish().text, "a\u{fffd}\u{fffd}b\u{fffd}");
    }

    #[test]
    fn a_gap_hides_what_it_broke() {
        let mut screen = Screen::default();
        screen.write(Stdout, b"head\x1b]0;ti\xe2");
        screen.skip(100);
        screen.write(Stdout, b"\x82\xactail");
        screen.skip(7);
        let text = "headtail".to_owned();
        let gap = Some(Gap {
            first: 4,
            last: 8,
            bytes: 107,
        });
        assert_eq!(screen.finish(), Rendered { text, gap });
    }
}
