//! Builds the guest for wasm32-wasip2 and compiles it ahead of time, so that the shipped binary needs no
//! compiler: `component.wasm` and `component.cwasm` in `OUT_DIR`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use wasmtime::error::Context as _;
use wasmtime::{Result, ensure};

#[path = "src/engine/config.rs"]
mod config;

const TARGET: &str = "wasm32-wasip2";

/// Everything that the component is made of; directories count with all that is below them.
const SOURCES: [&str; 8] = [
    "wit",
    "guest/src",
    "guest/Cargo.toml",
    "guest/core/src",
    "guest/core/Cargo.toml",
    "Cargo.toml",
    "Cargo.lock",
    "host/src/engine/config.rs",
];

fn main() -> Result<()> {
    let workspace = Path::new(&variable("CARGO_MANIFEST_DIR")?)
        .parent()
        .context("the host crate is in a workspace")?
        .to_owned();
    for source in SOURCES {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(source).display()
        );
    }
    ensure_target()?;
    let out = PathBuf::from(variable("OUT_DIR")?);
    let component = build_guest(&workspace, &out.join("guest"))?;
    let bytes = std::fs::read(&component)
        .with_context(|| format!("reading the component {}", component.display()))?;
    let engine = wasmtime::Engine::new(config::engine().target(&host_target()?)?)?;
    std::fs::write(
        out.join("component.cwasm"),
        engine.precompile_component(&bytes)?,
    )?;
    std::fs::write(out.join("component.wasm"), bytes)?;
    Ok(())
}

fn variable(name: &str) -> Result<OsString> {
    env::var_os(name).with_context(|| format!("cargo sets {name} for a build script"))
}

/// The machine that the server will run on. Named even where it is this one: a named target is compiled for
/// its baseline, so that the binary runs on processors that are older than the one it was built on.
fn host_target() -> Result<String> {
    variable("TARGET")?
        .into_string()
        .ok()
        .context("a target triple is ASCII")
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
fn build_guest(workspace: &Path, target_dir: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new(variable("CARGO")?);
    cargo
        .current_dir(workspace)
        .args(["build", "--locked", "--package", "backburner-guest"])
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
        "the guest did not build ({status}); see above"
    );
    Ok(target_dir
        .join(TARGET)
        .join("component")
        .join("backburner_guest.wasm"))
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
