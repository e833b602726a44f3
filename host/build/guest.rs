//! How a component of this workspace is built from within a build script. Shared with the tests, which build
//! others.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use wasmtime::Result;
use wasmtime::error::Context as _;

mod compile;
mod target;

use compile::{Tools, cargo_home};

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
    target::ensure(&tools, OsStr::new("rustup"), &builds()?)?;
    let target_dir = Path::new(&variable("OUT_DIR")?).join("guest");
    tools.component(workspace, package, &target_dir)
}

/// The directory in which all build scripts of this target directory have theirs.
fn builds() -> Result<PathBuf> {
    // `OUT_DIR` is `build/<package>-<hash>/out`.
    let out = PathBuf::from(variable("OUT_DIR")?);
    let builds = out.ancestors().nth(2);
    Ok(builds.context("cargo's directories are nested")?.to_owned())
}
