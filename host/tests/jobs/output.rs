//! What a job wrote: every byte, in order, bounded, also on a full disk.

use std::fs;

use backburner::jobs::{End, Jobs, Spec, Stream};
use uuid::Uuid;

use crate::lab::{Lab, program, shell};
use crate::privilege::SmallDisk;

#[test]
fn bytes_are_kept_as_they_are_with_their_stream() {
    let lab = Lab::new();
    let line = r"printf 'a\377\000\303'; sleep 0.1; printf 'oops\200' >&2; sleep 0.1; printf 'z'";
    let (id, outcome) = lab.run(&shell(line));
    let found: Vec<_> = lab
        .fragments(id)
        .into_iter()
        .map(|it| (it.offset, it.stream, it.bytes))
        .collect();
    let wanted = [
        (0, Stream::Stdout, b"a\xff\0\xc3".to_vec()),
        (4, Stream::Stderr, b"oops\x80".to_vec()),
        (9, Stream::Stdout, b"z".to_vec()),
    ];
    assert_eq!(found, wanted);
    assert_eq!((outcome.output_bytes, outcome.dropped_bytes), (10, 0));
}

#[test]
fn any_offset_can_be_read_while_the_job_runs_and_after() {
    let lab = Lab::new();
    let id = lab.start(&shell("printf 'caf\\303\\251\\n'; sleep 60"));
    lab.first_line(id);
    let progress = lab.progress(id);
    assert_eq!(progress.output_bytes, 6);
    assert!(
        progress
            .last_output_at
            .is_some_and(|at| at + 60_000 > progress.started_at)
    );
    for _ in 0..2 {
        let inside = lab.jobs.read(id, 4, 1).expect("it can be read");
        assert_eq!(
            (inside[0].offset, inside[0].bytes.as_slice()),
            (4, b"\xa9".as_slice())
        );
        assert!(lab.jobs.read(id, 6, 10).expect("it can be read").is_empty());
        assert_eq!(
            lab.jobs.read(id, 5, 0).expect("it can be read")[0].bytes,
            b"\n"
        );
        lab.cancel(id);
        lab.outcome(id);
    }
}

#[test]
fn a_torrent_stays_within_its_limit_and_keeps_both_ends() {
    let lab = Lab::new();
    let line = "echo first; yes | head -c 50000000; echo last";
    let (id, outcome) = lab.run(&Spec {
        output_limit_bytes: 100_000,
        ..shell(line)
    });
    assert_eq!(outcome.output_bytes, 50_000_011);
    let fragments = lab.fragments(id);
    let kept: u64 = fragments.iter().map(|it| it.bytes.len() as u64).sum();
    assert_eq!(outcome.dropped_bytes, 50_000_011 - kept);
    assert!(kept > 80_000, "{kept} of 100000 bytes are used");
    let text = lab.text(id);
    assert!(text.starts_with("first\ny\n") && text.ends_with("y\nlast\n"));
    let files = fs::read_dir(lab.directory(id))
        .expect("it is there")
        .filter_map(Result::ok);
    let output = files.filter(|file| {
        let name = file.file_name().into_string().expect("we chose it");
        name.starts_with("out-") || name.starts_with("idx-")
    });
    let on_disk: u64 = output
        .map(|file| file.metadata().expect("it is there").len())
        .sum();
    assert!(on_disk <= 100_000, "{on_disk}");
}

#[test]
fn a_disk_that_takes_no_more_costs_output_and_not_the_job() {
    // A limit on the size of files fails as a full disk does, and needs no privilege.
    let lab = Lab::with_prelude("ulimit -f 32");
    let line = "head -c 300000 /dev/zero; echo end; exit 6";
    let (id, outcome) = lab.run(&shell(line));
    assert_eq!(outcome.end, End::Exited { code: 6 });
    assert_eq!(outcome.output_bytes, 300_004);
    let kept: u64 = lab
        .fragments(id)
        .iter()
        .map(|it| it.bytes.len() as u64)
        .sum();
    assert_eq!(kept + outcome.dropped_bytes, 300_004);
    assert!(outcome.dropped_bytes > 0 && kept > 0, "{outcome:?}");
}

