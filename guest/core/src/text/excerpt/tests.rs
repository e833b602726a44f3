//! What is kept, and what is said about the rest.

use super::{ADVICE, Excerpt, excerpt};
use crate::text::limits::SHOWN_BYTES;
use crate::text::screen::{Gap, Rendered};

fn shortened(text: &str, gap: Option<Gap>, dropped_bytes: u64) -> Excerpt {
    let text = text.to_owned();
    let excerpt = excerpt(Rendered { text, gap }, dropped_bytes);
    assert!(
        excerpt.text.len() <= SHOWN_BYTES,
        "{} bytes",
        excerpt.text.len()
    );
    excerpt
}

fn gap(first: usize, last: usize, bytes: u64) -> Option<Gap> {
    Some(Gap { first, last, bytes })
}

fn check(text: &str, gap: Option<Gap>, dropped_bytes: u64, expect: &str) {
    let excerpt = shortened(text, gap, dropped_bytes);
    assert_eq!(excerpt.text, expect, "{text:?}");
    assert_eq!(excerpt.shortened, gap.is_some(), "{text:?}");
}

#[test]
fn what_fits_is_whole() {
    check("", None, 0, "");
    check("\n\n", None, 0, "");
    check("\n a\nb \n\n\n", None, 0, "\n a\nb ");
    let fits = "x".repeat(SHOWN_BYTES);
    check(&fits, None, 0, &fits);
}

#[test]
fn a_gap_is_noted_where_it_is() {
    check(
        "one\ntwo\n",
        gap(4, 4, 10),
        0,
        &format!("one\n[… 10 bytes of output left out; {ADVICE} …]\ntwo"),
    );
    check(
        "one\ntwo\n",
        gap(0, 0, 10),
        10,
        &format!("[… 14 bytes of output left out, 10 of them were not kept; {ADVICE} …]\ntwo"),
    );
    check(
        "one\ntwo\n",
        gap(8, 8, 10),
        4,
        &format!("one\ntwo\n[… 10 bytes of output left out, 4 of them were not kept; {ADVICE} …]"),
    );
    check(
        "one\n\n\n\n",
        gap(7, 7, 10),
        0,
        &format!("one\n[… 10 bytes of output left out; {ADVICE} …]"),
    );
    check(
        "",
        gap(0, 0, 10),
        0,
        &format!("[… 10 bytes of output left out; {ADVICE} …]"),
    );
}

#[test]
fn lines_that_a_gap_broke_are_left_out_where_others_are_near() {
    check(
        "one\ntw\nthree\n",
        gap(6, 6, 10),
        0,
        &format!("one\n[… 13 bytes of output left out; {ADVICE} …]\nthree"),
    );
    check(
        "one\nt",
        gap(1, 2, 10),
        0,
        &format!("o\n[… 13 bytes of output left out; {ADVICE} …]\nt"),
    );
    check(
        "abcdef",
        gap(3, 3, 10),
        0,
        &format!("abc\n[… 10 bytes of output left out; {ADVICE} …]\ndef"),
    );
}

#[test]
fn of_several_gaps_one_is_told() {
    check(
        "one\ntwo\nthree\n",
        gap(4, 8, 10),
        0,
        &format!("one\n[… 14 bytes of output left out; {ADVICE} …]\nthree"),
    );
}

#[test]
fn of_many_lines_the_first_and_the_last_ones_stay() {
    let lines: String = (1..=5_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    let excerpt = shortened(&lines, None, 0);
    assert!(excerpt.shortened);
    let (head, rest) = excerpt.text.split_once("[… ").expect("there is a note");
    let (note, tail) = rest.split_once(" …]\n").expect("the note ends its line");
    assert!(head.starts_with("line 1\nline 2\n") && head.ends_with('\n'));
    assert!(tail.starts_with("line ") && tail.ends_with("\nline 5000"));
    let shown = head.lines().count() + tail.lines().count();
    let bytes = lines.len() - head.len() - tail.len() - 1;
    assert_eq!(
        note,
        format!(
            "{bytes} bytes ({} lines) of output left out; {ADVICE}",
            5_000 - shown
        )
    );
    assert!(excerpt.text.len() > SHOWN_BYTES - 256, "the room is used");
}

#[test]
fn a_single_long_line_is_cut_within_but_between_characters() {
    for shift in 0..4 {
        let line = format!("{}{}", "x".repeat(shift), "日本".repeat(20_000));
        let excerpt = shortened(&line, None, 0);
        assert!(
            excerpt
                .text
                .starts_with(&line[..16_000 + shift - 16_000 % 3])
        );
        assert!(excerpt.text.ends_with(&line[line.len() - 15_999..]));
        assert!(!excerpt.text.contains("lines"));
    }
}

#[test]
fn blank_lines_at_the_end_do_not_push_out_the_last_one() {
    let text = format!("{}last\n{}", "filler\n".repeat(10_000), "\n".repeat(40_000));
    assert!(shortened(&text, None, 0).text.ends_with("filler\nlast"));
}

#[test]
fn the_note_fits_with_the_largest_numbers() {
    let head = "é".repeat(SHOWN_BYTES);
    let excerpt = shortened(&head, gap(30_000, 40_000, u64::MAX), u64::MAX);
    assert!(excerpt.text.contains(&format!(
        "[… {} bytes of output left out, {} of them",
        u64::MAX,
        u64::MAX
    )));
}
