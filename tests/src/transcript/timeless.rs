//! What a message has in common with the same one of another host: all of its bytes but for what no two plays have alike,
//! and three sentences that only the native host says. The README has the list of what is left out; [`PATTERNS`] is it.

use super::matching::{is_key, is_time, is_uuid};

/// A pattern: how many bytes at the beginning of a text it covers, and what is written instead.
type Pattern = fn(&str) -> Option<(usize, &'static str)>;

const PATTERNS: [Pattern; 11] = [
    id,
    state,
    key,
    time,
    measure,
    cancelled,
    duration,
    progress,
    show_command,
    answer_command,
    run_command,
];

/// How long a UUID and a moment are, in bytes.
const ID_BYTES: usize = 36;
const TIME_BYTES: usize = 24;

/// Where a number stands that no two plays have alike, and what is written instead of both.
const MEASURES: [(&str, &str); 4] = [
    ("\"durationMs\":", "\"durationMs\":<int>"),
    ("\"pollIntervalMs\":", "\"pollIntervalMs\":<int>"),
    ("\"pid\":", "\"pid\":<int>"),
    ("(pid ", "(pid <int>"),
];

/// A message without what differs between two plays of the same transcript against the same host.
pub(super) fn timeless(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let found = PATTERNS.iter().find_map(|pattern| pattern(rest));
        let (length, word) = found.unwrap_or_else(|| {
            let length = first.len_utf8();
            (length, &rest[..length])
        });
        text.push_str(word);
        rest = &rest[length..];
    }
    text
}

fn id(text: &str) -> Option<(usize, &'static str)> {
    let is_id = text.get(..ID_BYTES).is_some_and(is_uuid);
    is_id.then_some((ID_BYTES, "<id>"))
}

fn time(text: &str) -> Option<(usize, &'static str)> {
    let is_moment = text.get(..TIME_BYTES).is_some_and(is_time);
    is_moment.then_some((TIME_BYTES, "<time>"))
}

/// What signs a question: it is another one each time.
fn state(text: &str) -> Option<(usize, &'static str)> {
    let value = text.strip_prefix("\"requestState\":\"")?;
    // Nothing in it has to be escaped.
    let end = value.find('"')?;
    Some((text.len() - value.len() + end, "\"requestState\":\"<state>"))
}

/// The key of the only question: it is another one each time.
fn key(text: &str) -> Option<(usize, &'static str)> {
    let begin = "\"inputRequests\":{\"";
    let (key, _) = text.strip_prefix(begin)?.split_once('"')?;
    is_key(key).then_some((begin.len() + key.len(), "\"inputRequests\":{\"<key>"))
}

fn measure(text: &str) -> Option<(usize, &'static str)> {
    MEASURES.iter().find_map(|(key, word)| {
        let number = digits(text.strip_prefix(key)?);
        (number > 0).then_some((key.len() + number, *word))
    })
}

/// How a job ended that was cancelled just after its start: the cancellation may have come before the command was
/// executed, or before it had its own way with SIGTERM.
fn cancelled(text: &str) -> Option<(usize, &'static str)> {
    const WORD: &str = "<cancelled>";
    let before = "stopped before it was executed: it was cancelled";
    if text.starts_with(before) {
        return Some((before.len(), WORD));
    }
    let begin = "cancelled after ";
    let length = begin.len() + duration(text.strip_prefix(begin)?)?.0;
    let ends = [" (killed by SIGTERM)", " (killed by SIGKILL)"];
    let end = ends.iter().find(|end| text[length..].starts_with(**end))?;
    Some((length + end.len(), WORD))
}

/// Such as `850 ms` and `3.2 s`.
fn duration(text: &str) -> Option<(usize, &'static str)> {
    let whole = digits(text);
    let fraction = text[whole..]
        .strip_prefix('.')
        .map_or(0, |it| 1 + digits(it));
    let rest = text[whole + fraction..].strip_prefix(' ')?;
    let unit = rest.len()
        - rest
            .trim_start_matches(|it: char| it.is_ascii_alphabetic())
            .len();
    let is_unit = ["ms", "s", "min", "h", "d"].contains(&&rest[..unit]);
    (whole > 0 && is_unit).then_some((whole + fraction + 1 + unit, "<duration>"))
}

/// What a task says while it works: how far it is when it is asked depends on the machine.
fn progress(text: &str) -> Option<(usize, &'static str)> {
    let message = text.strip_prefix("\"statusMessage\":\"")?;
    let is_progress = ["running for ", "the job is about to start"];
    if !is_progress.iter().any(|it| message.starts_with(it)) {
        return None;
    }
    // A quotation mark inside of it has a backslash before it.
    let end = message.find("\",\"")?;
    Some((
        text.len() - message.len() + end,
        "\"statusMessage\":\"<progress>",
    ))
}