#[test]
fn a_full_disk_costs_output_and_not_the_outcome() {
    let place = tempfile::tempdir().expect("there is room");
    let Some(_disk) = SmallDisk::mount(place.path(), "1m") else {
        // Only a privileged user can have a disk of its own; the test above needs no privilege.
        return;
    };
    let lab = Lab::on(place.path());
    let line = "echo up; sleep 0.1; head -c 3000000 /dev/zero; sleep 0.1; exit 8";
    for reserve in ["kept", "lost"] {
        let id = lab.start(&Spec {
            output_limit_bytes: 64 << 20,
            ..shell(line)
        });
        lab.first_line(id);
        if reserve == "lost" {
            // The room for the outcome has to be made from output.
            fs::remove_file(lab.directory(id).join("outcome.reserve")).expect("it is there");
        }
        let outcome = lab.outcome(id);
        assert_eq!(outcome.end, End::Exited { code: 8 });
        assert_eq!(outcome.output_bytes, 3_000_003);
        let kept: u64 = lab
            .fragments(id)
            .iter()
            .map(|it| it.bytes.len() as u64)
            .sum();
        assert_eq!(
            kept + outcome.dropped_bytes,
            3_000_003,
            "with the reserve {reserve}"
        );
        assert!(outcome.dropped_bytes > 0);
        lab.jobs.forget(id).expect("it has ended");
    }
}

#[test]
fn writes_are_in_their_order_across_both_streams() {
    let lab = Lab::new();
    // No more than the pipes hold, so that the order does not depend on how busy the machine is.
    let line = "for i in {1..30}; do echo o$i; echo e$i >&2; done";
    let (id, _) = lab.run(&program(&["bash", "-c", line]));
    let wanted: String = (1..=30).map(|i| format!("o{i}\ne{i}\n")).collect();
    assert_eq!(lab.text(id), wanted);
    let fragments = lab.fragments(id);
    let streams = [Stream::Stdout, Stream::Stderr].into_iter().cycle();
    let mut pairs = fragments.iter().zip(streams);
    assert!(pairs.all(|(fragment, stream)| fragment.stream == stream));
    assert_eq!(fragments.len(), 60);
}

#[test]
fn the_order_is_kept_while_the_supervisor_does_not_keep_up() {
    let lab = Lab::new();
    let line =
        "kill -STOP $PPID; for i in {1..30}; do echo o$i; echo e$i >&2; done; kill -CONT $PPID";
    let (id, _) = lab.run(&program(&["bash", "-c", line]));
    let wanted: String = (1..=30).map(|i| format!("o{i}\ne{i}\n")).collect();
    assert_eq!(lab.text(id), wanted);
}

#[test]
fn a_job_that_fills_both_pipes_loses_nothing() {
    let lab = Lab::new();
    // Stopped, so that the job has to wait for room; then the order across the streams is an estimate.
    let line = "kill -STOP $PPID; (sleep 0.3; kill -CONT $PPID) & \
        for i in {1..300}; do echo o$i; echo e$i >&2; done; wait";
    let (id, _) = lab.run(&program(&["bash", "-c", line]));
    for (stream, letter) in [(Stream::Stdout, 'o'), (Stream::Stderr, 'e')] {
        let wanted: String = (1..=300).map(|i| format!("{letter}{i}\n")).collect();
        assert!(
            of_stream(&lab, id, stream) == wanted.as_bytes(),
            "{stream:?}"
        );
    }
}

