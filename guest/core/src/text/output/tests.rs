//! Output of every kind and size, from reading to text.

use super::{last_line, output};
use crate::imports::Stream::{Stderr, Stdout};
use crate::imports::{End, JobOutcome};
use crate::text::excerpt::ADVICE;
use crate::text::excerpt::Excerpt;
use crate::text::lcg::Lcg;
use crate::text::limits::{LAST_LINE_CHARS, SHOWN_BYTES};
use crate::text::written::Written;

fn shown(mut written: Written, dropped_bytes: u64) -> Excerpt {
    let outcome = JobOutcome {
        started_at: 0,
        ended_at: 0,
        duration_ms: 0,
        end: End::Exited(0),
        stopped: None,
        output_bytes: written.total,
        dropped_bytes,
        leftovers: Vec::new(),
    };
    let excerpt = output(&mut written, "id", &outcome).expect("it can be read");
    assert!(
        excerpt.text.len() <= SHOWN_BYTES,
        "{} bytes",
        excerpt.text.len()
    );
    excerpt
}

fn check(written: Written, expect: &str) {
    let excerpt = shown(written, 0);
    assert_eq!(excerpt.text, expect);
    assert!(!excerpt.shortened);
}

fn check_last_line(mut written: Written, expect: Option<&str>) {
    let total = written.total;
    assert_eq!(last_line(&mut written, "id", total).as_deref(), expect);
}

#[test]
fn short_output_is_whole_however_it_is_read() {
    for reads in [1, 2, 3, 1_000] {
        let written = Written::nothing()
            .then(Stdout, "1 €\n".as_bytes())
            .then(Stderr, b"warning\n")
            .then(Stdout, b"2\r\n");
        check(written.in_reads_of(reads), "1 €\nwarning\n2");
    }
    check(Written::nothing(), "");
}

#[test]
fn a_character_split_over_fragments_is_one() {
    let written = Written::nothing()
        .then(Stdout, b"price: \xf0\x9f")
        .then(Stderr, b"(!)")
        .then(Stdout, b"\x8e")
        .then(Stdout, b"\x89");
    check(written, "price: (!)🎉");
}

#[test]
fn progress_of_any_length_is_its_last_state() {
    let updates: String = (1..=10_000)
        .map(|step| format!("\r\x1b[K{step} of 10000"))
        .collect();
    check(
        Written::text(&format!("begin\n{updates}\nend\n")),
        "begin\n10000 of 10000\nend",
    );
}

