//! The published conformance suite, through the bridge.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use backburner_tests::foreign::Workbench;
use backburner_tests::{Setup, TestDir, binary, say, supervisors};
use walkdir::WalkDir;

use crate::bridge::Bridge;
use crate::checks::{End, Report};
use crate::expectations::Expectations;
use crate::packages::{command, packages, programs, sources};

/// The revision whose scenarios run. The suite runs all that this revision requires, and those that it does not count:
/// the Tasks extension's, and some that it calls pending.
const REVISION: &str = "2026-07-28";

/// How many scenarios of a server that is: required, of Tasks, pending.
const SCENARIOS: usize = 37 + TASKS.len() + 3;

/// The scenarios of the Tasks extension. The suite has no name for all of them.
const TASKS: [&str; 10] = [
    "tasks-capability-negotiation",
    "tasks-dispatch-and-envelope",
    "tasks-lifecycle",
    "tasks-mrtr-composition",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-request-state-removal",
    "tasks-required-task-error",
    "tasks-status-notifications",
    "tasks-wire-fields",
];

/// How many checks of the scenarios of Tasks pass: all 44 but the two of headers, which stdio has not. A check that the
/// suite does not make any more, or that has become information, fails nothing else.
const TASKS_PASSED: usize = 42;

/// How many checks of the other scenarios pass.
const OTHERS_PASSED: usize = 101;

/// How long a scenario may take, in milliseconds. The suite's half a minute is little for one that has jobs of some
/// seconds each and polls them, where other tests have the processors.
const SCENARIO_TIMEOUT_MS: &str = "120000";

/// Where the suite leaves its results. Its exit status says no more than that some check has failed.
const RESULTS: &str = "results";

#[test]
fn the_published_suite_passes_but_for_what_is_expected() {
    let Some(bench) = packages() else { return };
    let dir = TestDir::new();
    let setup = Setup {
        flags: configuration(&dir),
        ..Setup::default()
    };
    let bridge = Bridge::start(bench, &dir, &setup);
    let report = run_all(bench, &bridge, &dir);
    bridge.end();
    stop_jobs(&dir);
    show("the native host", &report);
    assert_as_expected(&report, &expectations(), OTHERS_PASSED + TASKS_PASSED);
}

/// Compares what the scenarios of Tasks gave with what is expected of them, and prints it.
///
/// # Panics
/// Where it is something else.
pub(crate) fn check_tasks(host: &str, report: &Report) {
    show(host, report);
    assert_as_expected(report, &expectations().of(&TASKS), TASKS_PASSED);
}

fn run_all(bench: &Workbench, bridge: &Bridge, dir: &TestDir) -> Report {
    let said = run(bench, bridge, dir, &["--requirements", REVISION]);
    report(dir, SCENARIOS, &said)
}

/// Runs the scenarios of Tasks alone.
pub(crate) fn run_tasks(bench: &Workbench, bridge: &Bridge, dir: &TestDir) -> Report {
    let said = TASKS.map(|scenario| run(bench, bridge, dir, &["--scenario", scenario]));
    report(dir, TASKS.len(), &said.concat())
}

/// What the suite has left of so many scenarios.
fn report(dir: &TestDir, scenarios: usize, said: &str) -> Report {
    let report = Report::read(&dir.path().join(RESULTS));
    let count = report.scenarios().count();
    assert_eq!(count, scenarios, "scenarios ran:\n{said}");
    report
}

/// Runs some scenarios, and gives what the suite said.
fn run(bench: &Workbench, bridge: &Bridge, dir: &TestDir, which: &[&str]) -> String {
    let results = dir.path().join(RESULTS);
    let mut suite = command("conformance", &programs(bench));
    suite
        .args(["server", "--url", bridge.url()])
        .args(["--timeout", SCENARIO_TIMEOUT_MS])
        .args(which)
        .arg("--output-dir")
        .arg(&results);
    let ended = bench.attempt(&mut suite);
    assert!(
        results.exists(),
        "the suite left nothing ({}):\n{}",
        ended.status,
        ended.text
    );
    ended.text
}

fn expectations() -> Expectations {
    let expected = fs::read_to_string(sources().join("expected-failures.txt"));
    let expected = Expectations::parse(&expected.expect("the expectations are text"));
    expected.unwrap_or_else(|wrong| panic!("expected-failures.txt, {wrong}"))
}

fn assert_as_expected(report: &Report, expected: &Expectations, passed: usize) {
    let differences = expected.differences(report);
    assert!(
        differences.is_empty(),
        "not as in tests/clients/expected-failures.txt:\n  {}\n",
        differences.join("\n  ")
    );
    assert_eq!(report.passed(), passed, "checks passed");
}

/// The flags of a server with the configuration file, and with what its tools need, in a place where they may change
/// it.
pub(crate) fn configuration(dir: &TestDir) -> Vec<String> {
    let copy = dir.path().join("configuration");
    fs::create_dir(&copy).expect("the test's directory can be written");
    copy_file(&sources().join("backburner.toml"), &copy);
    let fixtures = sources().join("fixtures");
    let below = copy.join("fixtures");
    fs::create_dir(&below).expect("the test's directory can be written");
    for entry in WalkDir::new(fixtures).min_depth(1) {
        copy_file(entry.expect("the fixtures can be listed").path(), &below);
    }
    let file = copy.join("backburner.toml");
    let file = file
        .to_str()
        .expect("the test's directory has a name of text");
    vec!["--config".to_owned(), file.to_owned()]
}

fn copy_file(from: &Path, to: &Path) {
    let name = from.file_name().expect("a file has a name");
    fs::copy(from, to.join(name)).expect("the project's files can be copied");
}

/// Stops what the suite has left running, before its files go.
fn stop_jobs(dir: &TestDir) {
    let jobs = dir.data().join("jobs");
    let ids = supervisors().into_iter().map(|(_, id)| id);
    for id in ids.filter(|id| jobs.join(id).exists()) {
        let mut cancel = Command::new(binary());
        cancel
            .arg("--data-dir")
            .arg(dir.data())
            .args(["cancel", &id]);
        let cancelled = cancel.output().expect("the binary can be started");
        assert!(cancelled.status.success(), "{cancelled:?}");
    }
}

/// Prints what passed, past the test's captured output: CI is to show it also where all is well.
fn show(host: &str, report: &Report) {
    let mut table = String::new();
    let mut line = |passed: usize, made: usize, what: &str| {
        writeln!(table, "{passed:4} of {made:3}  {what}").expect("a string takes everything");
    };
    let mut made_in_all = 0;
    for (scenario, checks) in report.scenarios() {
        let passed = checks.values().filter(|end| **end == End::Passed).count();
        line(passed, checks.len(), scenario);
        made_in_all += checks.len();
    }
    line(
        report.passed(),
        made_in_all,
        &format!("checks of the conformance suite passed by {host}"),
    );
    say(table.trim_end());
}
