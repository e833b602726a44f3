//! The JavaScript host, a package of npm.

use std::ffi::OsString;

use super::npm;
use super::workbench::Workbench;
use crate::workspace;

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

/// How its stdio server is started: the program and its first arguments.
#[must_use]
pub fn program(bench: &Workbench) -> Vec<OsString> {
    vec![
        // The one that the package brings: the machine's own may be too old for the store.
        bench.path().join("node_modules/.bin/node").into(),
        "--disable-warning=ExperimentalWarning".into(),
        bench.path().join("bin/backburner-node.js").into(),
    ]
}
