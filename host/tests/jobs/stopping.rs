//! A job that is stopped: by its owner, by its time, by the machine's shutdown.

use std::os::unix::fs::PermissionsExt;

use backburner::jobs::{End, Jobs, Spec, StopCause, StopReason};
use rustix::process::{Pid, Signal, kill_process};

use crate::lab::{Lab, processes_of, runs, shell};

/// A grace that no test waits for, in milliseconds.
const FOR_EVER_MS: u64 = 600_000;

#[test]
fn a_cancelled_job_is_terminated() {
    let lab = Lab::new();
    let id = lab.start(&Spec {
        grace_ms: FOR_EVER_MS,
        ..shell("echo up; sleep 60; echo never")
    });
    lab.first_line(id);
    lab.cancel(id);
    let outcome = lab.outcome(id);
    assert_eq!(outcome.stopped, Some(StopCause::Cancelled));
    assert!(matches!(outcome.end, End::Signalled { ref signal, .. } if signal == "SIGTERM"));
    assert_eq!(
        (outcome.leftovers.len(), lab.text(id).as_str()),
        (0, "up\n")
    );
}

#[test]
fn a_trap_may_say_goodbye() {
    let lab = Lab::new();
    let id = lab.start(&Spec {
        grace_ms: FOR_EVER_MS,
        ..shell("trap 'echo bye; exit 9' TERM; echo up; sleep 60 & wait")
    });
    lab.first_line(id);
    lab.cancel(id);
    let outcome = lab.outcome(id);
    assert_eq!(outcome.end, End::Exited { code: 9 });
    assert_eq!(outcome.stopped, Some(StopCause::Cancelled));
    assert!(lab.text(id).ends_with("bye\n"));
}

#[test]
fn what_ignores_the_timeout_is_killed_after_its_grace() {
    let lab = Lab::new();
    let line = "trap '' TERM; echo up; while :; do sleep 0.05; done";
    // The time has to be enough for the shell to get as far as its first line.
    let deaf = [200, 2_000, 20_000].into_iter().find_map(|timeout_ms| {
        let (id, outcome) = lab.run(&Spec {
            timeout_ms: Some(timeout_ms),
            ..shell(line)
        });
        assert_eq!(outcome.stopped, Some(StopCause::TimedOut));
        assert!(outcome.duration_ms >= timeout_ms, "{outcome:?}");
        assert_eq!(processes_of(id), [""; 0]);
        (lab.text(id) == "up\n").then_some((timeout_ms, outcome))
    });
    let (timeout_ms, outcome) = deaf.expect("the shell has started");
    assert!(matches!(outcome.end, End::Signalled { ref signal, .. } if signal == "SIGKILL"));
    assert!(outcome.duration_ms >= timeout_ms + 500, "{outcome:?}");
}

#[test]
fn a_lifetime_that_is_over_is_no_timeout() {
    let lab = Lab::new();
    let (_, outcome) = lab.run(&Spec {
        lifetime_ms: Some(100),
        ..shell("sleep 60")
    });
    assert_eq!(outcome.stopped, Some(StopCause::Expired));
}

#[test]
fn a_suspended_job_can_be_cancelled() {
    let lab = Lab::new();
    let id = lab.start(&Spec {
        grace_ms: FOR_EVER_MS,
        ..shell("echo up; kill -STOP $$")
    });
    lab.first_line(id);
    lab.cancel(id);
    let outcome = lab.outcome(id);
    assert!(matches!(outcome.end, End::Signalled { ref signal, .. } if signal == "SIGTERM"));
}

#[test]
fn a_grandchild_in_a_session_of_its_own_is_stopped_too() {
    let lab = Lab::new();
    let id = lab.start(&shell(
        "setsid sh -c 'trap \"\" TERM; echo $$; sleep 60; sleep 60' & wait",
    ));
    let pid = lab.first_line(id);
    lab.cancel(id);
    let outcome = lab.outcome(id);
    assert_eq!(outcome.stopped, Some(StopCause::Cancelled));
    assert!(!runs(&pid));
    assert_eq!(processes_of(id), [""; 0]);
}

#[test]
fn a_chain_of_forks_does_not_escape() {
    let lab = Lab::new();
    let script = lab.data_directory().join("chain");
    // Each process starts the next one in a session of its own and ends.
    let text = "#!/bin/sh\ntrap '' TERM\nsetsid \"$0\" &\n";
    std::fs::write(&script, text).expect("it is writable");
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&script, mode).expect("it was just made");
    let line = format!("echo up; {} & sleep 60", script.display());
    let id = lab.start(&Spec {
        grace_ms: 50,
        ..shell(&line)
    });
    lab.first_line(id);
    lab.cancel(id);
    lab.outcome(id);
    assert_eq!(processes_of(id), [""; 0]);
}

#[test]
fn a_supervisor_that_is_asked_to_end_ends_its_job_first() {
    let lab = Lab::new();
    let id = lab.start(&shell("echo $PPID; sleep 60"));
    let supervisor: i32 = lab.first_line(id).parse().expect("a process id");
    let pid = Pid::from_raw(supervisor).expect("it is not 0");
    kill_process(pid, Signal::TERM).expect("it is ours");
    let outcome = lab.outcome(id);
    assert_eq!(outcome.stopped, Some(StopCause::ShutDown));
    assert_eq!(processes_of(id), [""; 0]);
}

#[test]
fn the_first_reason_stays_and_is_seen_while_the_job_ends() {
    let lab = Lab::new();
    let gate = lab.fifo("gate");
    let line = "trap 'read -r _ < \"$BACKBURNER_DIR/gate\"; exit 9' TERM; echo up; sleep 60 & wait";
    let id = lab.start(&Spec {
        grace_ms: FOR_EVER_MS,
        ..shell(line)
    });
    lab.first_line(id);
    assert_eq!(lab.progress(id).stopping, None);
    lab.jobs
        .stop(id, StopReason::Expired)
        .expect("it can be stopped");
    lab.cancel(id);
    assert_eq!(lab.progress(id).stopping, Some(StopCause::Expired));
    std::fs::write(gate, "go\n").expect("the job reads it");
    assert_eq!(lab.outcome(id).stopped, Some(StopCause::Expired));
}

#[test]
fn a_job_that_has_ended_is_not_changed() {
    let lab = Lab::new();
    let (id, before) = lab.run(&shell("exit 3"));
    lab.cancel(id);
    assert_eq!(lab.outcome(id), before);
}

#[test]
fn many_stops_right_after_the_start_are_never_lost() {
    let lab = Lab::new();
    let ids: Vec<_> = (0..20)
        .map(|_| {
            let id = lab.start(&shell("sleep 60"));
            lab.cancel(id);
            id
        })
        .collect();
    for id in ids {
        assert_eq!(lab.outcome(id).stopped, Some(StopCause::Cancelled));
    }
}
