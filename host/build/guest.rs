//! How a component of this workspace is built from within a build script. Shared with the tests, which build
//! others.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use wasmtime::error::Context as _;
use wasmtime::{Result, ensure};

mod compile;

use compile::{TARGET, Tools, cargo_home};

/// What is set for a build script.
///
/// # Errors
/// Where it is not set.
pub(crate) fn variable(name: &str) -> Result<OsString> {
    env::var_os(name).with_context(|| format!("cargo sets {name} for a build script"))
}

/// The directory of the workspace, of which this package's is a part. The build script runs again when one of
/// `sources` has changed, which are below it; directories count with all that is in them.
///
/// # Errors
/// Where the package is not in a directory.
pub(crate) fn workspace(sources: &[&str]) -> Result<PathBuf> {
    let workspace = Path::new(&variable("CARGO_MANIFEST_DIR")?)
        .parent()
        .context("the package is in a directory of the workspace")?
        .to_owned();
    for source in sources {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(source).display()
        );
    }
    Ok(workspace)
}

/// The machine that the code will run on. Named even where it is this one: a named target is compiled for
/// its baseline, so that the binary runs on processors that are older than the one it was built on.
///
/// # Errors
/// Where cargo does not say.
pub(crate) fn host_target() -> Result<String> {
    variable("TARGET")?
        .into_string()
        .ok()
        .context("a target triple is ASCII")
}

/// Builds the component that a package of the workspace is, and gives its bytes.
///
/// # Errors
/// Where the target is missing and cannot be installed, or cargo fails.
pub(crate) fn build(workspace: &Path, package: &str) -> Result<Vec<u8>> {
    let tools = Tools {
        cargo: variable("CARGO")?,
        rustc: variable("RUSTC")?,
        cargo_home: cargo_home(env::var_os("CARGO_HOME").as_deref())?,
    };
    ensure_target(&tools)?;
    let target_dir = Path::new(&variable("OUT_DIR")?).join("guest");
    tools.component(workspace, package, &target_dir)
}

/// Installs the standard library of the guest's target where it is missing. It is not on a fresh machine,
/// and where RUSTUP_AUTO_INSTALL is 0 a `targets` line in a toolchain file would not bring it.
fn ensure_target(tools: &Tools) -> Result<()> {
    if has_target(tools) {
        return Ok(());
    }
    // Two build scripts of this workspace may come here at the same time, and rustup does not expect itself.
    let _alone = lock_builds()?;
    if has_target(tools) {
        return Ok(());
    }
    let added = Command::new("rustup")
        .args(["target", "add", TARGET])
        .status();
    ensure!(
        added.as_ref().is_ok_and(std::process::ExitStatus::success),
        "the Rust target {TARGET} is missing and `rustup target add {TARGET}` did not bring it \
         ({added:?}); install it for the toolchain that builds this and try again"
    );
    Ok(())
}

fn has_target(tools: &Tools) -> bool {
    let directory = tools.rustc(&["--print", "target-libdir", "--target", TARGET]);
    directory.is_ok_and(|directory| Path::new(directory.trim()).is_dir())
}

/// Waits until no other build script of this target directory has what this gives, which lets go of it when dropped.
fn lock_builds() -> Result<std::fs::File> {
    // `OUT_DIR` is `build/<package>-<hash>/out`.
    let out = PathBuf::from(variable("OUT_DIR")?);
    let builds = out
        .ancestors()
        .nth(2)
        .context("cargo's directories are nested")?;
    let file = std::fs::File::create(builds.join("backburner-target.lock"))?;
    file.lock()?;
    Ok(file)
}
