//! The Python host in the published conformance suite.

use backburner_tests::foreign::{can_test, python, python_host};

use crate::other_host::OtherHost;
use crate::packages::packages;

#[test]
fn the_python_host_passes_the_scenarios_of_tasks() {
    if !can_test("the Python host", python::missing()) {
        return;
    }
    let Some(suite) = packages() else { return };
    let bench = python_host::install(env!("CARGO_TARGET_TMPDIR"));
    let host = OtherHost {
        name: "the Python host",
        setup: python_host::setup(&bench),
        jobs: "jobs",
    };
    host.assert_passes_tasks(suite);
}
