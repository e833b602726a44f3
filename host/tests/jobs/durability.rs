//! Once, ever; and the truth, whoever was killed.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::atomic::{AtomicUsize, Ordering};

use backburner::jobs::{End, Jobs, Loss, StartError, State, StopCause, StopReason};
use rustix::process::{Pid, Signal, kill_process};
use uuid::Uuid;

use crate::lab::{Lab, eventually, fresh_id, processes_of, runs, shell, wait_for_end};

pub(crate) fn kill(pid: &str) {
    let number = pid
        .parse()
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process id");
    kill_process(number, Signal::KILL).expect("it is ours");
}

/// A job whose supervisor was killed, and the process that it has left.
pub(crate) fn orphaned(lab: &Lab) -> (Uuid, String) {
    let id = lab.start(&shell("setsid sleep 68 & echo $! $PPID; wait"));
    let (left, supervisor) = two_pids(lab, id);
    kill(&supervisor);
    eventually("the supervisor has ended", || {
        (!runs(&supervisor)).then_some(())
    });
    (id, left)
}

/// The two process ids that a job writes in its first line.
fn two_pids(lab: &Lab, id: Uuid) -> (String, String) {
    let line = lab.first_line(id);
    let (one, other) = line.split_once(' ').expect("two process ids");
    (one.to_owned(), other.to_owned())
}

#[test]
fn an_id_is_started_once() {
    let lab = Lab::new();
    let (id, before) = lab.run(&shell("echo once"));
    let again = lab.jobs.start(id, &shell("echo twice"));
    assert!(matches!(again, Err(StartError::AlreadyKnown)), "{again:?}");
    assert_eq!((lab.outcome(id), lab.text(id).as_str()), (before, "once\n"));
}

#[test]
fn of_many_starts_of_one_id_one_succeeds() {
    let lab = Lab::new();
    let other = lab.second_engine();
    let id = fresh_id();
    let started = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let jobs = if number % 2 == 0 { &lab.jobs } else { &other };
                scope.spawn(move || jobs.start(id, &shell("echo here")).is_ok())
            })
            .collect();
        threads
            .into_iter()
            .filter_map(|it| it.join().expect("no panic").then_some(()))
            .count()
    });
    assert_eq!(started, 1);
    lab.outcome(id);
    assert_eq!(lab.text(id), "here\n");
}

#[test]
fn what_is_stopped_before_its_start_never_starts() {
    let lab = Lab::new();
    let id = fresh_id();
    lab.cancel(id);
    let outcome = lab.outcome(id);
    assert_eq!(
        outcome.end,
        End::Lost {
            kind: Loss::NeverStarted
        }
    );
    assert_eq!(outcome.stopped, Some(StopCause::Cancelled));
    assert!(matches!(
        lab.jobs.start(id, &shell("true")),
        Err(StartError::AlreadyKnown)
    ));
    lab.jobs
        .stop(id, StopReason::Expired)
        .expect("it can be stopped again");
    assert_eq!(lab.outcome(id), outcome);
    assert!(lab.jobs.read(id, 0, 10).expect("it can be read").is_empty());
}

#[test]
fn a_start_that_fails_leaves_no_job() {
    let lab = Lab::new();
    let id = fresh_id();
    let mut spec = shell("true");
    spec.directory = Some("/no/such/place".into());
    let failed = lab.jobs.start(id, &spec);
    assert!(
        matches!(failed, Err(StartError::NoDirectory(_))),
        "{failed:?}"
    );
    assert_eq!(
        lab.jobs.inspect(id).expect("it can be inspected"),
        State::Unknown
    );
    lab.jobs
        .start(id, &shell("true"))
        .expect("the id is still free");
    lab.outcome(id);
}

#[test]
fn a_supervisor_that_cannot_be_started_leaves_no_job() {
    let lab = Lab::new();
    let data =
        cap_std::fs::Dir::open_ambient_dir(lab.data_directory(), cap_std::ambient_authority());
    let data = data.expect("it is there");
    let program = "/no/such/program".into();
    let jobs = backburner::jobs::SupervisedJobs::open(&data, lab.data_directory(), program);
    let jobs = jobs.expect("it can be opened");
    let id = fresh_id();
    let failed = jobs.start(id, &shell("true"));
    assert!(
        matches!(failed, Err(StartError::Supervisor(_))),
        "{failed:?}"
    );
    assert_eq!(
        jobs.inspect(id).expect("it can be inspected"),
        State::Unknown
    );
    let left = fs::read_dir(lab.data_directory().join("jobs/.workshop")).expect("it is there");
    assert_eq!(left.count(), 0);
}

