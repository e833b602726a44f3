//! A server that a job runs, and that is asked about this job.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use backburner::jobs::{End, Jobs, Loss, State};
use uuid::Uuid;

use crate::lab::{Lab, engine, eventually, processes_of, shell};

/// The data directory, for the process inside of the job.
const VARIABLE: &str = "BACKBURNER_TEST_INSIDE";

/// What the job's process runs: it asks until the supervisor is gone, and writes down what it was told.
#[test]
fn asks_if_it_is_inside_of_a_job() {
    let Some(data) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
        return;
    };
    let id = std::env::var("BACKBURNER_TASK_ID").expect("it is in a job");
    let id = Uuid::parse_str(&id).expect("it is a UUID");
    let jobs = engine(&data, Path::new("/no/such/program"));
    // As those of a server: they have numbers of their own, and the environment of the job.
    std::thread::spawn(|| {
        while std::thread::spawn(|| std::thread::sleep(Duration::from_millis(3)))
            .join()
            .is_ok()
        {}
    });
    let told = loop {
        match jobs.inspect(id) {
            Ok(State::Running(_)) => std::thread::sleep(Duration::from_millis(2)),
            told => break told,
        }
        fs::write(data.join("asked"), "").expect("there is room");
    };
    fs::write(data.join("new"), format!("{told:?}")).expect("there is room");
    fs::rename(data.join("new"), data.join("told")).expect("it was just made");
    // Until it is killed, and not for ever where that fails.
    std::thread::sleep(Duration::from_secs(120));
}

#[test]
fn a_process_of_the_job_does_not_say_that_the_job_has_ended() {
    let lab = Lab::new();
    let program = std::env::current_exe().expect("we run");
    let data = lab.data_directory();
    let line = format!(
        "echo $PPID; {VARIABLE}='{}' setsid '{}' --exact inside::asks_if_it_is_inside_of_a_job >/dev/null 2>&1 & wait",
        data.display(),
        program.display()
    );
    let id = lab.start(&shell(&line));
    let supervisor = lab.first_line(id);
    eventually("it asks", || data.join("asked").exists().then_some(()));
    crate::durability::kill(&supervisor);
    let told = eventually("it was told", || fs::read_to_string(data.join("told")).ok());
    assert!(told.contains("part of it"), "{told}");
    assert_ne!(processes_of(id), [""; 0], "it runs");
    let kind = Loss::Supervisor;
    assert_eq!(lab.outcome(id).end, End::Lost { kind });
    assert_eq!(processes_of(id), [""; 0]);
}
