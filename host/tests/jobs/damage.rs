//! What becomes of a job whose files somebody else deletes or changes: never said to have ended while it lives, always
//! possible to stop, and what happened is told.

use std::fs;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::Path;

use backburner::jobs::{End, Jobs, Loss, Outcome, State, StopCause};
use rustix::process::{Pid, Signal, kill_process};
use uuid::Uuid;

use crate::lab::{Lab, eventually, mkfifo, processes_of, runs, shell};

/// What a job has in its directory while it runs and has written something, and what it will have.
pub(crate) const FILES: [&str; 8] = [
    "spec.jsonl",
    "alive",
    "control",
    "stop",
    "outcome.reserve",
    "outcome.json",
    "out-00000000000000000000",
    "idx-00000000000000000000",
];

/// What is put in the place of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Damage {
    Deleted,
    Emptied,
    Garbage,
    /// Half a record.
    Torn,
    /// A record of something else.
    Other,
    Directory,
    Link,
    Fifo,
    Socket,
    /// A device that never ends; a FIFO where this user cannot make one.
    Device,
    /// More than there is memory.
    Huge,
}

const DAMAGES: [Damage; 11] = [
    Damage::Deleted,
    Damage::Emptied,
    Damage::Garbage,
    Damage::Torn,
    Damage::Other,
    Damage::Directory,
    Damage::Link,
    Damage::Fifo,
    Damage::Socket,
    Damage::Device,
    Damage::Huge,
];

impl Damage {
    pub(crate) fn apply(self, path: &Path) {
        if path.exists() {
            fs::remove_file(path).expect("it is ours");
        }
        match self {
            Self::Deleted => Ok(()),
            Self::Emptied => fs::write(path, ""),
            Self::Garbage => fs::write(path, "\u{0}\u{1}{}\nnull\n"),
            Self::Torn => fs::write(path, "{\"format\":1,"),
            Self::Other => fs::write(path, "{\"format\":1,\"content\":17}"),
            Self::Directory => fs::create_dir(path),
            Self::Link => std::os::unix::fs::symlink("/dev/null", path),
            Self::Fifo => mkfifo(path),
            Self::Socket => socket(path),
            Self::Device => device(path).or_else(|_| mkfifo(path)),
            Self::Huge => fs::File::create(path).and_then(|file| file.set_len(1 << 40)),
        }
        .expect("it is writable");
    }
}

fn socket(path: &Path) -> std::io::Result<()> {
    // By way of the directory: a socket's address has room for a hundred characters.
    let place = fs::File::open(path.parent().expect("it is in a directory"))?;
    let name = path.file_name().expect("it has a name");
    let place = Path::new("/proc/self/fd").join(place.as_raw_fd().to_string());
    std::os::unix::net::UnixListener::bind(place.join(name)).map(|_closed| ())
}

/// `/dev/zero` under another name, which not every user may make.
fn device(path: &Path) -> std::io::Result<()> {
    let mut mknod = std::process::Command::new("mknod");
    let made = mknod
        .arg(path)
        .args(["c", "1", "5"])
        .stderr(std::process::Stdio::null())
        .status()?;
    if made.success() {
        Ok(())
    } else {
        Err(std::io::ErrorKind::PermissionDenied.into())
    }
}

/// A job that runs until it is killed, and the process id of its supervisor.
pub(crate) fn lasting(lab: &Lab) -> (Uuid, String) {
    let id = lab.start(&shell("echo $PPID; while :; do sleep 1000; done"));
    let supervisor = lab.first_line(id);
    (id, supervisor)
}

pub(crate) fn assert_nothing_runs(id: Uuid, supervisor: &str) {
    assert_eq!(processes_of(id), [""; 0]);
    // It says that the job has ended a moment before it ends itself.
    eventually("the supervisor has ended too", || {
        (!runs(supervisor)).then_some(())
    });
}

/// The outcome, which may need a few looks where processes are being killed.
pub(crate) fn outcome(lab: &Lab, id: Uuid) -> Outcome {
    eventually("the job has ended", || {
        match lab.jobs.inspect(id).expect("it can be inspected") {
            State::Ended(outcome) => Some(outcome),
            _ => None,
        }
    })
}

fn lost(kind: Loss) -> End {
    End::Lost { kind }
}

#[test]
fn whatever_is_damaged_a_job_is_ended_only_when_nothing_of_it_runs_and_can_be_stopped() {
    let lab = Lab::new();
    for file in FILES {
        for damage in DAMAGES {
            assert_can_be_stopped(&lab, &format!("{damage:?} {file}"), |directory| {
                damage.apply(&directory.join(file));
            });
        }
    }
}

