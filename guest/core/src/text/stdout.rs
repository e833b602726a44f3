//! Reads what a job wrote to its standard output alone: as text for a reader, or byte for byte.

use std::ops::Range;

use super::excerpt::excerpt;
use super::limits::{READ_BYTES, SORTED_BYTES, WINDOW_BYTES};
use super::screen::Screen;
use crate::imports::{Failure, Fragment, JobOutcome, Jobs, Stream};

/// Shows the beginning and the end of what a job wrote to its standard output, at most 32 KiB, without line feeds at
/// its end.
///
/// # Errors
/// [`Failure`] where the host could not read.
pub(crate) fn stdout_text(
    jobs: &mut impl Jobs,
    id: &str,
    outcome: &JobOutcome,
) -> Result<String, Failure> {
    let total = outcome.output_bytes;
    let mut pane = Pane::new();
    if total <= SORTED_BYTES {
        each_fragment(jobs, id, 0..total, |fragment| pane.take(fragment))?;
    } else {
        each_fragment(jobs, id, 0..WINDOW_BYTES, |fragment| pane.take(fragment))?;
        let end = total - WINDOW_BYTES..total;
        each_fragment(jobs, id, end, |fragment| pane.take(fragment))?;
    }
    Ok(pane.finish(outcome))
}

