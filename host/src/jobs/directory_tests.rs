//! Which file stays when several processes write it, and what is read of each format.

use super::super::conclusion::{Believed, OUTCOME};
use super::super::model::{End, Loss, Outcome};
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

/// A directory with an outcome beside the reserve, as a burial or a job leaves it.
fn unsettled(outcome: &Outcome) -> (tempfile::TempDir, JobDirectory) {
    let (place, directory) = scratch();
    directory
        .conclude_once(outcome, "unique")
        .expect("there is room");
    files::create(&directory.dir, RESERVE).expect("the name is new");
    (place, directory)
}

fn loss() -> Outcome {
    let kind = Loss::Supervisor;
    Outcome {
        end: End::Lost { kind },
        ..written()
    }
}

#[test]
fn nobody_is_told_an_outcome_beside_the_reserve_unless_it_may_be_true() {
    for (outcome, is_true) in [(written(), false), (loss(), true)] {
        let (_place, directory) = unsettled(&outcome);
        let told = directory.settled_outcome().expect("it is readable");
        assert_eq!(told, None);
        let expected = is_true.then_some(outcome);
        let settled = directory.settle().expect("it is readable");
        assert_eq!(settled, expected);
        let told = directory.settled_outcome().expect("it is readable");
        assert_eq!(told, expected);
    }
}

#[test]
fn on_a_full_disk_the_reserve_stays_until_a_loss_is_written_into_it() {
    let (_place, directory) = scratch();
    let held = files::create(&directory.dir, RESERVE).expect("the name is new");
    held.lock().expect("nobody else has it");
    let busy = directory.conclude_in_reserve(&loss());
    let kind = busy.map_err(|error| error.kind());
    assert_eq!(kind, Err(io::ErrorKind::WouldBlock));
    assert_eq!(
        names(&directory),
        [RESERVE],
        "whoever comes next has it too"
    );
    drop(held);
    directory
        .conclude_in_reserve(&loss())
        .expect("nobody writes it");
    let settled = directory.settle().expect("it is readable");
    assert_eq!(settled, Some(loss()));
    assert_eq!(names(&directory), [OUTCOME]);
}

#[test]
fn what_is_not_believed_is_moved_away_and_losses_are_kept_where_they_may_be_true() {
    let cases = [
        (written(), Believed::Losses, false),
        (loss(), Believed::Losses, true),
        (loss(), Believed::Nothing, false),
    ];
    for (outcome, believed, is_kept) in cases {
        let (_place, directory) = unsettled(&outcome);
        directory.disown_outcome(believed).expect("there is room");
        let left = directory.outcome().expect("it is readable");
        assert_eq!(left, is_kept.then_some(outcome), "{believed:?}");
    }
}

#[test]
fn a_supervisor_that_has_gone_is_not_waited_for_and_one_that_stays_is_not_taken_for_gone() {
    let (_place, directory) = scratch();
    native::make_fifo(directory.dir.as_fd(), c"alive").expect("the name is new");
    let held = directory.hold_alive().expect("it is there");
    let Liveness::Alive(alive) = directory.liveness().expect("it is there") else {
        panic!("it is held");
    };
    let is_gone = |limit| {
        let waited = directory.is_gone_within(limit, &alive);
        waited.expect("it can be waited for")
    };
    assert!(!is_gone(Duration::from_millis(1)));
    assert!(directory.has_as_alive(&held).expect("it is there"));
    drop(held);
    // It comes back at once, and so at all.
    assert!(is_gone(Duration::from_secs(3600)));
}

#[test]
fn a_sign_of_life_that_others_may_not_open_is_none() {
    let (place, directory) = scratch();
    native::make_fifo(directory.dir.as_fd(), c"alive").expect("the name is new");
    let held = directory.hold_alive().expect("it is there");
    let closed = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    std::fs::set_permissions(place.path().join(ALIVE), closed).expect("it is ours");
    assert!(!directory.has_as_alive(&held).expect("it is not opened"));
}

#[test]
fn what_the_system_forbids_is_no_damage() {
    for other in [Errno::ACCESS, Errno::PERM, Errno::ROFS, Errno::MFILE] {
        assert!(!is_damage(&other.into()), "{other}");
    }
}

#[test]
fn whether_an_outcome_can_be_kept_is_seen_before_and_leaves_room_for_it() {
    let (_place, directory) = scratch();
    for content in [None, Some("x"), Some("")] {
        if let Some(content) = content {
            directory
                .dir
                .write(RESERVE, content)
                .expect("there is room");
        }
        directory.check_reserve().expect("there is room");
        let length = directory.dir.metadata(RESERVE).expect("it is there").len();
        assert_eq!(length, OUTCOME_RESERVE_BYTES as u64);
        let noted = directory.noted_duration_ms().expect("it is readable");
        assert_eq!(noted, None);
    }
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
