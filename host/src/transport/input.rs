//! Messages out of a byte stream: one a line, with a bound on its length.

use std::io::{self, BufRead};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its line break; never empty.
    Message(Vec<u8>),
    /// A line that is longer than the limit. It was read to its end and thrown away.
    TooLarge {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// There is nothing more.
    End,
}

/// Reads lines. Empty ones are skipped, and a last line without a line break counts.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    limit_bytes: usize,
    has_failed: bool,
}

impl<R: BufRead> Lines<R> {
    /// `limit_bytes` is the longest line that is accepted, without its line break.
    pub(crate) fn new(input: R, limit_bytes: usize) -> Self {
        Self {
            input,
            limit_bytes,
            has_failed: false,
        }
    }

    /// Reads the next line. Holds at most the limit and one buffer of the reader in memory. After an error there is
    /// nothing more.
    pub(crate) fn next_line(&mut self) -> io::Result<Line> {
        if self.has_failed {
            return Ok(Line::End);
        }
        let line = self.read_next();
        self.has_failed = line.is_err();
        line
    }

    fn read_next(&mut self) -> io::Result<Line> {
        loop {
            let mut line = Vec::new();
            let ended = self.read_line(&mut line)?;
            if line.len() > self.limit_bytes {
                return Ok(Line::TooLarge {
                    limit_bytes: self.limit_bytes,
                });
            }
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            match (line.is_empty(), ended) {
                (false, _) => return Ok(Line::Message(line)),
                (true, Ended::AtEndOfInput) => return Ok(Line::End),
                (true, Ended::AtLineBreak) => {}
            }
        }
    }

    /// Appends a line to `line`; of one that is too long, no more than one buffer beyond the limit.
    fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<Ended> {
        loop {
            let available = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                available => available?,
            };
            if available.is_empty() {
                return Ok(Ended::AtEndOfInput);
            }
            let line_break = available.iter().position(|byte| *byte == b'\n');
            let piece = &available[..line_break.unwrap_or(available.len())];
            if line.len() <= self.limit_bytes {
                line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(line_break.is_some());
            self.input.consume(used);
            if line_break.is_some() {
                return Ok(Ended::AtLineBreak);
            }
        }
    }
}

enum Ended {
    AtLineBreak,
    AtEndOfInput,
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    /// What [`check`] gets for a line of more than eight bytes.
    const TOO_LARGE: Line = Line::TooLarge { limit_bytes: 8 };

    fn check(input: &[u8], expect: &[Line]) {
        for buffer_bytes in [1, 3, 64] {
            let mut lines = Lines::new(BufReader::with_capacity(buffer_bytes, input), 8);
            for line in expect {
                assert_eq!(&lines.next_line().expect("memory can be read"), line);
            }
            assert_eq!(lines.next_line().expect("memory can be read"), Line::End);
        }
    }

    fn message(text: &str) -> Line {
        Line::Message(text.into())
    }

    #[test]
    fn each_line_is_a_message() {
        check(b"one\ntwo\n", &[message("one"), message("two")]);
        check(b"one\r\ntwo", &[message("one"), message("two")]);
        check(b"", &[]);
    }

    #[test]
    fn empty_lines_are_skipped() {
        check(b"\n\r\n\none\n\n", &[message("one")]);
    }

    #[test]
    fn a_line_of_the_limit_is_accepted_and_a_longer_one_is_not() {
        check(b"12345678\n", &[message("12345678")]);
        check(b"123456789\nnext\n", &[TOO_LARGE, message("next")]);
        check(b"123456789", &[TOO_LARGE]);
    }

    #[test]
    fn bytes_that_are_not_text_arrive_as_they_are() {
        check(b"\xff\x00\n", &[Line::Message(vec![0xff, 0])]);
    }

    #[test]
    fn a_stream_that_broke_says_so_once() {
        let directory = std::fs::File::open("/").expect("it is there");
        let mut lines = Lines::new(BufReader::new(directory), 8);
        lines.next_line().expect_err("a directory cannot be read");
        assert_eq!(lines.next_line().expect("it has ended"), Line::End);
    }

    #[test]
    fn an_endless_line_takes_no_memory() {
        let endless = io::repeat(b'x').take(1 << 28).chain(&b"\nnext\n"[..]);
        let mut lines = Lines::new(BufReader::new(endless), 1024);
        assert_eq!(
            lines.next_line().expect("memory can be read"),
            Line::TooLarge { limit_bytes: 1024 }
        );
        assert_eq!(
            lines.next_line().expect("memory can be read"),
            message("next")
        );
    }
}
