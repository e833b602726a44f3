//! Reads a job's output and shows what matters of it.

use std::ops::Range;

use super::excerpt::{Excerpt, excerpt};
use super::hidden::visible;
use super::limits::{LAST_LINE_CHARS, LAST_LINE_WINDOW_BYTES, READ_BYTES, WINDOW_BYTES};
use super::screen::{Rendered, Screen};
use super::shorten::shorten;
use crate::imports::{Failure, Fragment, JobOutcome, Jobs};

/// Shows the beginning and the end of what a job wrote.
///
/// # Errors
/// [`Failure`] where the host could not read.
pub(crate) fn output(
    jobs: &mut impl Jobs,
    id: &str,
    outcome: &JobOutcome,
) -> Result<Excerpt, Failure> {
    let total = outcome.output_bytes;
    let mut reader = Reader::new(jobs, id);
    reader.read(0..total.min(WINDOW_BYTES))?;
    reader.read(total.saturating_sub(WINDOW_BYTES)..total)?;
    Ok(excerpt(reader.finish(total), outcome.dropped_bytes))
}

/// The last line of a job's output so far that shows anything, at most 120 characters, without control
/// and format characters and without spaces around it.
///
/// `output_bytes` is how many bytes the job has written. `None` where there is no such line near the end, or
/// the host could not read: the line is an extra that no answer has to fail for.
pub(crate) fn last_line(jobs: &mut impl Jobs, id: &str, output_bytes: u64) -> Option<String> {
    LAST_LINE_WINDOW_BYTES.into_iter().find_map(|window| {
        last_line_within(jobs, id, output_bytes.saturating_sub(window)..output_bytes)
    })
}

fn last_line_within(jobs: &mut impl Jobs, id: &str, window: Range<u64>) -> Option<String> {
    let total = window.end;
    let mut reader = Reader::new(jobs, id);
    reader.read(window).ok()?;
    let text = reader.finish(total).text;
    let line = text.lines().map(shown).rfind(|line| !line.is_empty())?;
    Some(shorten(&line, LAST_LINE_CHARS))
}

/// What is seen of a line that stands among other words, which it must not rearrange or hide.
fn shown(line: &str) -> String {
    let line = visible(&line.replace('\t', " "));
    line.trim().to_owned()
}

/// Feeds a screen with output, in ascending order, and tells it what it missed.
struct Reader<'a, J> {
    jobs: &'a mut J,
    id: &'a str,
    screen: Screen,
    /// How many bytes of the output the screen has seen, or was told that they are missing.
    seen: u64,
}

impl<'a, J: Jobs> Reader<'a, J> {
    fn new(jobs: &'a mut J, id: &'a str) -> Self {
        Self {
            jobs,
            id,
            screen: Screen::default(),
            seen: 0,
        }
    }

    /// Reads what lies in `range` and was not read before.
    fn read(&mut self, range: Range<u64>) -> Result<(), Failure> {
        let mut at = range.start.max(self.seen);
        while at < range.end {
            let limit = u32::try_from((range.end - at).min(READ_BYTES)).unwrap_or(u32::MAX);
            for fragment in self.jobs.read(self.id, at, limit)? {
                self.show(&fragment);
            }
            // The host has no more. Also where it gives only what was there before, which it must not do,
            // so that a faulty one cannot keep this loop going.
            if self.seen <= at {
                return Ok(());
            }
            at = self.seen;
        }
        Ok(())
    }

    fn show(&mut self, fragment: &Fragment) {
        let Some(missed) = fragment.offset.checked_sub(self.seen) else {
            return;
        };
        if missed > 0 {
            self.screen.skip(missed);
        }
        self.screen.write(fragment.stream, &fragment.bytes);
        let length = u64::try_from(fragment.bytes.len()).unwrap_or(u64::MAX);
        self.seen = fragment.offset.saturating_add(length);
    }

    /// What the screen shows of an output of `total` bytes.
    fn finish(mut self, total: u64) -> Rendered {
        if self.seen < total {
            self.screen.skip(total - self.seen);
        }
        self.screen.finish()
    }
}

#[cfg(test)]
mod tests;