#[test]
fn of_five_thousand_lines_the_first_and_the_last_are_shown() {
    let lines: String = (1..=5_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    let excerpt = shown(Written::text(&lines), 0);
    assert!(excerpt.shortened);
    assert!(excerpt.text.starts_with("line 1\nline 2\n"));
    assert!(excerpt.text.ends_with("\nline 4999\nline 5000"));
    let note_end = format!(" lines) of output left out; {ADVICE} …]\n");
    assert!(excerpt.text.contains(&note_end));
}

#[test]
fn of_a_gigabyte_little_is_read_and_the_dropped_part_is_counted() {
    let head: String = (0..200_000)
        .map(|number| format!("head {number}\n"))
        .collect();
    let tail: String = (0..200_000)
        .map(|number| format!("tail {number}\n"))
        .collect();
    let dropped = 1_000_000_000;
    let written = Written::text(&head)
        .then_dropped(dropped)
        .then(Stderr, tail.as_bytes());
    let total = written.total;
    let excerpt = shown(written, dropped);
    assert!(excerpt.text.starts_with("head 0\nhead 1\n"));
    assert!(excerpt.text.ends_with("tail 199998\ntail 199999"));
    let (before, rest) = excerpt.text.split_once("[… ").expect("there is a note");
    let (note, after) = rest.split_once(" …]\n").expect("the note ends its line");
    let shown_bytes = u64::try_from(before.len() + after.len() + 1).expect("it is short");
    let left_out = total - shown_bytes;
    assert_eq!(
        note,
        format!("{left_out} bytes of output left out, {dropped} of them were not kept; {ADVICE}")
    );
}

#[test]
fn output_dropped_within_a_window_is_counted() {
    let written = Written::text("one\n")
        .then_dropped(10)
        .then(Stdout, b"two\n")
        .then_dropped(5);
    let excerpt = shown(written, 15);
    assert!(excerpt.shortened);
    assert_eq!(
        excerpt.text,
        format!("one\n[… 19 bytes of output left out, 15 of them were not kept; {ADVICE} …]")
    );
    let excerpt = shown(Written::nothing().then_dropped(7), 7);
    assert_eq!(
        excerpt.text,
        format!("[… 7 bytes of output left out, 7 of them were not kept; {ADVICE} …]")
    );
}

#[test]
fn a_failure_of_the_host_is_passed_on() {
    let mut written = Written::text("text");
    written.unreadable = true;
    assert_eq!(last_line(&mut written, "id", 4), None);
    let outcome = JobOutcome {
        started_at: 0,
        ended_at: 0,
        duration_ms: 0,
        end: End::Exited(0),
        stopped: None,
        output_bytes: 4,
        dropped_bytes: 0,
        leftovers: Vec::new(),
    };
    let failure = output(&mut written, "id", &outcome).expect_err("nothing can be read");
    assert_eq!(failure.detail, "the disk cannot be read");
}

#[test]
fn the_last_line_is_the_last_that_shows_anything() {
    check_last_line(Written::nothing(), None);
    check_last_line(Written::text("\n \n"), None);
    check_last_line(Written::text("one\ntwo"), Some("two"));
    check_last_line(Written::text("one\n  two\tthree \n\n"), Some("two three"));
    check_last_line(Written::text("one\n10%\r20%\r"), Some("20%"));
    check_last_line(Written::text("one\n20%\r\x1b[K"), Some("one"));
    check_last_line(
        Written::text("\x1b[1;31merror\x1b[0m: no\n"),
        Some("error: no"),
    );
    check_last_line(Written::text("one\n").then_dropped(50), Some("one"));
    check_last_line(
        Written::text("one\na\u{202e}b\u{2028}c\n\u{200b}\u{feff} \n"),
        Some("abc"),
    );
    let joined = "\u{1f468}\u{200d}\u{1f467} \u{645}\u{6cc}\u{200c}\u{62e}";
    check_last_line(
        Written::text(&format!("one\n\u{200d}{joined}\u{200c}\n\u{200d}\n")),
        Some(joined),
    );
}

#[test]
fn the_last_line_is_found_behind_much_output_and_blank_lines() {
    let long = "x".repeat(1_000_000);
    check_last_line(Written::text(&format!("{long}\nend\n")), Some("end"));
    check_last_line(
        Written::text(&format!("end\n{}", "\n".repeat(10_000))),
        Some("end"),
    );
    check_last_line(
        Written::text(&format!("end\n{}", "\n".repeat(1_000_000))),
        None,
    );
    let expect = format!("{}…", "x".repeat(LAST_LINE_CHARS - 1));
    check_last_line(Written::text(&long), Some(&expect));
}

/// Output as a hostile or broken job might write it: lines, progress, sequences whole and cut, raw bytes.
fn random_output(random: &mut Lcg) -> Written {
    let mut written = Written::text("first line\n");
    let pieces = *random.pick(&[0, 3, 100, 3_000]);
    for _ in 0..pieces {
        let stream = *random.pick(&[Stdout, Stdout, Stderr]);
        let repeat = *random.pick(&[1, 1, 5, 300]);
        let piece: &[u8] = random.pick::<&[u8]>(&[
            b"some ordinary text\n",
            b"text",
            b"\r50%",
            b"\r\n",
            b"\n",
            b"\x1b[31m",
            b"\x1b[",
            b"\x1b]0;t",
            b"\x07",
            b"\x1b\\",
            b"\x08",
            b"\xe2\x82",
            b"\xac",
            b"\xff\xfe",
            b"\0",
            "日本🎉".as_bytes(),
            b"\t",
            b"\x1b[999C",
            b"\x1b[K",
            b"\x1b[1K",
            b"\x1b[5D",
            b"\xc2\x9b",
        ]);
        written = written.then(stream, &piece.repeat(repeat));
        if random.below(200) == 0 {
            written = written.then_dropped(1 << random.below(40));
        }
    }
    let generosity = *random.pick(&[5_000, 70_000, usize::MAX]);
    // Whatever either stream was in the middle of ends before the last line.
    written
        .then(Stderr, b"\n")
        .then(Stdout, b"\x1b\\\nlast line\n")
        .in_reads_of(generosity)
}

#[test]
fn any_output_is_clean_bounded_and_has_its_first_and_last_line() {
    for seed in 0..150 {
        let mut written = random_output(&mut Lcg::new(seed));
        let total = written.total;
        assert_eq!(
            last_line(&mut written, "id", total).as_deref(),
            Some("last line"),
            "seed {seed}"
        );
        let text = shown(written, 0).text;
        assert!(text.starts_with("first line"), "seed {seed}: {text:.40}");
        assert!(text.ends_with("\nlast line"), "seed {seed}");
        let dirty = text
            .chars()
            .find(|&c| c.is_control() && c != '\n' && c != '\t');
        assert_eq!(dirty, None, "seed {seed}");
    }
}
