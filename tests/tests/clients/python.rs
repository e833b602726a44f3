//! The official client in Python with a small Tasks extension of ours. Both it and its tests are in
//! `tests/clients/python`.

use backburner_tests::foreign::{Workbench, can_test, python};

use crate::packages::{command, sources};

#[test]
fn the_python_client_passes_its_tests() {
    if !can_test("the Python client", python::missing()) {
        return;
    }
    let bench = Workbench::open(env!("CARGO_TARGET_TMPDIR"), "clients-python");
    bench.copy(&sources().join("python"), &python::MADE);
    let interpreter = python::install(&bench);
    let programs = interpreter.parent().expect("a program is in a directory");
    let mut test = command("python", programs);
    test.args(["-m", "unittest", "--verbose", "test_client"]);
    bench.run(&mut test);
}
