//! Processes whose main thread has ended while another one goes on. `/proc` shows them as ended, and without an
//! environment; Go programs and whatever calls `pthread_exit` in `main` look like this.
#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "no safe call ends one thread, and only the main thread runs before main"
)]

use std::time::Duration;

use backburner::jobs::{End, Jobs, Loss, Spec, StopCause};
use rustix::process::{Pid, Signal, kill_process};

use crate::lab::{Lab, eventually, processes_of, runs, shell};

/// With this variable the test program is such a process instead. It makes the file that this names when it has lost
/// its main thread and said so.
const VARIABLE: &str = "BACKBURNER_TEST_HEADLESS";

/// The test harness has no place for code on the main thread but the one before its `main`.
#[used]
// SAFETY: the section is for pointers to functions of this form, which are called once, before `main`.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    std::thread::spawn(go_on);
    // SAFETY: this ends the thread without running anything of it any more; what it owned is never freed.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
}

/// Names itself once it has lost its main thread, and is then killed by whom it is about.
fn go_on() {
    let stat = || std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    while !stat().contains(") Z ") {
        std::thread::sleep(Duration::from_millis(1));
    }
    let line = format!("{}\n", std::process::id());
    let _nobody_reads = rustix::io::write(rustix::stdio::stdout(), line.as_bytes());
    let told = std::env::var_os(VARIABLE).unwrap_or_default();
    // Who waits for it waits in vain then, and says so.
    let _untold = std::fs::write(told, "");
    // Longer than any test waits, and not for ever where one has failed.
    std::thread::sleep(Duration::from_secs(120));
}

/// A shell line that starts such a process in a session of its own.
fn line(then: &str) -> String {
    let program = std::env::current_exe().expect("we run");
    format!(
        "{VARIABLE}=\"$BACKBURNER_DIR/told\" setsid '{}' & {then}",
        program.display()
    )
}

fn spec(then: &str) -> Spec {
    Spec {
        grace_ms: 100,
        ..shell(&line(then))
    }
}

/// Its line, and one of the shell's.
fn lines(lab: &Lab, id: uuid::Uuid) -> Vec<String> {
    eventually("both have written a line", || {
        let text = lab.text(id);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        (lines.len() == 2 && text.ends_with('\n')).then_some(lines)
    })
}

fn assert_nothing_runs(id: uuid::Uuid, pid: &str) {
    assert!(!runs(pid), "{pid} runs");
    assert_eq!(processes_of(id), [""; 0]);
}

#[test]
fn what_lost_its_main_thread_is_left_over_named_and_stopped() {
    let lab = Lab::new();
    let (id, outcome) = lab.run(&spec(
        "until [ -e \"$BACKBURNER_DIR/told\" ]; do sleep 0.01; done",
    ));
    assert_eq!(outcome.end, End::Exited { code: 0 });
    let pid = lab.first_line(id);
    let left = outcome.leftovers.first().expect("it was left over");
    assert_eq!(left.pid.to_string(), pid);
    assert!(left.command.starts_with('/'), "{left:?}");
    assert_nothing_runs(id, &pid);
}

#[test]
fn what_lost_its_main_thread_ends_with_a_cancelled_job() {
    let lab = Lab::new();
    let id = lab.start(&spec("wait"));
    let pid = lab.first_line(id);
    lab.cancel(id);
    assert_eq!(lab.outcome(id).stopped, Some(StopCause::Cancelled));
    assert_nothing_runs(id, &pid);
}

#[test]
fn what_lost_its_main_thread_ends_with_the_jobs_time() {
    let lab = Lab::new();
    // The time has to be enough for it to lose its main thread.
    let lost_it = [1_000, 5_000, 20_000].into_iter().any(|timeout_ms| {
        let (id, outcome) = lab.run(&Spec {
            timeout_ms: Some(timeout_ms),
            ..spec("wait")
        });
        assert_eq!(outcome.stopped, Some(StopCause::TimedOut));
        assert_eq!(processes_of(id), [""; 0]);
        let text = lab.text(id);
        let pid = text.lines().next();
        pid.inspect(|pid| assert_nothing_runs(id, pid)).is_some()
    });
    assert!(lost_it);
}

#[test]
fn a_command_that_lost_its_main_thread_runs() {
    let lab = Lab::new();
    let id = lab.start(&shell(&line("").replace("setsid", "exec").replace('&', "")));
    let pid = lab.first_line(id);
    lab.progress(id);
    lab.cancel(id);
    assert_eq!(lab.outcome(id).stopped, Some(StopCause::Cancelled));
    assert_nothing_runs(id, &pid);
}

#[test]
fn what_lost_its_main_thread_does_not_outlive_a_killed_supervisor() {
    let lab = Lab::new();
    let id = lab.start(&spec("echo supervisor $PPID; wait"));
    let lines = lines(&lab, id);
    let (named, pids): (Vec<&String>, Vec<&String>) = lines
        .iter()
        .partition(|line| line.starts_with("supervisor"));
    let supervisor = named[0].split(' ').nth(1).expect("it is there");
    let supervisor = supervisor.parse().ok().and_then(Pid::from_raw);
    kill_process(supervisor.expect("a process id"), Signal::KILL).expect("it is ours");
    let kind = Loss::Supervisor;
    assert_eq!(lab.outcome(id).end, End::Lost { kind });
    assert_nothing_runs(id, pids[0]);
    lab.jobs.forget(id).expect("it has ended");
}
