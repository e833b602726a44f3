//! A supervisor whose clocks show another time than those of whoever asked for the job, as in a container that has a
//! time namespace of its own.
#![cfg(target_os = "linux")]

use std::process::Command;

use backburner::jobs::{End, Spec};

use crate::lab::{Lab, shell};
use crate::privilege::is_done;

/// What runs a program a day ahead of everybody else.
const AHEAD: &str = "unshare --time --fork --monotonic 86400 --boottime 86400";

/// Whether this user may do that.
fn may_run_ahead() -> bool {
    let tried = Command::new("sh")
        .args(["-c", &format!("{AHEAD} true")])
        // Else its words may be those of another language.
        .env("LC_ALL", "C")
        .output();
    is_done("a time namespace", tried)
}

#[test]
fn a_job_runs_as_long_as_it_does_whatever_the_clocks_of_its_supervisor_show() {
    if !may_run_ahead() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_backburner");
    let lab = Lab::with_prelude(&format!("exec {AHEAD} '{program}' \"$@\""));
    let gate = lab.fifo("gate");
    let hour_ms = 3_600_000;
    let id = lab.start(&Spec {
        timeout_ms: Some(hour_ms),
        ..shell("echo up; read -r _ < \"$BACKBURNER_DIR/gate\"; exit 3")
    });
    lab.first_line(id);
    let shown_ms = lab.progress(id).running_ms;
    std::fs::write(gate, "go\n").expect("the job reads it");
    let outcome = lab.outcome(id);
    assert_eq!(
        (outcome.end, outcome.stopped),
        (End::Exited { code: 3 }, None)
    );
    let ran_ms = outcome.duration_ms;
    assert!(ran_ms < hour_ms, "{ran_ms}");
    // The wall clock, which both have, may be set a little meanwhile.
    assert!(shown_ms <= ran_ms + 1_000, "{shown_ms} {ran_ms}");
}
