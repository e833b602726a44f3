//! The Python host.

use std::fs;
use std::path::Path;
use std::process::Command;

use backburner_tests::conformance::kit;
use backburner_tests::foreign::{Workbench, can_test, python};
use backburner_tests::{Setup, component, workspace};

use crate::composition::composed;
use crate::corpus::assert_answers_as_the_native_host;

#[test]
fn the_python_host_passes_its_tests_and_answers_as_the_transcripts_say() {
    if !can_test("the Python host", python::missing()) {
        return;
    }
    let bench = Workbench::open(env!("CARGO_TARGET_TMPDIR"), "python");
    let composition = bench.path().join("composed.wasm");
    fs::write(&composition, composed()).expect("the workbench can be written");
    let mut test = Command::new("sh");
    test.arg(workspace().join("host/python/check.sh"))
        .arg(bench.path())
        .env("BACKBURNER_COMPONENT", component())
        .env("BACKBURNER_CONFORMANCE_KIT", kit())
        .env("BACKBURNER_COMPOSED", &composition);
    bench.run(&mut test);
    assert_answers_as_the_native_host(&setup(bench.path()));
}

/// How its stdio server is started, in the environment that its own tests made.
fn setup(bench: &Path) -> Setup {
    Setup {
        program: vec![
            bench.join("environment/bin/python").into(),
            "-m".into(),
            "backburner_host".into(),
        ],
        environment: vec![
            ("BACKBURNER_COMPONENT".to_owned(), component().into()),
            // Where its own tests left the compiled component.
            ("XDG_CACHE_HOME".to_owned(), bench.join("cache").into()),
        ],
        ..Setup::default()
    }
}
