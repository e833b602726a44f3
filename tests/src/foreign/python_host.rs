//! The Python host, a package of Python.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::called::called;
use super::workbench::Workbench;
use crate::{Data, Setup, component, workspace};

/// Where it is installed and checked.
///
/// There is one workbench for all test programs, which is nobody else's until what this gives is dropped: a test program
/// opens it once.
///
/// # Panics
/// Where the build's directory cannot be written.
#[must_use]
pub fn open(build: &str) -> Workbench {
    Workbench::open(build, "python")
}

/// Installs it, as its own check does too.
///
/// # Panics
/// Where Python or pip fails.
#[must_use]
pub fn install(build: &str) -> Workbench {
    let bench = open(build);
    bench.run(&mut script("install.sh", &bench));
    bench
}

/// One of its scripts for this workbench.
#[must_use]
pub fn script(name: &str, bench: &Workbench) -> Command {
    let mut script = Command::new("sh");
    script
        .arg(workspace().join("host/python").join(name))
        .arg(bench.path())
        .env("BACKBURNER_COMPONENT", component());
    script
}

/// The program that its package brings, for servers and for what the processes of a job call.
fn program(bench: &Workbench) -> PathBuf {
    bench.path().join("environment/bin/backburner-host")
}

/// How its stdio server is started. Its jobs call its program as `backburner`.
///
/// # Panics
/// Where the workbench cannot be written.
#[must_use]
pub fn setup(bench: &Workbench) -> Setup {
    started_by(bench, vec![program(bench).into()], &component())
}

/// How the server is started that its tests bring, whose tasks are in memory: in that of Python, or in that of
/// `component` where this is composed with a store. One process serves all clients, one after the other.
///
/// # Panics
/// As [`setup`].
#[must_use]
pub fn setup_in_memory(bench: &Workbench, component: &Path) -> Setup {
    let words = ["environment/bin/python", "source/tests/in_memory.py"];
    let words = words.map(|word| OsString::from(bench.path().join(word)));
    Setup {
        data: Data::InMemory,
        ..started_by(bench, words.to_vec(), component)
    }
}

fn started_by(bench: &Workbench, words: Vec<OsString>, component: &Path) -> Setup {
    let setup = Setup {
        program: words,
        environment: vec![
            ("BACKBURNER_COMPONENT".to_owned(), component.into()),
            // Where its installation left the compiled component.
            (
                "XDG_CACHE_HOME".to_owned(),
                bench.path().join("cache").into(),
            ),
        ],
        ..Setup::default()
    };
    setup.finding(&called(bench, &program(bench)))
}
