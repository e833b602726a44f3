//! Which shell runs a line: bash where there is one, whatever the job's own search path, and else that of the system.
//! Which of several files that is, and what is done where there is none, is tested where it is chosen.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use backburner::jobs::{End, Spec};

use crate::lab::{Lab, shell};

/// Whether this machine has bash in a place where it is always found.
fn has_bash() -> bool {
    let places = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
    places.iter().any(|place| Path::new(place).is_file())
}

#[test]
fn a_line_is_run_by_bash_where_there_is_one_whatever_the_jobs_path() {
    let lab = Lab::new();
    let empty = lab.data_directory().join("empty");
    fs::create_dir(&empty).expect("the name is new");
    let wanted = if has_bash() { "bash\n" } else { "\n" };
    for path in [None, Some(empty.as_path()), Some(Path::new(""))] {
        let path = path.map(|path| ("PATH".to_owned(), path.to_string_lossy().into_owned()));
        let (id, outcome) = lab.run(&Spec {
            environment: path.clone().into_iter().collect(),
            ..shell("echo ${BASH_VERSION:+bash}")
        });
        assert_eq!(outcome.end, End::Exited { code: 0 }, "{path:?}");
        assert_eq!(lab.text(id), wanted, "{path:?}");
    }
}

#[test]
fn a_bash_that_the_jobs_path_names_is_the_one_that_runs_the_line() {
    let lab = Lab::new();
    let place = lab.data_directory().join("bin");
    fs::create_dir(&place).expect("the name is new");
    // Any shell will do: each says by which name it was called.
    symlink("/bin/sh", place.join("bash")).expect("the name is new");
    let (id, _) = lab.run(&Spec {
        environment: vec![("PATH".to_owned(), place.to_string_lossy().into_owned())],
        ..shell("echo \"$0\"")
    });
    assert_eq!(lab.text(id), format!("{}\n", place.join("bash").display()));
}
