//! What `check` says of a file that it does not use.

use std::os::unix::fs::chown;

use backburner_tests::foreign::can_test;
use backburner_tests::{TestDir, program};

use super::done;

#[test]
fn a_file_of_somebody_else_is_said_with_what_can_be_done() {
    let is_root = rustix::process::geteuid().is_root();
    if !can_test(
        "a file of another user",
        (!is_root).then_some("the right to make one, as root"),
    ) {
        return;
    }
    let dir = TestDir::new();
    let file = dir.path().join("backburner.toml");
    std::fs::write(&file, "").expect("there is room");
    chown(&file, Some(12_345), None).expect("root may do this");
    let mut command = program();
    command
        .arg("check")
        .env_remove("BACKBURNER_CONFIG")
        .env("XDG_CONFIG_HOME", dir.path())
        .current_dir(dir.path());
    let checked = done(command.output().expect("the binary can be started"));
    assert_eq!(checked.status, Some(0), "{checked:?}");
    let words = format!(
        "{}: belongs to another user, or its directory does, and is not used: name it with --config if you trust it\n",
        file.display()
    );
    assert!(checked.stderr.contains(&words), "{checked:?}");
}