/// What a job wrote to its standard output; `None` where that is more than `limit` bytes, or it cannot be had whole:
/// some was not kept, or there is so much of both streams that it is not read.
///
/// # Errors
/// [`Failure`] where the host could not read.
pub(crate) fn stdout_bytes(
    jobs: &mut impl Jobs,
    id: &str,
    outcome: &JobOutcome,
    limit: usize,
) -> Result<Option<Vec<u8>>, Failure> {
    let total = outcome.output_bytes;
    if outcome.dropped_bytes > 0 || total > SORTED_BYTES {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut seen = 0;
    each_fragment(jobs, id, 0..total, |fragment| {
        seen += length(fragment);
        if fragment.stream == Stream::Stdout && bytes.len() <= limit {
            bytes.extend_from_slice(&fragment.bytes);
        }
    })?;
    Ok((bytes.len() <= limit && seen == total).then_some(bytes))
}

/// Bytes as a terminal would show them.
pub(crate) fn rendered(bytes: &[u8]) -> String {
    let mut screen = Screen::default();
    screen.write(Stream::Stdout, bytes);
    screen.finish().text
}

/// Reads what lies in `range`, in ascending order; what the host gives twice is given once.
fn each_fragment(
    jobs: &mut impl Jobs,
    id: &str,
    range: Range<u64>,
    mut each: impl FnMut(&Fragment),
) -> Result<(), Failure> {
    let mut at = range.start;
    while at < range.end {
        let limit = u32::try_from((range.end - at).min(READ_BYTES)).unwrap_or(u32::MAX);
        let before = at;
        for fragment in jobs.read(id, at, limit)? {
            if fragment.offset >= at {
                at = fragment.offset.saturating_add(length(&fragment));
                each(&fragment);
            }
        }
        // The host has no more; or a faulty one gives nothing new, which must not keep this loop going.
        if at <= before {
            return Ok(());
        }
    }
    Ok(())
}

fn length(fragment: &Fragment) -> u64 {
    u64::try_from(fragment.bytes.len()).unwrap_or(u64::MAX)
}

/// Keeps as much of the beginning and of the end as a screen is shown, and counts the rest.
struct Pane {
    screen: Screen,
    /// How much of the beginning still fits, in bytes.
    room: usize,
    tail: Vec<u8>,
    /// How many bytes before the tail are not shown.
    skipped: u64,
    /// How many bytes of both streams were taken, or are known to be missing.
    seen: u64,
}

impl Pane {
    const WINDOW: usize = WINDOW_BYTES as usize;

    fn new() -> Self {
        Self {
            screen: Screen::default(),
            room: Self::WINDOW,
            tail: Vec::new(),
            skipped: 0,
            seen: 0,
        }
    }

    fn take(&mut self, fragment: &Fragment) {
        self.miss(fragment.offset.saturating_sub(self.seen));
        self.seen = fragment.offset.saturating_add(length(fragment));
        if fragment.stream == Stream::Stdout {
            self.add(&fragment.bytes);
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        let (beginning, rest) = bytes.split_at(self.room.min(bytes.len()));
        self.screen.write(Stream::Stdout, beginning);
        self.room -= beginning.len();
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * Self::WINDOW {
            let surplus = self.tail.len() - Self::WINDOW;
            self.tail.drain(..surplus);
            self.skipped += surplus as u64;
        }
    }

    /// Notes that bytes are missing here, of which nobody knows who wrote them.
    fn miss(&mut self, bytes: u64) {
        if bytes > 0 {
            self.skipped += bytes + self.tail.len() as u64;
            self.tail.clear();
            self.room = 0;
        }
    }

    fn finish(mut self, outcome: &JobOutcome) -> String {
        self.miss(outcome.output_bytes.saturating_sub(self.seen));
        if self.skipped > 0 {
            self.screen.skip(self.skipped);
        }
        self.screen.write(Stream::Stdout, &self.tail);
        excerpt(self.screen.finish(), outcome.dropped_bytes).text
    }
}

#[cfg(test)]
mod tests {
    use super::{rendered, stdout_bytes, stdout_text};
    use crate::imports::{End, JobOutcome, Stream};
    use crate::text::written::Written;

    fn outcome(written: &Written) -> JobOutcome {
        JobOutcome {
            started_at: 0,
            ended_at: 0,
            duration_ms: 0,
            end: End::Exited(0),
            stopped: None,
            output_bytes: written.total,
            dropped_bytes: 0,
            leftovers: Vec::new(),
        }
    }

    fn text(mut written: Written) -> String {
        let outcome = outcome(&written);
        stdout_text(&mut written, "", &outcome).expect("it can be read")
    }

    fn bytes(mut written: Written, limit: usize) -> Option<Vec<u8>> {
        let outcome = outcome(&written);
        stdout_bytes(&mut written, "", &outcome, limit).expect("it can be read")
    }

    fn mixed() -> Written {
        Written::text("one\n")
            .then(Stream::Stderr, b"oops\n")
            .then(Stream::Stdout, b"two\n\n")
    }

    #[test]
    fn standard_error_is_left_out() {
        assert_eq!(text(mixed()), "one\ntwo");
        assert_eq!(bytes(mixed(), 9), Some(b"one\ntwo\n\n".to_vec()));
        assert_eq!(text(mixed().in_reads_of(2)), "one\ntwo");
        assert_eq!(text(Written::nothing()), "");
    }

    #[test]
    fn text_is_what_a_terminal_would_show() {
        assert_eq!(text(Written::text("10%\r\x1b[32mdone\x1b[0m\n")), "done");
        assert_eq!(rendered(b"a\rb\xff"), "b\u{fffd}");
    }

    #[test]
    fn the_middle_of_long_text_is_counted() {
        let lines = "0123456789abcde\n".repeat(100_000);
        let shown = text(
            Written::text("first\n")
                .then(Stream::Stdout, lines.as_bytes())
                .then(Stream::Stdout, b"last"),
        );
        assert!(
            shown.starts_with("first\n0123") && shown.ends_with("\nlast"),
            "{shown:.100}"
        );
        assert!(shown.len() <= 32 * 1024);
        let note = shown
            .lines()
            .find(|line| line.starts_with('['))
            .expect("a note");
        let count = note
            .split(' ')
            .nth(1)
            .and_then(|count| count.parse::<usize>().ok());
        let left = shown.len() - note.len() - 1;
        assert_eq!(
            count.expect("a number") + left,
            lines.len() + "first\nlast".len()
        );
    }

    #[test]
    fn standard_error_is_not_counted() {
        let noise = vec![b'x'; 2_000_000];
        assert_eq!(
            text(
                Written::text("a\n")
                    .then(Stream::Stderr, &noise)
                    .then(Stream::Stdout, b"b\n")
            ),
            "a\nb"
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        let shown = text(
            Written::text("a\n")
                .then_dropped(1_000)
                .then(Stream::Stdout, b"b\n"),
        );
        assert!(
            shown.starts_with("a\n[… 1000 bytes") && shown.ends_with("\nb"),
            "{shown}"
        );
        let shown = text(Written::text("a\n").then_dropped(10));
        assert!(shown.starts_with("a\n[… 10 bytes"), "{shown}");
    }

    #[test]
    fn bytes_are_whole_or_not_there() {
        assert_eq!(bytes(mixed(), 8), None);
        assert_eq!(bytes(Written::text("a").then_dropped(1), 8), None);
        let mut written = mixed();
        let outcome = JobOutcome {
            dropped_bytes: 1,
            ..outcome(&written)
        };
        assert_eq!(stdout_bytes(&mut written, "", &outcome, 99), Ok(None));
    }
}