#[test]
fn a_start_that_fails_never_looks_like_a_job_that_lost_its_supervisor() {
    let lab = Lab::new();
    let jobs = crate::lab::engine(lab.data_directory(), "/no/such/program".as_ref());
    let ids: Vec<_> = (0..200).map(|_| fresh_id()).collect();
    let failed = AtomicUsize::new(0);
    let (others, places) = (&lab.jobs, lab.data_directory().join("jobs"));
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            while let Some(id) = ids.get(failed.load(Ordering::Relaxed)) {
                let seen = others.inspect(*id).expect("it can be inspected");
                assert!(!matches!(seen, State::Ended(_)), "{seen:?}");
                let place = places.join(id.to_string());
                assert!(!seems_dead(&place), "while it is there");
            }
        });
        for id in &ids {
            let error = jobs.start(*id, &shell("true"));
            assert!(matches!(error, Err(StartError::Supervisor(_))), "{error:?}");
            failed.fetch_add(1, Ordering::Relaxed);
        }
        watching.join().expect("it never did");
    });
}

/// Watches a job from its first instant on, if it is met in it: whether the end of its supervisor is seen before its
/// directory is away.
fn seems_dead(directory: &std::path::Path) -> bool {
    let alive = fs::File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(directory.join("alive"));
    let Ok(mut alive) = alive else { return false };
    while alive.read(&mut [0]).is_err() {}
    directory.exists()
}

#[test]
fn what_could_not_be_read_again_is_not_started() {
    let lab = Lab::new();
    let id = fresh_id();
    let mut spec = shell("wc -c");
    // Each is written as six bytes.
    spec.stdin = "\u{1}".repeat(3 << 20);
    let failed = lab.jobs.start(id, &spec);
    assert!(matches!(failed, Err(StartError::BadSpec(_))), "{failed:?}");
    let seen = lab.jobs.inspect(id).expect("it can be inspected");
    assert_eq!(seen, State::Unknown);
    spec.stdin = "\u{1}".repeat(2 << 20);
    let (id, _) = lab.run(&spec);
    assert_eq!(lab.text(id).trim(), (2 << 20).to_string());
}

#[test]
fn a_stop_ends_what_a_killed_supervisor_has_left() {
    let lab = Lab::new();
    let (id, left) = orphaned(&lab);
    lab.cancel(id);
    eventually("what it left has ended", || (!runs(&left)).then_some(()));
    assert!(lab.directory(id).join("outcome.json").exists());
    assert_eq!(lab.outcome(id).stopped, None);
}

#[test]
fn a_job_with_an_outcome_is_not_buried_by_a_late_stop() {
    let lab = Lab::new();
    let (id, outcome) = lab.run(&shell("true"));
    fs::remove_file(lab.directory(id).join("control")).expect("it is there");
    let mut other = Stranger::new(Some(id));
    lab.cancel(id);
    assert!(other.runs());
    assert_eq!(lab.outcome(id), outcome);
}

#[test]
fn two_engines_see_the_same() {
    let lab = Lab::new();
    let id = lab.start(&shell("echo up; sleep 60"));
    let other = lab.second_engine();
    assert!(matches!(other.inspect(id), Ok(State::Running(_))));
    lab.first_line(id);
    other
        .stop(id, StopReason::Cancelled)
        .expect("it can be stopped");
    wait_for_end(&other, id);
    let State::Ended(seen) = other.inspect(id).expect("it can be inspected") else {
        panic!("it has ended");
    };
    assert_eq!(seen, lab.outcome(id));
    assert_eq!(other.read(id, 0, 10), lab.jobs.read(id, 0, 10));
}

