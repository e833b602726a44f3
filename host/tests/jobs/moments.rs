//! The moments that output is kept with: those at which it was written, and not that of the start or of a look.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use backburner::jobs::{Jobs, Stream};

use crate::lab::{Lab, eventually, shell};

/// How long the job is held up between its two writes: much longer than a write takes to be seen.
const PAUSE: Duration = Duration::from_millis(400);

/// By how much two clocks may be apart: moments are whole milliseconds, and the wall clock is adjusted all the time.
const SKEW_MS: u64 = 20;

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.expect("it is after 1970").as_millis();
    u64::try_from(now).expect("it is not that late")
}

#[test]
fn each_write_has_the_moment_at_which_it_was_made() {
    let lab = Lab::new();
    let gate = lab.fifo("gate");
    let line = format!("echo a; read line < '{}'; echo b >&2", gate.display());
    let before = now_ms();
    let id = lab.start(&shell(&line));
    lab.first_line(id);
    let seen = now_ms();
    let begun = Instant::now();
    // What has to pass is the time itself.
    eventually("a while passes", || {
        (begun.elapsed() >= PAUSE).then_some(())
    });
    let opened = now_ms();
    std::fs::write(&gate, "go on\n").expect("the job reads it");
    let outcome = lab.outcome(id);
    let after = now_ms();

    let fragments = lab.fragments(id);
    let [first, second] = &fragments[..] else {
        panic!("there were two writes: {fragments:?}");
    };
    assert_eq!(
        (first.stream, second.stream),
        (Stream::Stdout, Stream::Stderr)
    );
    let around = |at: u64, from: u64, to: u64| {
        assert!(
            from <= at + SKEW_MS && at <= to + SKEW_MS,
            "{at} is not in {from} to {to}"
        );
    };
    around(first.at, before, seen);
    around(second.at, opened, after);
    around(first.at, outcome.started_at, second.at);
    around(second.at, first.at, outcome.ended_at);
    let distance = second.at - first.at;
    let waited = u64::try_from(PAUSE.as_millis()).expect("it is short");
    assert!(
        distance + SKEW_MS >= waited,
        "{distance} ms apart, and {waited} ms were waited"
    );

    // Whoever looks later sees the same moments.
    let later = lab
        .second_engine()
        .read(id, 0, u32::MAX)
        .expect("it can be read");
    let moments = |of: &[backburner::jobs::Fragment]| of.iter().map(|it| it.at).collect::<Vec<_>>();
    assert_eq!(moments(&later), moments(&fragments));
}

#[test]
fn the_last_output_of_a_job_that_runs_has_its_own_moment() {
    let lab = Lab::new();
    let before = now_ms();
    let id = lab.start(&shell("echo a; exec sleep 60"));
    lab.first_line(id);
    let seen = now_ms();
    let begun = Instant::now();
    // What has to pass is the time itself: a moment of the look would be later by as much.
    eventually("a while passes", || {
        (begun.elapsed() >= PAUSE).then_some(())
    });
    let at = lab.progress(id).last_output_at.expect("it has written");
    assert!(
        before <= at + SKEW_MS && at <= seen + SKEW_MS,
        "{at} is not in {before} to {seen}"
    );
    lab.cancel(id);
    lab.outcome(id);
}