#[test]
fn a_trace_is_in_its_place() {
    let lab = Lab::new();
    let line = "set -x; echo one; ls /no/such/place; echo two >&2; /bin/echo three";
    let (id, _) = lab.run(&shell(line));
    let text = lab.text(id);
    let (before, after) = text.split_once("ls: ").expect("ls complains");
    assert!(
        before.ends_with("+ echo one\none\n+ ls /no/such/place\n"),
        "{text}"
    );
    let after = after.split_once('\n').expect("ls complains in a line").1;
    assert_eq!(after, "+ echo two\ntwo\n+ /bin/echo three\nthree\n");
}

#[test]
fn large_writes_are_whole_within_their_stream() {
    let lab = Lab::new();
    let line = "for i in 1 2 3 4 5 6 7 8; do \
        head -c 100000 /dev/zero | tr '\\0' $i; head -c 100000 /dev/zero | tr '\\0' $i >&2; done";
    let (id, outcome) = lab.run(&Spec {
        output_limit_bytes: 16 << 20,
        ..shell(line)
    });
    assert_eq!(
        (outcome.output_bytes, outcome.dropped_bytes),
        (1_600_000, 0)
    );
    let wanted: Vec<u8> = (b'1'..=b'8').flat_map(|it| vec![it; 100_000]).collect();
    for stream in [Stream::Stdout, Stream::Stderr] {
        assert!(of_stream(&lab, id, stream) == wanted, "{stream:?}");
    }
}

#[test]
fn too_many_signals_cost_the_order_and_no_byte() {
    let lab = Lab::with_prelude("prlimit --sigpending=8 --pid $$ 2>/dev/null");
    let line = "kill -STOP $PPID; (sleep 0.1; kill -CONT $PPID) & \
        for i in {1..3000}; do echo o$i; echo e$i >&2; done; wait";
    let (id, outcome) = lab.run(&program(&["bash", "-c", line]));
    assert_eq!(outcome.dropped_bytes, 0);
    for (stream, letter) in [(Stream::Stdout, 'o'), (Stream::Stderr, 'e')] {
        let wanted: String = (1..=3000).map(|i| format!("{letter}{i}\n")).collect();
        assert!(
            of_stream(&lab, id, stream) == wanted.as_bytes(),
            "{stream:?}"
        );
    }
}

#[test]
fn programs_that_treat_their_output_in_their_own_way_lose_nothing() {
    let lab = Lab::new();
    let cases = [
        // Opened anew: the kernel merges such writes.
        (
            "for i in 1 2 3; do echo $i >/dev/stdout; echo $i >/proc/self/fd/1; done",
            "1\n1\n2\n2\n3\n3\n",
        ),
        // One pipe into the other, by splicing where the program can do that.
        ("printf 'a\\nb\\n' | tee /dev/stderr | cat", "a\nb\na\nb\n"),
        (
            "head -c 300000 /dev/zero | tr '\\0' x > f$$; cat f$$ > /dev/stdout; rm f$$",
            "",
        ),
        // Both streams in one.
        ("(echo a; echo b >&2; echo c) 2>&1", "a\nb\nc\n"),
        ("exec 1>&-; echo gone 2>/dev/null; echo here >&2", "here\n"),
    ];
    for (line, wanted) in cases {
        let (id, outcome) = lab.run(&Spec {
            directory: Some(lab.data_directory().to_string_lossy().into_owned()),
            ..shell(line)
        });
        let text = lab.text(id);
        if wanted.is_empty() {
            assert!(text == "x".repeat(300_000), "{} of {line}", text.len());
        } else {
            let mut found: Vec<_> = text.lines().collect();
            let mut lines: Vec<_> = wanted.lines().collect();
            if line.contains("tee") {
                found.sort_unstable();
                lines.sort_unstable();
            }
            assert_eq!(found, lines, "{line}");
        }
        assert_eq!(outcome.dropped_bytes, 0);
    }
}

/// What a job wrote to one stream.
fn of_stream(lab: &Lab, id: Uuid, stream: Stream) -> Vec<u8> {
    let fragments = lab.fragments(id).into_iter();
    let own = fragments.filter(|it| it.stream == stream);
    own.flat_map(|it| it.bytes).collect()
}
