//! The JavaScript host.

use std::fs;
use std::path::Path;
use std::process::Command;

use backburner_tests::conformance::kit;
use backburner_tests::foreign::{Workbench, can_test, npm};
use backburner_tests::{Setup, component, workspace};

use crate::corpus::assert_answers_as_the_native_host;

/// What npm and the build leave in the package's directory.
const MADE: [&str; 3] = [npm::MADE[0], npm::MADE[1], "dist"];

#[test]
fn the_javascript_host_passes_its_tests_and_answers_as_the_transcripts_say() {
    if !can_test("the JavaScript host", npm::missing()) {
        return;
    }
    let bench = Workbench::open(env!("CARGO_TARGET_TMPDIR"), "node");
    bench.copy(&workspace().join("host/node"), &MADE);
    npm::install(&bench);
    // Chromium is unpacked there, and one of an unpacking that was interrupted would be taken for a whole one.
    let scratch = bench.path().join("scratch");
    fs::create_dir(&scratch)
        .expect("the workbench can be written, and nothing else is called that");
    // Which builds it first.
    let mut test = Command::new("npm");
    test.arg("test")
        .env("BACKBURNER_COMPONENT", component())
        .env("BACKBURNER_CONFORMANCE", kit())
        .env("TMPDIR", scratch);
    bench.run(&mut test);
    assert_answers_as_the_native_host(&setup(bench.path()));
}

/// How its stdio server is started.
fn setup(package: &Path) -> Setup {
    Setup {
        program: vec![
            // The one that the package brings: the machine's own may be too old for the store.
            package.join("node_modules/.bin/node").into(),
            "--disable-warning=ExperimentalWarning".into(),
            package.join("bin/backburner-node.js").into(),
        ],
        ..Setup::default()
    }
}
