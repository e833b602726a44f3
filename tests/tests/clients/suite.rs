//! The published conformance suite, through the bridge.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use backburner_tests::foreign::Workbench;
use backburner_tests::{TestDir, binary, supervisors};
use walkdir::WalkDir;

use crate::bridge::Bridge;
use crate::checks::{End, Report};
use crate::expectations::Expectations;
use crate::packages::{command, packages, programs, sources};

/// The revision whose scenarios run. The suite runs all that this revision requires, and those that it does not count:
/// the Tasks extension's, and some that it calls pending.
const REVISION: &str = "2026-07-28";

/// How many scenarios of a server that is: required, of Tasks, pending.
const SCENARIOS: usize = 37 + 10 + 3;

/// Where the suite leaves its results. Its exit status says no more than that some check has failed.
const RESULTS: &str = "results";

#[test]
fn the_published_suite_passes_but_for_what_is_expected() {
    let Some(bench) = packages() else { return };
    let dir = TestDir::new();
    let bridge = Bridge::start(bench, &dir, &configuration(&dir));
    let report = run(bench, &bridge, &dir);
    bridge.end();
    stop_jobs(&dir);
    show(&report);
    let expected = fs::read_to_string(sources().join("expected-failures.txt"));
    let expected = Expectations::parse(&expected.expect("the expectations are text"));
    let expected = expected.unwrap_or_else(|wrong| panic!("expected-failures.txt, {wrong}"));
    let differences = expected.differences(&report);
    assert!(
        differences.is_empty(),
        "not as in tests/clients/expected-failures.txt:\n  {}\n",
        differences.join("\n  ")
    );
}

fn run(bench: &Workbench, bridge: &Bridge, dir: &TestDir) -> Report {
    let results = dir.path().join(RESULTS);
    let mut suite = command("conformance", &programs(bench));
    suite
        .args(["server", "--url", bridge.url()])
        .args(["--requirements", REVISION, "--output-dir"])
        .arg(&results);
    let ended = bench.attempt(&mut suite);
    assert!(
        results.exists(),
        "the suite left nothing ({}):\n{}",
        ended.status,
        ended.text
    );
    let report = Report::read(&results);
    let count = report.scenarios().count();
    assert_eq!(count, SCENARIOS, "scenarios ran:\n{}", ended.text);
    report
}

/// The configuration file, with what its tools need, in a place where they may change it.
fn configuration(dir: &TestDir) -> PathBuf {
    let copy = dir.path().join("configuration");
    fs::create_dir(&copy).expect("the test's directory can be written");
    copy_file(&sources().join("backburner.toml"), &copy);
    let fixtures = sources().join("fixtures");
    let below = copy.join("fixtures");
    fs::create_dir(&below).expect("the test's directory can be written");
    for entry in WalkDir::new(fixtures).min_depth(1) {
        copy_file(entry.expect("the fixtures can be listed").path(), &below);
    }
    copy.join("backburner.toml")
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
fn show(report: &Report) {
    let mut table = String::new();
    let mut line = |passed: usize, made: usize, what: &str| {
        writeln!(table, "{passed:4} of {made:3}  {what}").expect("a string takes everything");
    };
    let (mut passed_in_all, mut made_in_all) = (0, 0);
    for (scenario, checks) in report.scenarios() {
        let passed = checks.values().filter(|end| **end == End::Passed).count();
        line(passed, checks.len(), scenario);
        passed_in_all += passed;
        made_in_all += checks.len();
    }
    line(
        passed_in_all,
        made_in_all,
        "checks of the conformance suite passed",
    );
    // Nothing can be done where even this cannot be written.
    let _ = std::io::stderr().write_all(table.as_bytes());
}
