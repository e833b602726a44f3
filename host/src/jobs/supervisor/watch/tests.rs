//! What a supervisor makes of an end that no signal tells.
//!
//! It takes leave of every child that there is, so each of these tests has a process of its own.

use std::io::{self, PipeWriter, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::super::super::directory::{Origin, Wakened, record};
use super::super::super::model::{End, Spec};
use super::super::ending;
use super::*;

/// Set in the process of a test.
const VARIABLE: &str = "BACKBURNER_TEST_ALONE";

/// How the command of these tests ends.
const CODE: u8 = 7;

/// What is done between the end of a command and the first turn of its supervisor.
type Meanwhile = fn(&JobDirectory, &PipeWriter);

/// Whether this is the process of the test with this name. Another one runs it there.
fn is_alone(test: &str) -> bool {
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    let name = format!("{}::{test}", module_path!());
    let name = name.split_once("::").map_or(&*name, |(_, name)| name);
    let mut run = Command::new(std::env::current_exe().expect("we run"))
        .args(["--exact", name])
        .env(VARIABLE, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it can be run");
    let give_up_at = Instant::now() + PATIENCE;
    while run.try_wait().expect("it is ours").is_none() {
        if Instant::now() > give_up_at {
            run.kill().expect("it is ours");
            panic!("{name} does not end");
        }
        std::thread::sleep(LOOK);
    }
    let run = run.wait_with_output().expect("it is ours");
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && told.contains("1 passed"), "{told}");
    false
}

/// After so long a test has failed; generous, since machines that run tests are busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(10);

fn furnished(spec: &Spec) -> (tempfile::TempDir, JobDirectory) {
    let place = tempfile::tempdir().expect("there is room");
    let dir = Dir::open_ambient_dir(place.path(), ambient_authority()).expect("it is there");
    let directory = JobDirectory::new(dir);
    let origin = Origin {
        started_at: 17,
        monotonic_ms: 0,
        boot_id: "this one".to_owned(),
        pid_namespace: None,
        time_namespace: None,
    };
    let record = record(&origin, spec).expect("it can be written");
    directory.furnish(&record).expect("there is room");
    (place, directory)
}

/// A command that has ended, and of which nobody has taken leave. What it writes is not at its end.
#[expect(
    clippy::zombie_processes,
    reason = "a supervisor is to take leave of it"
)]
fn ended_command() -> (Spawned, PipeWriter) {
    let (reader, writer) = io::pipe().expect("it can be made");
    rustix::io::ioctl_fionbio(&reader, true).expect("it is a pipe");
    let child = Command::new("sh")
        .args(["-c", &format!("exit {CODE}")])
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("there is a shell");
    let pid = Pid::from_child(&child);
    let ended = waitid(
        WaitId::Pid(pid),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    );
    ended.expect("it is ours");
    let command = Spawned {
        pid,
        feed: Feed::new(None, String::new()),
        streams: Streams::of_terminal(reader.into()),
        terminal: None,
    };
    (command, writer)
}

/// Looks after a job whose command has ended, and whose supervisor hears of this alone.
fn unheard<T>(spec: &Spec, meanwhile: Meanwhile, look: impl FnOnce(Watch<'_, '_>) -> T) -> T {
    let (_place, directory) = furnished(spec);
    let dir = directory.dir().try_clone().expect("it is open");
    let mut post = Post {
        directory: &directory,
        signals: Signals::unheard().expect("there is room"),
        control: directory.open_control().expect("it is there"),
        recorder: Recorder::new(dir, spec.output_limit_bytes),
    };
    let life = Life::new(spec, clock::monotonic_ms());
    let (command, writer) = ended_command();
    meanwhile(&directory, &writer);
    look(Watch::new(&mut post, life, command))
}

fn run(watch: Watch<'_, '_>) -> Over {
    watch.run()
}

/// Sees that the command's own end is told.
fn assert_ends_by_itself(spec: &Spec, meanwhile: Meanwhile) {
    let over = unheard(spec, meanwhile, run);
    let told = (ending::end(over.status), over.stopped);
    assert_eq!(told, (End::Exited { code: CODE }, None));
}

/// An hour, so that who misses the end is not saved by a deadline.
fn spec() -> Spec {
    Spec {
        grace_ms: 3_600_000,
        ..Spec::of_line("")
    }
}

#[test]
fn an_end_that_no_signal_told_comes_before_a_request() {
    if is_alone("an_end_that_no_signal_told_comes_before_a_request") {
        assert_ends_by_itself(&spec(), |directory, _| {
            let cause = directory.request_stop(StopCause::Cancelled);
            assert_eq!(cause.expect("there is room"), StopCause::Cancelled);
            assert_eq!(directory.wake().expect("it is there"), Wakened::Yes);
        });
    }
}

#[test]
fn an_end_that_no_signal_told_comes_before_a_deadline() {
    if is_alone("an_end_that_no_signal_told_comes_before_a_deadline") {
        let timeout_ms = Some(1);
        let limited = Spec {
            timeout_ms,
            ..spec()
        };
        assert_ends_by_itself(&limited, |_, _| {});
    }
}

#[test]
fn an_end_that_no_signal_told_is_seen_when_output_comes() {
    if is_alone("an_end_that_no_signal_told_is_seen_when_output_comes") {
        assert_ends_by_itself(&spec(), |_, mut output| {
            output.write_all(b"x").expect("there is room");
        });
    }
}

#[test]
fn an_end_that_nothing_tells_is_looked_for() {
    let waits_ms = unheard(&spec(), |_, _| {}, |watch| watch.timeout_ms());
    assert_eq!(waits_ms, UNHEARD_LOOK_MS);
}
