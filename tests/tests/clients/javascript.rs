//! The JavaScript host in the published conformance suite: its scenarios of Tasks, with the tools of the native one.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use backburner_tests::foreign::{Workbench, can_test, javascript, npm};
use backburner_tests::{PATIENCE, Setup, TestDir, command_lines, component, until};
use rustix::process::{Pid, Signal, kill_process};

use crate::bridge::Bridge;
use crate::packages::{packages, path_with, programs};
use crate::suite::{check_tasks, configuration, run_tasks};

#[test]
fn the_javascript_host_passes_the_scenarios_of_tasks() {
    if !can_test("the JavaScript host", npm::missing()) {
        return;
    }
    let Some(bench) = packages() else { return };
    let host = javascript::install(env!("CARGO_TARGET_TMPDIR"));
    let mut build = Command::new("npm");
    build
        .args(["run", "build"])
        .env("BACKBURNER_COMPONENT", component());
    host.run(&mut build);
    let dir = TestDir::new();
    let bridge = Bridge::start(bench, &dir, &setup(&host, bench, &dir));
    let report = run_tasks(bench, &bridge, &dir);
    bridge.end();
    stop_jobs(&dir);
    check_tasks("the JavaScript host", &report);
}

/// How it is started. What its jobs know as `backburner` is this host's program as well.
fn setup(host: &Workbench, clients: &Workbench, dir: &TestDir) -> Setup {
    let own = dir.path().join("bin");
    fs::create_dir(&own).expect("the test's directory can be written");
    let program = host.path().join("bin/backburner-node.js");
    symlink(program, own.join("backburner")).expect("nothing else is called that");
    let path = path_with(&[&own, &programs(clients)]);
    Setup {
        program: javascript::program(host),
        flags: configuration(dir),
        environment: vec![("PATH".to_owned(), path)],
    }
}

/// Stops what the suite has left running, before its files go.
fn stop_jobs(dir: &TestDir) {
    let jobs = dir.data().join("node-jobs");
    let supervisors = || -> Vec<(u32, String)> {
        let mut found = command_lines();
        found.retain(|(_, line)| {
            let id = line.split_once("supervisor.js ").map(|(_, id)| id);
            id.is_some_and(|id| jobs.join(id).exists())
        });
        found
    };
    for (pid, _) in supervisors() {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        // It fails only where it has ended meanwhile, which is as good.
        let _ = kill_process(pid.expect("a process has a number"), Signal::TERM);
    }
    until(PATIENCE, "the jobs to end", || {
        let left = supervisors();
        left.is_empty().then_some(()).ok_or(format!("{left:?}"))
    });
}
