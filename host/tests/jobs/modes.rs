//! A job that closes its own files to everybody: that neither makes it endless nor keeps it from being stopped.
//!
//! Modes mean nothing to root, so there these tests are run once more, by one who may not pass over them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use backburner::jobs::{End, Jobs, Loss};

use crate::damage::{FILES, assert_can_be_stopped, outcome};
use crate::lab::{Lab, eventually, shell};
use crate::privilege::is_done;

/// What lets root pass over modes.
const MIGHT: &str = "-dac_override,-dac_read_search";

fn close(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn a_job_that_closes_what_its_end_is_written_to_ends_as_its_supervisor_says() {
    let lab = Lab::new();
    for deed in [
        "echo x >outcome.json; chmod 0 outcome.json",
        "mkdir outcome.json; chmod 0 outcome.json",
        "chmod 0 outcome.reserve",
        "chmod 0 alive",
        "echo x; until [ -e out-00000000000000000000 ]; do sleep 0.01; done; chmod 0 alive control spec.jsonl out-* idx-*",
        "echo x >outcome.json; chmod 0 *",
        "echo x >outcome.json; chmod 500 .",
        "chmod 0 .",
        "chmod 0 ..",
        "chmod 500 ..",
        "chmod 0 .. .",
    ] {
        let line =
            "cd \"$BACKBURNER_DIR/jobs/$BACKBURNER_TASK_ID\" || exit; { DEED; } || exit 9; exit 3";
        let id = lab.start(&shell(&line.replace("DEED", deed)));
        // Whoever looks meanwhile may take it for one whose files were changed, and kill it.
        let file = lab.directory(id).join("outcome.json");
        eventually("its end is written", || {
            let text = fs::read_to_string(&file);
            text.is_ok_and(|text| text.contains("exited")).then_some(())
        });
        assert_eq!(outcome(&lab, id).end, End::Exited { code: 3 }, "{deed}");
    }
}

#[test]
fn whatever_is_closed_of_a_job_it_can_be_stopped() {
    let lab = Lab::new();
    // The two others are not there before its end.
    let are_there = |file: &&str| !["stop", "outcome.json"].contains(file);
    for file in FILES.into_iter().filter(are_there) {
        assert_can_be_stopped(&lab, &format!("closed {file}"), |directory| {
            close(&directory.join(file), 0);
        });
    }
    for file in ["stop", "outcome.json"] {
        assert_can_be_stopped(&lab, &format!("a closed {file} of its own"), |directory| {
            let path = directory.join(file);
            fs::write(&path, "x").expect("it is ours");
            close(&path, 0);
        });
    }
    assert_can_be_stopped(&lab, "the directory of all jobs", |directory| {
        close(directory.parent().expect("it has one"), 0);
    });
    for mode in [0, 0o400, 0o500, 0o600] {
        assert_can_be_stopped(&lab, &format!("directory {mode:o}"), |directory| {
            close(directory, mode);
        });
    }
}

#[test]
fn an_end_that_nobody_may_read_is_a_loss_and_not_an_error_for_ever() {
    let lab = Lab::new();
    let (id, ended) = lab.run(&shell("exit 3"));
    let file = lab.directory(id).join("outcome.json");
    close(&file, 0);
    let is_readable = fs::read(&file).is_ok();
    let expected = if is_readable {
        ended.end
    } else {
        End::Lost { kind: Loss::Files }
    };
    assert_eq!(outcome(&lab, id).end, expected);
}

#[test]
fn who_closes_the_directory_of_all_jobs_keeps_no_other_from_starting() {
    let lab = Lab::new();
    for mode in [0, 0o500] {
        for directory in ["jobs", "jobs/.workshop"] {
            close(&lab.data_directory().join(directory), mode);
            let (_, ended) = lab.run(&shell("exit 3"));
            assert_eq!(ended.end, End::Exited { code: 3 }, "{directory} {mode:o}");
        }
    }
}

#[test]
fn what_a_job_closed_is_deleted_with_it() {
    let lab = Lab::new();
    let line = "cd \"$BACKBURNER_DIR/jobs/$BACKBURNER_TASK_ID\" && mkdir -p a/b/c && touch a/b/c/d && chmod 0 a/b/c a/b a";
    let (id, ended) = lab.run(&shell(line));
    assert_eq!(ended.end, End::Exited { code: 0 });
    lab.jobs.forget(id).expect("it can be forgotten");
    let rubbish = fs::read_dir(lab.data_directory().join("jobs/.workshop"));
    let left: Vec<_> = rubbish.expect("it is there").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn modes_are_tested_by_one_who_may_not_pass_over_them() {
    // Anybody else is such a one already.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let bound = || {
        let mut bound = Command::new("setpriv");
        // The second, since what is inherited is not bounded.
        bound.args(["--bounding-set", MIGHT, "--inh-caps", MIGHT]);
        bound.env("LC_ALL", "C");
        bound
    };
    let lab = Lab::new();
    let closed = lab.data_directory().join("closed");
    fs::write(&closed, "").expect("it is ours");
    close(&closed, 0);
    let mut trial = bound();
    let line = "cat \"$1\" 2>/dev/null && echo 'modes do not bind this user' >&2 && exit 1; true";
    trial.args(["sh", "-c", line, "sh"]);
    if !is_done("what modes forbid", trial.arg(&closed).output()) {
        return;
    }
    let program = std::env::current_exe().expect("it was started");
    let mut again = bound();
    again
        .arg(program)
        .args(["modes::", "--skip", "modes_are_tested"]);
    let told = again.output().expect("it was started before");
    let words = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success(), "{words}");
    let passed = words.matches(" ... ok").count();
    assert_eq!(passed, 5, "all others of this file: {words}");
}
