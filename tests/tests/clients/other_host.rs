//! Hosts of the component in other languages in the published conformance suite: its scenarios of Tasks, with the tools of
//! the native host.

use std::fs;
use std::path::Path;

use backburner_tests::foreign::Workbench;
use backburner_tests::{PATIENCE, Setup, TestDir, command_lines, until};
use rustix::process::{Pid, Signal, kill_process};

use crate::bridge::Bridge;
use crate::packages::programs;
use crate::suite::{check_tasks, configuration, run_tasks};

/// A host that is installed.
pub(crate) struct OtherHost {
    /// What it is called.
    pub(crate) name: &'static str,
    /// How its stdio server is started.
    pub(crate) setup: Setup,
    /// Where in a data directory it has its jobs.
    pub(crate) jobs: &'static str,
}

impl OtherHost {
    /// Runs the suite of this workbench against it.
    ///
    /// # Panics
    /// Where it does not pass what the native host passes.
    pub(crate) fn assert_passes_tasks(self, suite: &Workbench) {
        let dir = TestDir::new();
        let (name, jobs) = (self.name, dir.data().join(self.jobs));
        let bridge = Bridge::start(suite, &dir, &self.started_for(suite, &dir));
        let report = run_tasks(suite, &bridge, &dir);
        bridge.end();
        stop_jobs(&jobs);
        check_tasks(name, &report);
    }

    /// How it is started with the suite's tools.
    fn started_for(self, suite: &Workbench, dir: &TestDir) -> Setup {
        let mut setup = self.setup.finding(&programs(suite));
        setup.flags = configuration(dir);
        setup
    }
}

/// Stops what the suite has left running, before its files go. A supervisor has its job's id in its command line.
fn stop_jobs(jobs: &Path) {
    let listed = fs::read_dir(jobs).expect("the suite has had jobs");
    let ids: Vec<String> = listed
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        // What is not a job is not called by an id.
        .filter(|name| !name.starts_with('.'))
        .collect();
    let supervisors = || -> Vec<(u32, String)> {
        let mut found = command_lines();
        found.retain(|(_, line)| {
            line.contains("supervisor") && ids.iter().any(|id| line.contains(id))
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