#[test]
fn a_killed_supervisor_is_a_lost_job_of_which_nothing_runs() {
    let lab = Lab::new();
    let line = "setsid sleep 62 & sleep 63 & echo $PPID; wait";
    let id = lab.start(&shell(line));
    let supervisor = lab.first_line(id);
    kill(&supervisor);
    wait_for_end(&lab.jobs, id);
    let other = lab.second_engine();
    let (here, there) = std::thread::scope(|scope| {
        let there = scope.spawn(|| other.inspect(id));
        (lab.jobs.inspect(id), there.join().expect("no panic"))
    });
    assert_eq!(here, there, "the first burial's outcome is everybody's");
    let Ok(State::Ended(outcome)) = here else {
        panic!("it has ended: {here:?}");
    };
    assert_eq!(
        outcome.end,
        End::Lost {
            kind: Loss::Supervisor
        }
    );
    assert_eq!(outcome.output_bytes, supervisor.len() as u64 + 1);
    assert_eq!(processes_of(id), [""; 0]);
    assert_eq!(lab.outcome(id), outcome, "it never changes");
}

#[test]
fn a_process_with_another_environment_and_group_is_found_in_the_session() {
    let lab = Lab::new();
    // The second one is what shows that the session is still the job's.
    let line = "set -m; env -i sleep 66 & bare=$!; sleep 67 & echo $bare $PPID; wait";
    let id = lab.start(&shell(line));
    let (bare, supervisor) = two_pids(&lab, id);
    kill(&supervisor);
    let outcome = lab.outcome(id);
    assert_eq!(
        outcome.end,
        End::Lost {
            kind: Loss::Supervisor
        }
    );
    assert!(!runs(&bare), "{outcome:?}");
}

#[test]
fn the_command_dies_with_its_supervisor_before_anybody_looks() {
    let lab = Lab::new();
    let id = lab.start(&shell("echo $$ $PPID; while :; do :; done"));
    let (command, supervisor) = two_pids(&lab, id);
    kill(&supervisor);
    eventually("the command is killed by the kernel", || {
        (!runs(&command)).then_some(())
    });
}

#[test]
fn a_killed_command_is_told_from_a_killed_supervisor() {
    let lab = Lab::new();
    let id = lab.start(&shell("echo $$; sleep 60"));
    kill(&lab.first_line(id));
    let end = lab.outcome(id).end;
    assert!(
        matches!(end, End::Signalled { ref signal, .. } if signal == "SIGKILL"),
        "{end:?}"
    );
}

#[test]
fn a_job_of_another_boot_is_lost_and_its_numbers_are_nobodys() {
    let lab = Lab::new();
    let (id, _) = lab.run(&shell("echo before"));
    let directory = lab.directory(id);
    fs::remove_file(directory.join("outcome.json")).expect("it is there");
    let spec = fs::read_to_string(directory.join("spec.jsonl")).expect("it is there");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("it is there");
    let other = spec.replace(boot.trim(), "another-boot");
    fs::write(directory.join("spec.jsonl"), other).expect("it is writable");
    let mut stranger = Stranger::with_the_number_of(&directory);

    let outcome = lab.outcome(id);
    assert_eq!(
        outcome.end,
        End::Lost {
            kind: Loss::Machine
        }
    );
    assert_eq!(outcome.output_bytes, 7);
    assert!(stranger.runs(), "a stranger is left alone");
}

#[test]
fn a_job_whose_record_a_power_failure_took_is_lost_with_its_machine() {
    let lab = Lab::new();
    for lost in [Some(""), Some("{\"format\":1,\"cont"), None] {
        let (id, directory) = without_outcome(&lab);
        let record = directory.join("spec.jsonl");
        match lost {
            Some(text) => fs::write(record, text).expect("it is writable"),
            None => fs::remove_file(record).expect("it is there"),
        }
        set_back(&directory.join("alive"));
        let end = lab.outcome(id).end;
        assert_eq!(
            end,
            End::Lost {
                kind: Loss::Machine
            }
        );
    }
}

#[test]
fn a_recycled_process_id_is_left_alone_in_the_same_boot_too() {
    let lab = Lab::new();
    let (id, directory) = without_outcome(&lab);
    let mut stranger = Stranger::with_the_number_of(&directory);
    assert_eq!(lab.outcome(id).end, End::Lost { kind: Loss::Files });
    assert!(stranger.runs(), "a stranger is left alone");
}

