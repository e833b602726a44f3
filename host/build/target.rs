//! Sees to it that there is a standard library for the target of the guest. Knows rustc and rustup, and nothing of what
//! is built.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use wasmtime::{Result, ensure};

use super::compile::{TARGET, Tools};

/// Installs the standard library of the guest's target where it is missing. It is not on a fresh machine,
/// and where RUSTUP_AUTO_INSTALL is 0 a `targets` line in a toolchain file would not bring it.
///
/// Two build scripts of this workspace may come here at the same time, and rustup does not expect itself: the second
/// one waits, by a lock in the directory `builds`, which they share.
///
/// # Errors
/// Where it is missing, and rustup is not there or does not bring it for this compiler.
pub(crate) fn ensure(tools: &Tools, rustup: &OsStr, builds: &Path) -> Result<()> {
    if has_target(tools) {
        return Ok(());
    }
    let alone = File::create(builds.join("backburner-target.lock"))?;
    alone.lock()?;
    if has_target(tools) {
        return Ok(());
    }
    let added = Command::new(rustup)
        .args(["target", "add", TARGET])
        .status();
    let is_added = added.as_ref().is_ok_and(std::process::ExitStatus::success);
    // rustup may have brought it for another compiler than the one that builds.
    ensure!(
        is_added && has_target(tools),
        "the Rust target {TARGET} is missing and `rustup target add {TARGET}` did not bring it \
         ({added:?}); install it for the toolchain that builds this ({}) and try again",
        tools.rustc.display()
    );
    Ok(())
}

fn has_target(tools: &Tools) -> bool {
    let directory = tools.rustc(&["--print", "target-libdir", "--target", TARGET]);
    directory.is_ok_and(|directory| Path::new(directory.trim()).is_dir())
}
