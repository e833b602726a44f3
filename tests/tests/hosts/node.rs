//! The JavaScript host.

use std::fs;
use std::process::Command;

use backburner_tests::component;
use backburner_tests::conformance::kit;
use backburner_tests::foreign::pages::{self, Pages};
use backburner_tests::foreign::{can_test, javascript, npm};

use crate::corpus::assert_answers_as_the_native_host;

#[test]
fn the_javascript_host_passes_its_tests_and_answers_as_the_transcripts_say() {
    if !can_test("the JavaScript host", npm::missing()) {
        return;
    }
    let bench = javascript::install(env!("CARGO_TARGET_TMPDIR"));
    // Chromium is unpacked there, and one of an unpacking that was interrupted would be taken for a whole one.
    let scratch = bench.path().join("scratch");
    fs::create_dir(&scratch)
        .expect("the workbench can be written, and nothing else is called that");
    // Which builds it first.
    let mut test = Command::new("npm");
    test.arg("test")
        .env("BACKBURNER_COMPONENT", component())
        .env("BACKBURNER_CONFORMANCE", kit())
        .env("TMPDIR", &scratch);
    bench.run(&mut test);
    assert_answers_as_the_native_host(&javascript::setup(&bench));
    assert_answers_as_the_native_host(&javascript::in_memory(&bench));
    if can_test("the JavaScript host in a page", pages::missing()) {
        let pages = Pages::open(&bench, &scratch);
        assert_answers_as_the_native_host(&pages.setup(&bench));
    }
}
