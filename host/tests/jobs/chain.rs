//! Jobs that run on from process to process: each starts the next one and ends.

use std::process::{Child, Command};

use backburner::jobs::{Jobs, State};

use crate::durability::kill;
use crate::lab::{Lab, eventually, processes_of, shell};

/// Starts such jobs, kills their supervisors, and sees that nothing of a job runs when it is said to have ended. Each
/// process of it lives for as long as `pause` takes; the last one ends by itself.
fn check(pause: &str, jobs: usize) {
    let lab = Lab::new();
    let chain = format!(
        "f() {{ n=$1; [ $n -gt 0 ] || exit 0; (\n{pause}\nf $((n - 1))) & exit 0; }}; f 2000"
    );
    let line = format!("echo $PPID; setsid bash -c '{chain}' & sleep 60");
    for _ in 0..jobs {
        let id = lab.start(&shell(&line));
        kill(&lab.first_line(id));
        eventually("the job has ended", || {
            let state = lab.jobs.inspect(id).expect("it can be inspected");
            matches!(state, State::Ended(_)).then_some(())
        });
        for _ in 0..5 {
            assert_eq!(processes_of(id), [""; 0], "{pause}");
        }
    }
}

/// Processes of others, which make the table of all of them long.
struct Crowd(Vec<Child>);

impl Crowd {
    fn new() -> Self {
        let sleep = || Command::new("sleep").arg("120").spawn();
        Self((0..250).map(|_| sleep().expect("it exists")).collect())
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for process in &mut self.0 {
            // Each ends by itself where this fails.
            let _ended = process.kill().and_then(|()| process.wait());
        }
    }
}

#[test]
fn a_job_that_forks_from_process_to_process_has_not_ended_while_it_does() {
    for pause in ["", "read -t 0.003 <> <(:)", "read -t 0.03 <> <(:)"] {
        check(pause, 4);
    }
}

#[test]
fn a_process_that_began_while_all_were_listed_is_found() {
    let _crowd = Crowd::new();
    for pause in ["read -t 0.025 <> <(:)", "read -t 0.03 <> <(:)"] {
        check(pause, 12);
    }
}

#[test]
fn a_process_that_executes_one_program_after_the_other_is_found() {
    let lab = Lab::new();
    let program = r#"n=$1; [ $n -gt 0 ] && exec sh -c "$0" "$0" $((n - 1))"#;
    let line = format!("echo $PPID; setsid sh -c '{program}' '{program}' 20000 & sleep 60");
    for _ in 0..4 {
        let id = lab.start(&shell(&line));
        kill(&lab.first_line(id));
        eventually("the job has ended", || {
            let state = lab.jobs.inspect(id).expect("it can be inspected");
            matches!(state, State::Ended(_)).then_some(())
        });
        for _ in 0..5 {
            assert_eq!(processes_of(id), [""; 0]);
        }
    }
}
