//! Packages of Python.

use std::path::PathBuf;
use std::process::Command;

use super::note::{INSTALLED, install_once};
use super::tools::works;
use super::workbench::Workbench;

/// Where a workbench has its environment.
const ENVIRONMENT: &str = "environment";

/// What an installation leaves on a workbench.
pub const MADE: [&str; 2] = [ENVIRONMENT, INSTALLED];

/// What decides what is installed.
const REQUIREMENTS: &str = "requirements.txt";

/// What Python needs and this machine lacks.
#[must_use]
pub fn missing() -> Option<&'static str> {
    // Some distributions have `venv` without what it puts into an environment.
    let is_complete = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))";
    if !cfg!(target_os = "linux") {
        Some("Linux, where alone all of its tests hold,")
    } else if works("python3", &["-c", is_complete]) {
        None
    } else {
        Some("Python 3.11 or later with venv")
    }
}

/// Makes an environment with the requirements of what is on the workbench, where that is not what was made last, and
/// gives its interpreter.
///
/// # Panics
/// Where Python or pip fails.
#[must_use]
pub fn install(bench: &Workbench) -> PathBuf {
    let python = bench.path().join(ENVIRONMENT).join("bin/python");
    install_once(bench, &[REQUIREMENTS], || {
        bench.run(Command::new("python3").args(["-m", "venv", "--clear", ENVIRONMENT]));
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ];
        bench.run(
            Command::new(&python)
                .args(pip)
                .args(["--requirement", REQUIREMENTS]),
        );
    });
    python
}
