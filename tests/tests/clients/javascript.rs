//! The JavaScript host in the published conformance suite.

use std::process::Command;

use backburner_tests::foreign::{can_test, javascript, npm};
use backburner_tests::{Setup, component};

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
        setup: Setup {
            program: javascript::program(&bench),
            ..Setup::default()
        },
        program: bench.path().join("bin/backburner-node.js"),
        jobs: "node-jobs",
    };
    host.assert_passes_tasks(suite);
}
