//! How a component of this workspace is built from within a build script. Shared with the tests, which build another
//! one.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use wasmtime::error::Context as _;
use wasmtime::{Result, ensure};

const TARGET: &str = "wasm32-wasip2";

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
    ensure_target()?;
    let target_dir = Path::new(&variable("OUT_DIR")?).join("guest");
    let component = run_cargo(workspace, package, &target_dir)?;
    std::fs::read(&component)
        .with_context(|| format!("reading the component {}", component.display()))
}

/// Installs the standard library of the guest's target where it is missing. It is not on a fresh machine,
/// and where RUSTUP_AUTO_INSTALL is 0 a `targets` line in a toolchain file would not bring it.
fn ensure_target() -> Result<()> {
    let rustc = variable("RUSTC")?;
    let output = Command::new(&rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .with_context(|| format!("running {}", rustc.display()))?;
    let directory = String::from_utf8(output.stdout).context("a path in UTF-8")?;
    if output.status.success() && Path::new(directory.trim()).is_dir() {
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

/// Runs cargo for the guest in a target directory of its own: the outer cargo holds the lock of the usual
/// one while it waits for us.
fn run_cargo(workspace: &Path, package: &str, target_dir: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new(variable("CARGO")?);
    cargo
        .current_dir(workspace)
        .args(["build", "--locked", "--package", package])
        .args(["--profile", "component", "--target", TARGET])
        .arg("--target-dir")
        .arg(target_dir);
    for (name, _) in env::vars_os() {
        if is_for_the_host(&name.to_string_lossy()) {
            cargo.env_remove(name);
        }
    }
    let status = cargo.status().context("running cargo for the guest")?;
    ensure!(
        status.success(),
        "{package} did not build ({status}); see above"
    );
    Ok(target_dir
        .join(TARGET)
        .join("component")
        .join(format!("{}.wasm", package.replace('-', "_"))))
}

/// Whether a variable configures the build of the host, and would be wrong or non-reproducible for the guest.
fn is_for_the_host(name: &str) -> bool {
    const EXACT: [&str; 6] = [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET",
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_BUILD_RUSTFLAGS",
    ];
    EXACT.contains(&name)
        || name.starts_with("RUSTC")
        || name.ends_with("_WRAPPER")
        || name.starts_with("CARGO_PROFILE_")
        || name.starts_with("CARGO_FEATURE_")
        || name.starts_with("CARGO_CFG_")
}
