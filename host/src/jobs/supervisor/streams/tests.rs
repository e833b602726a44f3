//! Announcements and packets, put together.

use super::*;

const PAGE: usize = 4096;
const SLOTS: usize = 4;

fn packets(sizes: &[usize]) -> Packets {
    Packets {
        sizes: sizes.to_vec(),
        ..Packets::new(PAGE, SLOTS)
    }
}

/// What comes of announcements `o` and `e`, and packets of these sizes; `o1` is one byte of stdout.
fn check(announced: &str, stdout: &[usize], stderr: &[usize], wanted: &str) {
    let mut turns = heard(announced);
    let mut taken = [packets(stdout), packets(stderr)];
    for of in [0, 1] {
        let pulled = taken[of].sizes.len();
        turns.compare(of, &mut taken[of], pulled);
    }
    let found = turns.resolve(&mut taken.each_mut(), Rest::Nothing);
    assert_eq!(
        words(&found),
        wanted,
        "of {announced} {stdout:?} {stderr:?}"
    );
    assert!(taken.iter().all(|packets| packets.sizes.is_empty()));
    assert!(turns.runs.is_empty());
}

/// Announcements of what a pipe of any size may hold.
fn heard(announced: &str) -> Turns {
    let mut turns = Turns::default();
    for letter in announced.bytes() {
        turns.push(usize::from(letter == b'e'));
    }
    turns
}

