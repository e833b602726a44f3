//! The JavaScript host, a package of npm.

use super::called::called;
use super::npm;
use super::workbench::Workbench;
use crate::{Setup, workspace};

/// What npm and the build leave in the package's directory.
const MADE: [&str; 3] = [npm::MADE[0], npm::MADE[1], "dist"];

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
    let programs = bench.path().join("node_modules/.bin");
    let own = bench.path().join("bin/backburner-node.js");
    let setup = Setup {
        program: vec![
            // The one that the package brings: the machine's own may be too old for the store.
            programs.join("node").into(),
            "--disable-warning=ExperimentalWarning".into(),
            own.clone().into(),
        ],
        ..Setup::default()
    };
    setup.finding(&programs).finding(&called(bench, &own))
}
