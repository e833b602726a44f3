//! Recorder and reader together, in a real directory.

use std::path::PathBuf;

use cap_std::ambient_authority;

use super::super::reader::{Request, Writer, read};
use super::super::segments::usage;
use super::*;
use crate::jobs::model::Fragment;

/// A directory that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("backburner-output-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("the name is new");
        Self(path)
    }

    fn dir(&self) -> Dir {
        Dir::open_ambient_dir(&self.0, ambient_authority()).expect("it was just made")
    }

    fn bytes_on_disk(&self) -> u64 {
        let entries = std::fs::read_dir(&self.0).expect("it is there");
        entries
            .map(|entry| {
                entry
                    .expect("it is there")
                    .metadata()
                    .expect("so is it")
                    .len()
            })
            .sum()
    }

    fn read(&self, offset: u64, limit: usize) -> Vec<Fragment> {
        read(
            &self.dir(),
            Request {
                offset,
                limit,
                writer: Writer::Gone,
            },
        )
        .expect("it is readable")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Rubbish in the temporary directory is no reason to fail.
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

fn at(ms: u64) -> Moment {
    Moment {
        wall_ms: 1_000_000 + ms,
        monotonic_ms: ms,
    }
}

/// The byte at an offset of the output that the tests write.
fn byte(offset: u64) -> u8 {
    (offset % 251) as u8
}

fn stream(offset: u64) -> Stream {
    if (offset / 7).is_multiple_of(2) {
        Stream::Stdout
    } else {
        Stream::Stderr
    }
}

/// Writes `total` bytes in pieces of 7, alternating between the streams, one each millisecond.
fn write(recorder: &mut Recorder, total: u64) {
    let mut offset = 0;
    while offset < total {
        let piece: Vec<u8> = (offset..total.min(offset + 7)).map(byte).collect();
        recorder.record(stream(offset), &piece, at(offset));
        offset += piece.len() as u64;
    }
}

fn check(fragments: &[Fragment], from: u64) {
    let mut next = from;
    for fragment in fragments {
        assert!(fragment.offset >= next, "fragments are in order");
        for (place, found) in fragment.bytes.iter().enumerate() {
            let offset = fragment.offset + place as u64;
            assert_eq!(
                (*found, fragment.stream),
                (byte(offset), stream(offset)),
                "at {offset}"
            );
        }
        next = fragment.offset + fragment.bytes.len() as u64;
    }
}

fn len(fragments: &[Fragment]) -> u64 {
    fragments
        .iter()
        .map(|fragment| fragment.bytes.len() as u64)
        .sum()
}

#[test]
fn any_range_of_what_fits_is_read_as_it_was_written() {
    let scratch = Scratch::new();
    let mut recorder = Recorder::new(scratch.dir(), 100_000);
    write(&mut recorder, 1000);
    for offset in 0..1010 {
        for limit in [1, 2, 6, 7, 8, 100, 5000] {
            let found = scratch.read(offset, limit);
            check(&found, offset);
            let wanted = 1000_u64.saturating_sub(offset).min(limit as u64);
            assert_eq!(len(&found), wanted, "{limit} bytes at {offset}");
        }
    }
}

#[test]
fn of_more_than_the_limit_head_and_tail_are_kept_and_the_rest_is_counted() {
    for limit in [0, 1024, 1500, 10_000] {
        let scratch = Scratch::new();
        let mut recorder = Recorder::new(scratch.dir(), limit);
        write(&mut recorder, 50_000);
        let bound = limit.max(LEAST_OUTPUT_LIMIT_BYTES);
        assert!(
            scratch.bytes_on_disk() <= bound,
            "{} of {bound}",
            scratch.bytes_on_disk()
        );
        let found = scratch.read(0, usize::MAX);
        check(&found, 0);
        assert_eq!(found[0].offset, 0, "the beginning is there");
        let last = found.last().expect("there is output");
        assert_eq!(
            last.offset + last.bytes.len() as u64,
            50_000,
            "the end is there"
        );
        assert_eq!(len(&found) + recorder.dropped_bytes(), 50_000);
        let usage = usage(&scratch.dir()).expect("it can be listed");
        assert_eq!(
            (usage.written_bytes, usage.kept_bytes),
            (50_000, len(&found))
        );
    }
}

#[test]
fn every_range_of_capped_output_starts_at_the_first_kept_byte() {
    let scratch = Scratch::new();
    let mut recorder = Recorder::new(scratch.dir(), 2000);
    write(&mut recorder, 20_000);
    let all = scratch.read(0, usize::MAX);
    for offset in (0..20_100).step_by(13) {
        let found = scratch.read(offset, 50);
        check(&found, offset);
        let later = all
            .iter()
            .find(|kept| kept.offset + kept.bytes.len() as u64 > offset);
        let first = later.map(|kept| kept.offset.max(offset));
        assert_eq!(
            found.first().map(|fragment| fragment.offset),
            first,
            "at {offset}"
        );
    }
}

#[test]
fn a_large_piece_is_spread_over_segments() {
    let scratch = Scratch::new();
    let mut recorder = Recorder::new(scratch.dir(), 4096);
    let piece = vec![b'y'; 65_536];
    recorder.record(Stream::Stdout, &piece, at(0));
    assert!(scratch.bytes_on_disk() <= 4096);
    assert_eq!(
        len(&scratch.read(0, usize::MAX)) + recorder.dropped_bytes(),
        65_536
    );
}

#[test]
fn output_of_one_stream_shares_an_entry_only_while_it_is_young() {
    let scratch = Scratch::new();
    let mut recorder = Recorder::new(scratch.dir(), 4096);
    for (ms, text) in [(0, "a"), (49, "b"), (50, "c"), (40, "d")] {
        recorder.record(Stream::Stdout, text.as_bytes(), at(ms));
    }
    let found = scratch.read(0, 100);
    let texts: Vec<_> = found
        .iter()
        .map(|fragment| fragment.bytes.as_slice())
        .collect();
    assert_eq!(
        texts,
        [b"ab".as_slice(), b"c", b"d"],
        "also when the clock goes back"
    );
}

#[test]
fn bytes_without_an_entry_are_standard_output_once_nobody_writes() {
    let scratch = Scratch::new();
    let mut recorder = Recorder::new(scratch.dir(), 4096);
    recorder.record(Stream::Stderr, b"known", at(0));
    let path = scratch.0.join(data_name(0));
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(path)
        .expect("it is there");
    std::io::Write::write_all(&mut file, b"orphan").expect("it is writable");

    let request = Request {
        offset: 0,
        limit: 100,
        writer: Writer::Alive,
    };
    let running = read(&scratch.dir(), request).expect("it is readable");
    assert_eq!(running.len(), 1, "its entry is about to come");
    let ended = scratch.read(0, 100);
    assert_eq!(
        (ended[1].stream, ended[1].bytes.as_slice()),
        (Stream::Stdout, b"orphan".as_slice())
    );
    assert_eq!(scratch.read(8, 100)[0].bytes, b"han");
}

#[test]
fn a_segment_that_is_gone_was_dropped() {
    let scratch = Scratch::new();
    let mut recorder = Recorder::new(scratch.dir(), 2000);
    write(&mut recorder, 20_000);
    let tail = scratch.read(1500, 1)[0].offset;
    delete(&scratch.dir(), tail).expect("it is there");
    let found = scratch.read(1500, usize::MAX);
    check(&found, 1500);
    assert!(found[0].offset > tail);
}

#[test]
fn sacrifice_gives_up_the_beginning_last_and_counts_everything() {
    let scratch = Scratch::new();
    let mut recorder = Recorder::new(scratch.dir(), 2000);
    write(&mut recorder, 20_000);
    while recorder.sacrifice() {
        let found = scratch.read(0, usize::MAX);
        assert_eq!(len(&found) + recorder.dropped_bytes(), 20_000);
    }
    assert_eq!(
        (recorder.dropped_bytes(), scratch.bytes_on_disk()),
        (20_000, 0)
    );
}

#[test]
fn a_disk_that_fails_costs_output_and_nothing_else() {
    let scratch = Scratch::new();
    let mut recorder = Recorder::new(scratch.dir(), 2000);
    recorder.record(Stream::Stdout, b"before", at(0));
    recorder.close();
    let blocked = scratch.0.join(index_name(6));
    std::fs::create_dir(&blocked).expect("nothing has this name");
    recorder.record(Stream::Stdout, b"lost", at(1));
    recorder.record(Stream::Stdout, b"too", at(OUTPUT_RETRY_MS));
    recorder.record(Stream::Stderr, b"after", at(1 + OUTPUT_RETRY_MS));
    let found = scratch.read(0, 100);
    let texts: Vec<_> = found
        .iter()
        .map(|f| (f.offset, f.bytes.as_slice()))
        .collect();
    assert_eq!(texts, [(0, b"before".as_slice()), (13, b"after")]);
    assert_eq!(
        (recorder.written_bytes(), recorder.dropped_bytes()),
        (18, 7)
    );
}
