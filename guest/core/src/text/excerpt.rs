//! The beginning and the end of a text that is too long, with a note about what is missing between them.

use super::limits::{NEAR_BYTES, NOTE_BYTES, SHOWN_BYTES};
use super::screen::{Gap, Rendered};

/// How a reader gets at what is left out. Where the host keeps the output is no matter of this text.
pub(super) const ADVICE: &str = "to read all of it, let the command write to a file";

/// What of a job's output is put before a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// At most 32 KiB, without a line feed at its end; empty where there is nothing to see. No control
    /// character but line feed and tab.
    pub(crate) text: String,
    /// Whether there is more than this text shows.
    pub(crate) shortened: bool,
}

/// Keeps of `rendered` what a reader needs most, and counts the rest.
///
/// `dropped_bytes` says how many of the bytes that the job wrote exist no more, so that nobody looks for
/// them. Everything between the first and the last gap is left out: one note is enough to read.
pub(super) fn excerpt(rendered: Rendered, dropped_bytes: u64) -> Excerpt {
    let Rendered { mut text, gap } = rendered;
    end_with_one_line_feed(&mut text);
    if gap.is_none() && text.len() <= SHOWN_BYTES {
        text.truncate(text.trim_end_matches('\n').len());
        return Excerpt {
            text,
            shortened: false,
        };
    }
    let (head, tail) = split(&text, gap);
    let note = note(
        &text[head.len()..text.len() - tail.len()],
        gap,
        dropped_bytes,
    );
    let line_end = if head.is_empty() || head.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    Excerpt {
        text: format!("{head}{line_end}{note}\n{tail}")
            .trim_end_matches('\n')
            .to_owned(),
        shortened: true,
    }
}

/// Blank lines at the end say nothing, and would take the place of lines that do.
fn end_with_one_line_feed(text: &mut String) {
    let length = text.trim_end_matches('\n').len();
    text.truncate(length + usize::from(length < text.len()));
}

/// The parts of `text` that are shown. Each gets half of the room, and what the other one does not need.
fn split(text: &str, gap: Option<Gap>) -> (&str, &str) {
    const ROOM: usize = SHOWN_BYTES - NOTE_BYTES;
    let (before_gap, after_gap) = match gap {
        None => (text, text),
        // The gap may lie in blank lines at the end, which are gone.
        Some(gap) => (
            &text[..gap.first.min(text.len())],
            &text[gap.last.min(text.len())..],
        ),
    };
    let head_room = (ROOM / 2).max(ROOM.saturating_sub(after_gap.len()));
    let head = &before_gap[..head_end(before_gap, head_room)];
    let tail = &after_gap[tail_start(after_gap, ROOM - head.len())..];
    (head, tail)
}

/// Where to cut a text of which at most `room` bytes from its beginning are shown.
fn head_end(text: &str, room: usize) -> usize {
    let end = text.floor_char_boundary(room);
    let near = text.floor_char_boundary(end.saturating_sub(NEAR_BYTES));
    match text[near..end].rfind('\n') {
        Some(position) => near + position + 1,
        None => end,
    }
}

/// Where to cut a text of which at most `room` bytes from its end are shown.
fn tail_start(text: &str, room: usize) -> usize {
    let start = text.ceil_char_boundary(text.len().saturating_sub(room));
    if start > 0 && text[..start].ends_with('\n') {
        return start;
    }
    let near = text.floor_char_boundary(start.saturating_add(NEAR_BYTES));
    match text[start..near].find('\n') {
        // A tail that is a single line is better shown in part than not at all.
        Some(position) if start + position + 1 < text.len() => start + position + 1,
        _ => start,
    }
}

fn note(left_out: &str, gap: Option<Gap>, dropped_bytes: u64) -> String {
    let missing = gap.map_or(0, |gap| gap.bytes);
    let bytes = u64::try_from(left_out.len())
        .unwrap_or(u64::MAX)
        .saturating_add(missing);
    // Nobody has counted the lines in a gap.
    let lines = match (gap, left_out.matches('\n').count()) {
        (Some(_), _) | (None, 0) => String::new(),
        (None, count) => format!(" ({count} lines)"),
    };
    let lost = match dropped_bytes.min(bytes) {
        0 => String::new(),
        dropped => format!(", {dropped} of them were not kept"),
    };
    format!("[… {bytes} bytes{lines} of output left out{lost}; {ADVICE} …]")
}

#[cfg(test)]
mod tests;
