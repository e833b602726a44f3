//! The Python host.

use std::fs;
use std::path::Path;

use backburner_tests::component;
use backburner_tests::conformance::kit;
use backburner_tests::foreign::{can_test, python, python_host};

use crate::composition::composed;
use crate::corpus::assert_answers_as_the_native_host;

#[test]
fn the_python_host_passes_its_tests_and_answers_as_the_transcripts_say() {
    if !can_test("the Python host", python::missing()) {
        return;
    }
    let bench = python_host::open(env!("CARGO_TARGET_TMPDIR"));
    let composition = bench.path().join("composed.wasm");
    fs::write(&composition, composed()).expect("the workbench can be written");
    let mut test = python_host::script("check.sh", &bench);
    test.env("BACKBURNER_CONFORMANCE_KIT", kit())
        .env("BACKBURNER_COMPOSED", &composition)
        // What is left out is a failure.
        .env("BACKBURNER_ALL_TESTS", "1");
    bench.run(&mut test);
    assert_answers_as_the_native_host(&python_host::setup(&bench));
    let in_memory = |component: &Path| python_host::setup_in_memory(&bench, component);
    assert_answers_as_the_native_host(&in_memory(&component()));
    // Its tests have left the compiled form: else all of these servers would begin with compiling it.
    assert_answers_as_the_native_host(&in_memory(&composition));
}