fn words(turns: &[Turn]) -> String {
    let words = turns.iter().map(|turn| {
        let letter = if turn.of == 0 { 'o' } else { 'e' };
        format!("{letter}{}", turn.bytes)
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn each_announcement_is_one_write() {
    check("", &[], &[], "");
    check("oeoo", &[1, 2, 3], &[4], "o1 e4 o5");
    check("eoe", &[3], &[1, 2], "e1 o3 e2");
}

#[test]
fn a_long_write_is_several_packets() {
    check("oeo", &[PAGE, 7, 1], &[2], "o4103 e2 o1");
    check("oeo", &[1, PAGE, 9], &[2], "o1 e2 o4105");
}

#[test]
fn a_full_packet_is_a_write_where_the_count_says_so() {
    check("oeoo", &[PAGE, PAGE, 7], &[2], "o4096 e2 o4103");
    check("oeo", &[PAGE, PAGE], &[2], "o4096 e2 o4096");
}

#[test]
fn a_full_pipe_is_announced_once_more_than_it_is_written() {
    // The fifth of each is the writer that waits, the sixth the same one when it has written.
    check(
        "oeoeoeoeooeeoe",
        &[1; 6],
        &[2; 6],
        "o1 e2 o1 e2 o1 e2 o1 e2 o1 e2 o1 e2",
    );
}

#[test]
fn whoever_waits_for_room_before_anything_was_read_is_not_heard() {
    let mut turns = Turns::default();
    let mut none = packets(&[]);
    let mut empty = packets(&[]);
    turns.announce(
        &[0, 1, 0, 0, 0, 0],
        [SLOTS; 2],
        &mut [&mut none, &mut empty],
    );
    turns.announce(&[0, 1], [5, 5], &mut [&mut none, &mut empty]);
    let mut taken = [packets(&[1; 5]), packets(&[2; 2])];
    let found = turns.resolve(&mut taken.each_mut(), Rest::Nothing);
    assert_eq!(words(&found), "o1 e2 o4 e2");
}

#[test]
fn a_pipe_that_is_closed_is_announced_last() {
    let mut turns = heard("oeoeo");
    let mut taken = [packets(&[1, 1]), packets(&[2, 2])];
    taken[0].closed = true;
    for of in [0, 1] {
        let pulled = taken[of].sizes.len();
        turns.compare(of, &mut taken[of], pulled);
    }
    let found = turns.resolve(&mut taken.each_mut(), Rest::Nothing);
    assert_eq!(words(&found), "o1 e2 o1 e2");
}

#[test]
fn what_is_not_announced_yet_waits() {
    let mut turns = heard("o");
    let mut taken = [packets(&[1, 1]), packets(&[2])];
    let first = turns.resolve(&mut taken.each_mut(), Rest::More);
    turns.announce(&[1, 0], [5, 5], &mut taken.each_mut());
    let second = turns.resolve(&mut taken.each_mut(), Rest::More);
    assert_eq!(
        (words(&first), words(&second)),
        ("o1".into(), "e2 o1".into())
    );
}

#[test]
fn late_announcements_are_in_front() {
    check("oeo", &[1], &[2], "e2 o1");
}

#[test]
fn what_nobody_announces_comes_too() {
    check("o", &[1, 2], &[3], "o3 e3");
    check("", &[1, 2], &[3], "o3 e3");
}

#[test]
fn lost_announcements_cost_the_order_and_no_byte() {
    let mut turns = heard("eoe");
    turns.lose();
    let found = turns.resolve(
        &mut [&mut packets(&[1, 2]), &mut packets(&[3, 4])],
        Rest::Nothing,
    );
    assert_eq!(words(&found), "o3 e7");
    assert!(turns.agree_with([&packets(&[]), &packets(&[])]));
}

#[test]
fn announcements_that_are_lost_while_a_pipe_is_closed_cost_no_byte() {
    for (out, err) in [(&[][..], &[][..]), (&[1], &[2])] {
        let mut turns = heard("oeoeoe");
        let mut taken = [packets(out), packets(err)];
        for of in [0, 1] {
            taken[of].closed = true;
            let pulled = taken[of].sizes.len();
            turns.compare(of, &mut taken[of], pulled);
        }
        turns.lose();
        let found = turns.resolve(&mut taken.each_mut(), Rest::Nothing);
        let given: usize = found.iter().map(|turn| turn.bytes).sum();
        assert_eq!(given, out.iter().chain(err).sum::<usize>());
        assert!(turns.agree_with([&packets(&[]), &packets(&[])]));
    }
}

#[test]
fn false_announcements_take_no_more_than_some_memory() {
    let mut turns = Turns::default();
    for number in 0..3 * WAITING_TURNS {
        turns.push(number % 2);
    }
    assert!(turns.runs.len() <= WAITING_TURNS);
    let found = turns.resolve(&mut [&mut packets(&[1]), &mut packets(&[1])], Rest::Nothing);
    assert_eq!(words(&found), "o1 e1");
}

#[test]
fn whoever_follows_what_did_not_fit_waits() {
    let mut turns = heard("ooe");
    let mut out = packets(&[5]);
    let mut err = packets(&[6]);
    out.reach = Reach::Part;
    assert_eq!(
        words(&turns.resolve(&mut [&mut out, &mut err], Rest::Nothing)),
        "o5"
    );
    assert_eq!(err.sizes, [6]);
    out = packets(&[7]);
    assert_eq!(
        words(&turns.resolve(&mut [&mut out, &mut err], Rest::Nothing)),
        "o7 e6"
    );
}

#[test]
fn both_agree_only_where_nothing_is_missing_and_no_pipe_was_full() {
    let mut turns = heard("o");
    let agrees = |turns: &Turns, out: &[usize], err: &[usize]| {
        turns.agree_with([&packets(out), &packets(err)])
    };
    assert!(agrees(&turns, &[1], &[]));
    assert!(agrees(&turns, &[PAGE, 1], &[]));
    assert!(!agrees(&turns, &[1, 1], &[]));
    assert!(!agrees(&turns, &[1], &[1]));
    for _ in 1..SLOTS {
        turns.push(0);
    }
    let mut full = packets(&[1; SLOTS]);
    assert!(turns.agree_with([&full, &packets(&[])]));
    full.pulled_at_once(SLOTS);
    assert!(!turns.agree_with([&full, &packets(&[])]));
    turns.lose();
    assert!(!agrees(&turns, &[1], &[]));
}
