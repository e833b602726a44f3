//! Which file stays when several processes write it, and what is read of each format.

use super::super::conclusion::OUTCOME;
use super::super::model::Outcome;
use super::*;

#[test]
fn every_cause_is_read_as_it_was_written() {
    for cause in [
        StopCause::TimedOut,
        StopCause::Cancelled,
        StopCause::Expired,
        StopCause::ShutDown,
    ] {
        assert_eq!(cause_named(cause_name(cause)), Some(cause));
    }
    assert_eq!(cause_named("something"), None);
}

const WRITTEN: &[u8] = br#"{"format":1,"content":{"started_at":1,"ended_at":3,"duration_ms":2,
    "end":{"signalled":{"signal":"SIGKILL","core_dumped":false}},"stopped":"timed-out",
    "output_bytes":5,"dropped_bytes":0,"leftovers":[{"pid":7,"command":"sleep 9"}]}}"#;

fn written() -> Outcome {
    decode(WRITTEN).expect("format 1 is read")
}

fn scratch() -> (tempfile::TempDir, JobDirectory) {
    let place = tempfile::tempdir().expect("there is room");
    let dir = Dir::open_ambient_dir(place.path(), cap_std::ambient_authority());
    (place, JobDirectory::new(dir.expect("it is there")))
}

fn names(directory: &JobDirectory) -> Vec<String> {
    let entries = directory.dir.entries().expect("it is readable");
    let names = entries.map(|it| it.expect("it is readable").file_name());
    names.map(|it| it.to_string_lossy().into_owned()).collect()
}

#[test]
fn the_first_outcome_stays_whoever_comes_second() {
    let (_place, directory) = scratch();
    let first = written();
    let second = Outcome {
        started_at: 17,
        ..written()
    };
    directory
        .conclude_once(&first, "unique")
        .expect("there is room");
    directory.conclude(&second).expect("there is room");
    directory
        .conclude_once(&second, "other")
        .expect("there is room");
    assert_eq!(directory.outcome().expect("it is whole"), Some(first));
    assert_eq!(names(&directory), [OUTCOME]);
}

#[test]
fn an_outcome_of_a_later_version_stays() {
    let (_place, directory) = scratch();
    let later = br#"{"format":2,"content":{}}"#;
    let create = |name| files::create(&directory.dir, name).expect("the name is new");
    create(OUTCOME).write_all(later).expect("there is room");
    directory.conclude(&written()).expect("there is one");
    let kept = files::read(&directory.dir, OUTCOME).expect("it is readable");
    assert_eq!(kept.as_deref(), Some(&later[..]));
}

#[test]
fn what_replaced_a_damaged_file_meanwhile_is_put_back() {
    let (_place, directory) = scratch();
    directory.conclude(&written()).expect("there is room");
    directory
        .request_stop(StopCause::Cancelled)
        .expect("there is room");
    for name in [OUTCOME, STOP] {
        directory
            .put_aside(name, |_aside| true)
            .expect("it is there");
    }
    assert_eq!(directory.outcome().expect("it is whole"), Some(written()));
    let cause = directory.stop_cause().expect("it is readable");
    assert_eq!(cause, Some(StopCause::Cancelled));
    assert_eq!(names(&directory).len(), 2);
}

#[test]
fn format_1_is_read_for_ever() {
    let outcome = written();
    assert_eq!(outcome.stopped, Some(StopCause::TimedOut));
    assert_eq!(outcome.leftovers[0].command, "sleep 9");
}

#[test]
fn a_newer_format_is_refused_with_what_to_do() {
    let error = decode::<Origin>(br#"{"format":2,"content":17}"#).expect_err("it is newer");
    assert!(error.to_string().contains("newer version"));
}
