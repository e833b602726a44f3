//! A server that is asked about lost jobs while it can open files at some moments only.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use backburner::jobs::{Jobs, State};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use uuid::Uuid;

use crate::lab::{Lab, engine, eventually, processes_of, shell};

/// The data directory, for the process that cannot open files.
const VARIABLE: &str = "BACKBURNER_TEST_SHORTAGE";

/// What is run in a process of its own: it asks until it is told that the jobs have ended.
#[test]
fn asks_if_it_cannot_always_open_files() {
    let Some(data) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
        return;
    };
    let ids = fs::read_to_string(data.join("ids")).expect("it was written");
    let id = |line| Uuid::parse_str(line).expect("it is a UUID");
    let ids: Vec<Uuid> = ids.lines().map(id).collect();
    let jobs = engine(&data, Path::new("/no/such/program"));
    let shortage = std::thread::spawn(come_and_go);
    let has_ended = |id: &Uuid| matches!(jobs.inspect(*id), Ok(State::Ended(_)));
    eventually("all have ended", || ids.iter().all(has_ended).then_some(()));
    shortage.join().expect("the limit can be set");
    for id in ids {
        assert_eq!(processes_of(id), [""; 0], "it was said to have ended");
    }
}

/// Takes away what is needed to open a file, and gives it back, many times in a second or two.
fn come_and_go() {
    let usual = getrlimit(Resource::Nofile);
    let none = Rlimit {
        current: Some(0),
        ..usual
    };
    for turn in 0..4_000 {
        setrlimit(Resource::Nofile, none).expect("there may be fewer");
        std::thread::sleep(Duration::from_micros(20 * (turn % 7)));
        setrlimit(Resource::Nofile, usual).expect("there may be as many as before");
        std::thread::sleep(Duration::from_micros(20 * (turn % 11)));
    }
}

#[test]
fn a_job_has_not_ended_because_nobody_can_look_for_it() {
    let lab = Lab::new();
    let data = lab.data_directory();
    let mut ids = String::new();
    for _ in 0..8 {
        let id = lab.start(&shell("echo $PPID; setsid sleep 70 & sleep 71"));
        crate::durability::kill(&lab.first_line(id));
        ids.push_str(&format!("{id}\n"));
    }
    fs::write(data.join("ids"), ids).expect("there is room");
    let asked = Command::new(std::env::current_exe().expect("we run"))
        .args(["--exact", "shortage::asks_if_it_cannot_always_open_files"])
        .env(VARIABLE, data)
        .output();
    let asked = asked.expect("it can be run");
    let told = String::from_utf8_lossy(&asked.stdout);
    assert!(
        asked.status.success() && told.contains("1 passed"),
        "{told}"
    );
}
