//! A system that does not list its processes, as others than Linux, or Linux without `/proc`.
#![cfg(target_os = "linux")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use backburner::jobs::Jobs;
use uuid::Uuid;

use crate::lab::{Lab, engine, eventually, mkfifo, processes_of, shell};
use crate::privilege::is_done;

/// The data directory, for the process that sees no others.
const VARIABLE: &str = "BACKBURNER_TEST_UNLISTED";

/// What is run without `/proc`: it writes down what it is told.
#[test]
fn asks_if_it_sees_no_processes() {
    let Some(data) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
        return;
    };
    let id = fs::read_to_string(data.join("id")).expect("it was written");
    let id = Uuid::parse_str(&id).expect("it is a UUID");
    let told = engine(&data, Path::new("/no/such/program")).inspect(id);
    fs::write(data.join("told"), format!("{told:?}")).expect("there is room");
}

/// How somebody is put where they may mount: with the rights that they have, and as the root of a world of their own,
/// which many systems let anybody be.
const APART: [&[&str]; 2] = [&["--mount"], &["--mount", "--map-root-user"]];

/// What a server that sees no processes is told of a job; `None` where this user may not mount in any way.
fn told(lab: &Lab, id: Uuid) -> Option<String> {
    let data = lab.data_directory();
    fs::write(data.join("id"), id.to_string()).expect("there is room");
    let mut asked = ask(data, APART[0]);
    // As what is not allowed ends, in both programs; a test that was run and failed ends with 101.
    if asked
        .as_ref()
        .is_ok_and(|asked| asked.status.code() == Some(1))
    {
        asked = ask(data, APART[1]);
    }
    let is_wrong = asked
        .as_ref()
        .is_ok_and(|asked| asked.status.code() == Some(101));
    assert!(!is_wrong, "it was run, and failed: {asked:?}");
    is_done("a system without /proc", asked)
        .then(|| fs::read_to_string(data.join("told")).expect("it was written"))
}

/// Runs [`asks_if_it_sees_no_processes`] where it sees none.
fn ask(data: &Path, apart: &[&str]) -> io::Result<Output> {
    let line = "mount -t tmpfs none /proc || exit 1; exec \"$0\" --exact unlisted::asks_if_it_sees_no_processes";
    Command::new("unshare")
        .args(apart)
        .args(["sh", "-c", line])
        .arg(std::env::current_exe().expect("we run"))
        .env(VARIABLE, data)
        .env("LC_ALL", "C")
        .output()
}

#[test]
fn where_processes_are_not_listed_a_job_without_its_liveness_is_not_said_to_have_ended() {
    let lab = Lab::new();
    for replacement in ["nothing", "another FIFO"] {
        let id = lab.start(&shell("echo up; sleep 60"));
        lab.first_line(id);
        let alive = lab.directory(id).join("alive");
        fs::remove_file(&alive).expect("it is there");
        if replacement == "another FIFO" {
            mkfifo(&alive).expect("`mkfifo` is there");
        }
        if let Some(told) = told(&lab, id) {
            assert!(told.contains("nobody can tell"), "{replacement}: {told}");
            assert_ne!(processes_of(id), [""; 0], "it runs");
        }
        lab.cancel(id);
        eventually("it has ended", || processes_of(id).is_empty().then_some(()));
    }
}

#[test]
fn where_processes_are_not_listed_a_damaged_record_does_not_hide_a_dead_supervisor() {
    let lab = Lab::new();
    let (id, _) = lab.run(&shell("true"));
    fs::remove_file(lab.directory(id).join("outcome.json")).expect("it is there");
    fs::write(lab.directory(id).join("spec.jsonl"), "").expect("it is writable");
    if let Some(told) = told(&lab, id) {
        assert!(told.contains("Lost { kind: Files }"), "{told}");
    }
}