/// The sentence that tells of `backburner show`, which the native host alone has.
fn show_command(text: &str) -> Option<(usize, &'static str)> {
    let (command, _) = text.strip_prefix(" `")?.split_once('`')?;
    let end = "` shows it, in a terminal or as the command of another `run`.";
    let length = " `".len() + command.len();
    text[length..]
        .starts_with(end)
        .then_some((length + end.len(), ""))
}

/// How a question is answered by a client that cannot ask: with `backburner answer`, which the native host alone has.
fn answer_command(text: &str) -> Option<(usize, &'static str)> {
    const WORD: &str = "<answered>";
    let elsewhere = "it is answered by a client that declares the capability `elicitation`";
    if text.starts_with(elsewhere) {
        return Some((elsewhere.len(), WORD));
    }
    let begin = "a person answers it in a terminal by `";
    let (command, _) = text.strip_prefix(begin)?.split_once('`')?;
    Some((begin.len() + command.len() + "`".len(), WORD))
}

/// The words that tell of `backburner run`, which the native host alone has.
fn run_command(text: &str) -> Option<(usize, &'static str)> {
    let (begin, end) = (": with `", "` and the command");
    let (command, _) = text.strip_prefix(begin)?.split_once('`')?;
    let length = begin.len() + command.len();
    text[length..]
        .starts_with(end)
        .then_some((length + end.len(), ""))
}

fn digits(text: &str) -> usize {
    text.len()
        - text
            .trim_start_matches(|it: char| it.is_ascii_digit())
            .len()
}

#[cfg(test)]
mod tests {
    use super::timeless;

    fn check(line: &str, expect: &str) {
        assert_eq!(timeless(line), expect);
    }

    #[test]
    fn only_ids_and_times_are_left_out() {
        check(
            r#"{"id":12,"taskId":"1c3f4a5e-7d21-4f0e-9a86-0d9f6a1b2c3d"}"#,
            r#"{"id":12,"taskId":"<id>"}"#,
        );
        check(
            r#""endedAt":"2026-07-28T12:34:56.789Z","durationMs":17,"ttlMs":18"#,
            r#""endedAt":"<time>","durationMs":<int>,"ttlMs":18"#,
        );
        check(
            "exit code 3 after 3.2 s: é, 7 sheep",
            "exit code 3 after <duration>: é, 7 sheep",
        );
        check(
            r#"{"durationMs":{"minimum":0}}"#,
            r#"{"durationMs":{"minimum":0}}"#,
        );
        check("sleep 5 (pid 77)", "sleep 5 (pid <int>)");
        check(
            r#"{"requestState":"aZ-_0.b","id":1}"#,
            r#"{"requestState":"<state>","id":1}"#,
        );
        check(
            r#"{"inputRequests":{"00004nzq4dara-77":{"method":"x"}}}"#,
            r#"{"inputRequests":{"<key>":{"method":"x"}}}"#,
        );
    }

    #[test]
    fn what_works_says_how_far_it_is() {
        let line = |message: &str| format!(r#"{{"statusMessage":"{message}","ttlMs":null}}"#);
        let left_out = line("<progress>");
        check(&line("the job is about to start"), &left_out);
        check(&line(r#"running for 2 s; last line: \"x\""#), &left_out);
        check(&line("the job was started"), &line("the job was started"));
    }

    #[test]
    fn a_cancellation_is_before_the_start_or_after_it() {
        check(
            "stopped before it was executed: it was cancelled",
            "<cancelled>",
        );
        check("cancelled after 12 ms (killed by SIGTERM)!", "<cancelled>!");
        check("cancelled after 6 s (killed by SIGKILL)", "<cancelled>");
        check(
            "cancelled after 6 s (exit code 1)",
            "cancelled after <duration> (exit code 1)",
        );
    }

    #[test]
    fn the_command_of_the_native_host_is_left_out() {
        check(
            "Ask. `a/backburner show 1` shows it, in a terminal or as the command of another `run`.",
            "Ask.",
        );
        check("Ask. `a` shows more.", "Ask. `a` shows more.");
        let answered = "Which?; <answered>; more";
        check(
            "Which?; a person answers it in a terminal by `a answer 1`; more",
            answered,
        );
        check(
            "Which?; it is answered by a client that declares the capability `elicitation`; more",
            answered,
        );
        check(
            "in a terminal: with `a/backburner run` and the command, where",
            "in a terminal, where",
        );
    }
}
