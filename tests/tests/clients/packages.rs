//! The npm packages of `tests/clients`, installed once for all tests of this program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use backburner_tests::foreign::{Workbench, can_test, npm};
use backburner_tests::{CONFIG, NO_CONFIG, binary, workspace};

/// Where they are installed, beside a copy of our own sources; `None` where this machine lacks something.
///
/// # Panics
/// Where npm fails, or something is missing and must not be.
pub(crate) fn packages() -> Option<&'static Workbench> {
    static BENCH: OnceLock<Option<Workbench>> = OnceLock::new();
    let opened = BENCH.get_or_init(|| {
        can_test("the clients of npm", npm::missing()).then(|| {
            let bench = Workbench::open(env!("CARGO_TARGET_TMPDIR"), "clients");
            bench.copy(&sources(), &npm::MADE);
            npm::install(&bench);
            bench
        })
    });
    opened.as_ref()
}

/// Where our own sources are.
pub(crate) fn sources() -> PathBuf {
    workspace().join("tests/clients")
}

/// A program that is looked for among the `installed` ones first, and finds them and the real binary by their names. It
/// finds no configuration file of whoever runs the tests.
pub(crate) fn command(program: &str, installed: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("PATH", path_with(&[installed, directory_of(binary())]))
        .env("BACKBURNER", binary())
        .env(CONFIG, NO_CONFIG);
    command
}

/// The directory of the programs that npm installed.
pub(crate) fn programs(bench: &Workbench) -> PathBuf {
    bench.path().join("node_modules/.bin")
}

/// The test's own `PATH`, behind these directories.
pub(crate) fn path_with(first: &[&Path]) -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let first = first.iter().map(|path| path.to_path_buf());
    let all = first.chain(std::env::split_paths(&own));
    std::env::join_paths(all)
        .expect("what came from a PATH fits into one, and the build's directory has no colon")
}

fn directory_of(program: &Path) -> &Path {
    program.parent().expect("a program is in a directory")
}
