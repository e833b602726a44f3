//! The JavaScript host in the published conformance suite.

use std::process::Command;

use backburner_tests::component;
use backburner_tests::foreign::{can_test, javascript, npm};

use crate::other_host::OtherHost;
use crate::packages::packages;

#[test]
fn the_javascript_host_passes_the_scenarios_of_tasks() {
    if !can_test("the JavaScript host", npm::missing()) {
        return;
    }
    let Some(suite) = packages() else { return };
    let bench = javascript::install(env!("CARGO_TARGET_TMPDIR"));
    let mut build = Command::new("npm");
    build
        .args(["run", "build"])
        .env("BACKBURNER_COMPONENT", component());
    bench.run(&mut build);
    let host = OtherHost {
        name: "the JavaScript host",
        setup: javascript::setup(&bench),
        jobs: "node-jobs",
    };
    host.assert_passes_tasks(suite);
}