/// Does this to the directory of a job that runs for ever, and sees that it can be looked at and stopped all the same.
pub(crate) fn assert_can_be_stopped(lab: &Lab, what: &str, damage: impl FnOnce(&Path)) {
    let (id, supervisor) = lasting(lab);
    damage(&lab.directory(id));
    match lab.jobs.inspect(id) {
        Ok(State::Ended(_)) => assert_nothing_runs(id, &supervisor),
        Ok(State::Running(_)) => {}
        other => panic!("{what}: {other:?}"),
    }
    let read = lab.jobs.read(id, 0, 100);
    assert!(read.is_ok(), "{what}: {read:?}");
    lab.cancel(id);
    eventually(&format!("{what}: the job has ended"), || {
        let state = lab.jobs.inspect(id).expect("it can be inspected");
        matches!(state, State::Ended(_)).then_some(())
    });
    assert_nothing_runs(id, &supervisor);
}

#[test]
fn a_job_whose_directory_is_deleted_is_killed_before_it_is_said_to_be_lost() {
    let lab = Lab::new();
    let (id, supervisor) = lasting(&lab);
    fs::remove_dir_all(lab.directory(id)).expect("it is ours");
    assert_eq!(
        lab.jobs.inspect(id).expect("it can be inspected"),
        State::Unknown
    );
    lab.cancel(id);
    let first = outcome(&lab, id);
    assert_eq!((first.end, first.stopped), (lost(Loss::Files), None));
    assert_nothing_runs(id, &supervisor);
    // Whoever killed it may have been killed before writing that down.
    fs::remove_file(lab.directory(id).join("outcome.json")).expect("it is there");
    let again = outcome(&lab, id);
    assert_eq!((again.end, again.stopped), (lost(Loss::Files), None));
}

#[test]
fn a_job_whose_directory_is_replaced_is_killed_before_it_is_said_to_be_lost() {
    let lab = Lab::new();
    for damage in [Damage::Emptied, Damage::Link, Damage::Fifo] {
        let (id, supervisor) = lasting(&lab);
        fs::remove_dir_all(lab.directory(id)).expect("it is ours");
        damage.apply(&lab.directory(id));
        lab.cancel(id);
        assert_eq!(outcome(&lab, id).end, lost(Loss::Files), "{damage:?}");
        assert_nothing_runs(id, &supervisor);
    }
}

#[test]
fn a_cancellation_whose_wake_up_somebody_took_is_heard_at_the_next_look() {
    let lab = Lab::new();
    let (id, supervisor) = lasting(&lab);
    let control = lab.directory(id).join("control");
    let mut thief = fs::File::options()
        .read(true)
        .write(true)
        .open(control)
        .expect("a FIFO that is opened for both does not wait");
    // The supervisor does not look before it goes on, and then there is nothing to see.
    suspend(&supervisor, Signal::STOP);
    lab.cancel(id);
    thief.read_exact(&mut [0]).expect("the wake-up is in it");
    suspend(&supervisor, Signal::CONT);
    drop(thief);
    outcome(&lab, id);
    assert_nothing_runs(id, &supervisor);
}

fn suspend(pid: &str, signal: Signal) {
    let pid = pid.parse().ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process id"), signal).expect("it is ours");
}

#[test]
fn without_its_liveness_a_job_is_killed_before_it_is_said_to_be_lost() {
    let lab = Lab::new();
    let (id, supervisor) = lasting(&lab);
    Damage::Emptied.apply(&lab.directory(id).join("alive"));
    assert_eq!(outcome(&lab, id).end, lost(Loss::Files));
    assert_nothing_runs(id, &supervisor);
}

#[test]
fn a_supervisor_whose_liveness_was_replaced_is_not_said_to_have_been_killed() {
    let lab = Lab::new();
    let (id, supervisor) = lasting(&lab);
    Damage::Fifo.apply(&lab.directory(id).join("alive"));
    assert_eq!(outcome(&lab, id).end, lost(Loss::Files));
    assert_nothing_runs(id, &supervisor);
    fs::remove_file(lab.directory(id).join("outcome.json")).expect("it is there");
    assert_eq!(outcome(&lab, id).end, lost(Loss::Files), "whoever looks");
}

#[test]
fn a_job_that_cannot_hear_a_cancellation_is_cancelled_all_the_same() {
    let lab = Lab::new();
    for damage in [Damage::Deleted, Damage::Garbage] {
        let (id, supervisor) = lasting(&lab);
        damage.apply(&lab.directory(id).join("control"));
        assert!(matches!(lab.jobs.inspect(id), Ok(State::Running(_))));
        lab.cancel(id);
        let outcome = outcome(&lab, id);
        assert_eq!(outcome.stopped, Some(StopCause::Cancelled));
        assert_nothing_runs(id, &supervisor);
    }
}