#[test]
fn the_numbers_of_another_container_are_nobodys() {
    let lab = Lab::new();
    let own = fs::metadata("/proc/self/ns/pid")
        .expect("it is there")
        .ino();
    let member = format!(r#","pid_namespace":{own}"#);
    // Of this container, of another one, and of a version that did not say.
    for (said, is_killed) in [
        (member.clone(), true),
        (r#","pid_namespace":17"#.to_owned(), false),
        (String::new(), true),
    ] {
        let (id, directory) = without_outcome(&lab);
        let mut process = Stranger::new(None);
        claim(&directory, process.id(), start_ticks(process.id()));
        let record = directory.join("spec.jsonl");
        let text = fs::read_to_string(&record).expect("it is there");
        assert!(text.contains(&member), "{text}");
        fs::write(&record, text.replace(&member, &said)).expect("it is writable");
        let kind = Loss::Files;
        assert_eq!(lab.outcome(id).end, End::Lost { kind }, "{said}");
        assert_eq!(process.runs(), !is_killed, "{said}");
    }
}

/// A job that has ended and whose outcome is gone, and its directory.
fn without_outcome(lab: &Lab) -> (uuid::Uuid, std::path::PathBuf) {
    let (id, _) = lab.run_with_supervisor(&shell("true"));
    let directory = lab.directory(id);
    fs::remove_file(directory.join("outcome.json")).expect("it is there");
    (id, directory)
}

/// A process that no job has started; it ends with the test.
struct Stranger(std::process::Child);

impl Stranger {
    /// With the id of a job in its environment, or without any.
    fn new(job: Option<Uuid>) -> Self {
        let mut sleep = std::process::Command::new("sleep");
        let job = job.map(|id| ("BACKBURNER_TASK_ID", id.to_string()));
        Self(sleep.arg("1000").envs(job).spawn().expect("it exists"))
    }

    /// One that happens to have the number that is recorded for a job's command, and began at another time.
    fn with_the_number_of(directory: &std::path::Path) -> Self {
        let stranger = Self::new(None);
        claim(directory, stranger.id(), 1);
        stranger
    }

    fn id(&self) -> u32 {
        self.0.id()
    }

    fn runs(&mut self) -> bool {
        self.0.try_wait().expect("it is ours").is_none()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        // It has ended already where a test had it killed.
        let _ended = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// When a process was started, in ticks since boot.
fn start_ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let (_, rest) = stat.rsplit_once(')').expect("its name is in parentheses");
    let ticks = rest.split_whitespace().nth(19);
    ticks.and_then(|it| it.parse().ok()).expect("a number")
}

#[test]
fn a_job_is_forgotten_only_after_its_end() {
    let lab = Lab::new();
    let id = lab.start(&shell("echo up; sleep 60"));
    lab.first_line(id);
    assert!(lab.jobs.forget(id).is_err());
    assert!(matches!(lab.jobs.inspect(id), Ok(State::Running(_))));
    lab.cancel(id);
    lab.outcome(id);
    lab.jobs.forget(id).expect("it has ended");
    lab.jobs.forget(id).expect("it is idempotent");
    assert_eq!(
        lab.jobs.inspect(id).expect("it can be inspected"),
        State::Unknown
    );
    assert!(!lab.directory(id).exists());
    assert!(lab.jobs.read(id, 0, 10).expect("it can be read").is_empty());
}

#[test]
fn rubbish_of_a_crash_is_cleared_away_when_it_is_old() {
    let lab = Lab::new();
    let workshop = lab.data_directory().join("jobs/.workshop");
    for name in ["new-old", "new-fresh"] {
        fs::create_dir(workshop.join(name)).expect("the name is new");
    }
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
    let old = fs::File::open(workshop.join("new-old")).expect("it is there");
    old.set_modified(past).expect("it is ours");
    drop(lab.second_engine());
    assert!(!workshop.join("new-old").exists());
    assert!(
        workshop.join("new-fresh").exists(),
        "somebody may be at work in it"
    );
}

/// Makes a FIFO look as if it were made before this boot.
fn set_back(fifo: &std::path::Path) {
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
    let held = fs::File::options().read(true).write(true).open(fifo);
    let held = held.expect("a FIFO that is opened for both does not wait");
    held.set_modified(long_ago).expect("it is ours");
}

/// Makes a job's record say that its command is the process of this number that was started at this time, in ticks.
fn claim(directory: &std::path::Path, pid: u32, start_ticks: u64) {
    let path = directory.join("spec.jsonl");
    let text = fs::read_to_string(&path).expect("it is there");
    let kept: Vec<&str> = text.lines().take(2).collect();
    let started = format!(
        r#"{{"format":1,"content":{{"pid":{pid},"start_ticks":{start_ticks},"session":{pid}}}}}"#
    );
    fs::write(path, format!("{}\n{started}", kept.join("\n"))).expect("it is writable");
}
