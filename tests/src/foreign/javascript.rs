//! The JavaScript host, a package of npm.

use std::ffi::OsString;

use super::called::called;
use super::npm;
use super::workbench::Workbench;
use crate::setup::{Data, Setup};
use crate::workspace;

/// What npm and the build leave in the package's directory.
const MADE: [&str; 3] = [npm::MADE[0], npm::MADE[1], "dist"];

/// Where npm puts programs.
const PROGRAMS: &str = "node_modules/.bin";

/// Installs what it needs beside a copy of its sources. It is not built yet.
///
/// There is one workbench for all test programs, which is nobody else's until what this gives is dropped: a test program
/// opens it once.
///
/// # Panics
/// Where npm fails.
#[must_use]
pub fn install(build: &str) -> Workbench {
    let bench = Workbench::open(build, "node");
    bench.copy(&workspace().join("host/node"), &MADE);
    npm::install(&bench);
    bench
}

/// How its stdio server is started. Its jobs call its program as `backburner`.
///
/// # Panics
/// Where the workbench cannot be written.
#[must_use]
pub fn setup(bench: &Workbench) -> Setup {
    let own = "bin/backburner-node.js";
    let setup = Setup {
        program: run(bench, own),
        ..Setup::default()
    };
    setup
        .finding(&bench.path().join(PROGRAMS))
        .finding(&called(bench, &bench.path().join(own)))
}

/// How a server is started that has what a page has, its store in memory and functions as jobs, but is a process of
/// Node.
#[must_use]
pub fn in_memory(bench: &Workbench) -> Setup {
    Setup {
        program: run(bench, "test/memory-server.js"),
        data: Data::InMemory,
        ..Setup::default()
    }
}

/// The command that runs a script of the package.
pub(super) fn run(bench: &Workbench, script: &str) -> Vec<OsString> {
    vec![
        // The one that the package brings: the machine's own may be too old for the store.
        bench.path().join(PROGRAMS).join("node").into(),
        "--disable-warning=ExperimentalWarning".into(),
        bench.path().join(script).into(),
    ]
}