#[test]
fn a_running_job_does_not_need_its_record_any_more() {
    let lab = Lab::new();
    let id = lab.start(&shell("echo up; read line; echo $line"));
    let before = lab.progress(id);
    lab.first_line(id);
    Damage::Garbage.apply(&lab.directory(id).join("spec.jsonl"));
    if let State::Running(progress) = lab.jobs.inspect(id).expect("it can be inspected") {
        let apart = progress.started_at.abs_diff(before.started_at);
        assert!(apart < 60_000, "{before:?} {progress:?}");
    }
    let end = lab.outcome(id).end;
    assert_eq!(end, End::Exited { code: 0 });
    assert_eq!(lab.text(id), "up\n\n");
}

#[test]
fn an_outcome_that_was_damaged_is_a_loss_and_not_an_error_for_ever() {
    let lab = Lab::new();
    for damage in DAMAGES {
        let (id, _) = lab.run(&shell("echo done"));
        damage.apply(&lab.directory(id).join("outcome.json"));
        let outcome = outcome(&lab, id);
        assert_eq!(outcome.end, lost(Loss::Files), "{damage:?}");
        assert_eq!(lab.outcome(id), outcome, "it never changes");
        assert_eq!(lab.text(id), "done\n");
    }
}

#[test]
fn a_damaged_outcome_of_another_boot_is_not_blamed_on_the_machine() {
    let lab = Lab::new();
    let (id, _) = lab.run(&shell("true"));
    let record = lab.directory(id).join("spec.jsonl");
    let text = fs::read_to_string(&record).expect("it is there");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("it is there");
    fs::write(&record, text.replace(boot.trim(), "another-boot")).expect("it is writable");
    Damage::Torn.apply(&lab.directory(id).join("outcome.json"));
    assert_eq!(outcome(&lab, id).end, lost(Loss::Files));
}

#[test]
fn a_job_ends_whatever_is_in_the_place_of_its_outcome() {
    let lab = Lab::new();
    let gate = lab.fifo("gate");
    for damage in DAMAGES {
        let id = lab.start(&shell(
            "echo up; read -r _ < \"$BACKBURNER_DIR/gate\"; exit 7",
        ));
        lab.first_line(id);
        damage.apply(&lab.directory(id).join("outcome.json"));
        fs::write(&gate, "go\n").expect("the job reads it");
        assert_eq!(lab.outcome(id).end, End::Exited { code: 7 }, "{damage:?}");
    }
}

#[test]
fn a_finished_job_of_this_boot_whose_files_are_gone_is_not_blamed_on_the_machine() {
    let lab = Lab::new();
    let (id, _) = lab.run(&shell("true"));
    for file in ["outcome.json", "spec.jsonl", "alive"] {
        fs::remove_file(lab.directory(id).join(file)).expect("it is there");
    }
    assert_eq!(outcome(&lab, id).end, lost(Loss::Files));
}

#[test]
fn a_later_format_is_no_damage() {
    let lab = Lab::new();
    let (id, _) = lab.run(&shell("true"));
    let later = "{\"format\":2,\"content\":{}}";
    let path = lab.directory(id).join("outcome.json");
    fs::write(&path, later).expect("it is writable");
    let error = lab.jobs.inspect(id).expect_err("it is not understood");
    let words = error.to_string();
    for wanted in [&id.to_string(), "outcome.json", "newer version"] {
        assert!(words.contains(wanted), "{words}");
    }
    assert_eq!(fs::read_to_string(&path).expect("it stays"), later);
}

#[test]
fn a_record_of_a_later_format_is_no_damage() {
    let lab = Lab::new();
    let (id, supervisor) = lasting(&lab);
    let record = lab.directory(id).join("spec.jsonl");
    let text = fs::read_to_string(&record).expect("it is there");
    fs::write(&record, text.replace("\"format\":1", "\"format\":2")).expect("it is writable");
    crate::durability::kill(&supervisor);
    eventually("the supervisor has ended", || {
        (!runs(&supervisor)).then_some(())
    });
    let error = lab.jobs.inspect(id).expect_err("it is not understood");
    assert!(error.to_string().contains("newer version"), "{error}");
    assert!(!lab.directory(id).join("outcome.json").exists());
    fs::write(&record, text).expect("it is writable");
    assert_eq!(outcome(&lab, id).end, lost(Loss::Supervisor));
}
