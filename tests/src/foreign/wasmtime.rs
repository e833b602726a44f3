//! The `wasmtime` command line, which PyPI has as a wheel.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::python;
use super::workbench::Workbench;
use crate::workspace;

/// What it needs and this machine lacks.
#[must_use]
pub fn missing() -> Option<&'static str> {
    if cfg!(target_arch = "x86_64") {
        python::missing()
    } else {
        Some("x86-64, for which its wheel is,")
    }
}

/// Installs it on a workbench, and gives the directory that its program is in: what is to call it has this in `PATH`.
///
/// # Panics
/// Where Python or pip fails, or the wheel has no program.
#[must_use]
pub fn install(bench: &Workbench) -> PathBuf {
    bench.copy(&workspace().join("tests/wasmtime"), &python::MADE);
    let python = python::install(bench);
    let environment = python.parent().and_then(|programs| programs.parent());
    let libraries = environment.expect("it is in the environment").join("lib");
    let found = fs::read_dir(&libraries).expect("an environment has a directory of libraries");
    let candidates = found.map(|entry| {
        let library = entry.expect("the environment can be listed").path();
        library.join("site-packages/wasmtime_cli")
    });
    let directory = candidates
        .filter(|path| path.join("wasmtime").is_file())
        .last();
    let directory = directory.expect("the wheel has the program");
    // The wheel says of none of its files that it is a program.
    let program = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.join("wasmtime"), program).expect("the environment is our own");
    directory
}
