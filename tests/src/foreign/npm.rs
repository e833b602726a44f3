//! Packages of npm.

use std::process::Command;

use super::note::{INSTALLED, install_once};
use super::tools::works;
use super::workbench::Workbench;

/// What npm leaves in a package's directory, and our note of what was installed.
pub const MADE: [&str; 2] = ["node_modules", INSTALLED];

/// What decides what npm installs.
const MANIFESTS: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// What npm needs and this machine lacks. The Node that packages run with is one that they bring.
#[must_use]
pub fn missing() -> Option<&'static str> {
    let is_new_enough = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";
    if !cfg!(target_os = "linux") {
        Some("Linux, which its tests need,")
    } else if !works("node", &["-e", is_new_enough]) {
        Some("Node 20 or later")
    } else if !works("npm", &["--version"]) {
        Some("npm")
    } else {
        None
    }
}

/// Installs what the package on the workbench needs, where that is not what was installed last.
///
/// # Panics
/// Where npm fails.
pub fn install(bench: &Workbench) {
    install_once(bench, &MANIFESTS, || {
        bench.run(Command::new("npm").arg("ci"));
    });
}
