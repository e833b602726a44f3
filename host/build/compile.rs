//! Runs cargo for a component so that its bytes depend on its sources and the compiler, and on nothing else of this
//! machine: neither on its directories nor on what is configured for the host.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use wasmtime::error::Context as _;
use wasmtime::{Result, ensure};

/// What components are built for.
pub(crate) const TARGET: &str = "wasm32-wasip2";

/// The programs that build, and where they keep what they fetched.
pub(crate) struct Tools {
    /// The program cargo.
    pub(crate) cargo: OsString,
    /// The program rustc.
    pub(crate) rustc: OsString,
    /// Cargo's own directory.
    pub(crate) cargo_home: PathBuf,
}

impl Tools {
    /// Builds the component that a package of the workspace is, and gives its bytes.
    ///
    /// In a target directory of its own: an outer cargo holds the lock of the usual one while it waits for us.
    ///
    /// # Errors
    /// Where cargo fails.
    pub(crate) fn component(
        &self,
        workspace: &Path,
        package: &str,
        target_dir: &Path,
    ) -> Result<Vec<u8>> {
        let mut cargo = Command::new(&self.cargo);
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
        cargo
            .env("RUSTC", &self.rustc)
            .env("CARGO_HOME", &self.cargo_home)
            .env("CARGO_ENCODED_RUSTFLAGS", self.flags(workspace)?);
        let status = cargo.status().context("running cargo for the guest")?;
        ensure!(
            status.success(),
            "{package} did not build ({status}); see above"
        );
        let component = target_dir
            .join(TARGET)
            .join("component")
            .join(format!("{}.wasm", package.replace('-', "_")));
        fs::read(&component)
            .with_context(|| format!("reading the component {}", component.display()))
    }

    /// What rustc prints for these arguments.
    ///
    /// # Errors
    /// Where it cannot be run, or fails.
    pub(crate) fn rustc(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new(&self.rustc)
            .args(arguments)
            .output()
            .with_context(|| format!("running {}", self.rustc.display()))?;
        ensure!(
            output.status.success(),
            "rustc {arguments:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).context("rustc writes UTF-8")
    }

    /// The flags of the compiler, as cargo takes them: for each directory of this machine, what the component says in
    /// its place.
    fn flags(&self, workspace: &Path) -> Result<OsString> {
        let mut flags = OsString::new();
        for (directory, name) in self.names(workspace)? {
            if !flags.is_empty() {
                flags.push("\u{1f}");
            }
            flags.push("--remap-path-prefix=");
            flags.push(directory);
            flags.push("=");
            flags.push(name);
        }
        Ok(flags)
    }

    /// The directories of sources, which get into a component by the places in the messages of its panics, and a name
    /// for each that is the same on every machine.
    fn names(&self, workspace: &Path) -> Result<Vec<(PathBuf, String)>> {
        let mut names = vec![(workspace.to_owned(), "/backburner".to_owned())];
        // One for each registry, called after the address that it was fetched from: a mirror has another one.
        for registry in directories(&self.cargo_home.join("registry").join("src"))? {
            names.push((registry, "/registry".to_owned()));
        }
        // The standard library is called after its commit, unless its sources are installed.
        let sysroot = self.rustc(&["--print", "sysroot"])?;
        let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
        if let Some(commit) = commit(&self.rustc(&["--version", "--verbose"])?) {
            names.push((library, format!("/rustc/{commit}")));
        }
        Ok(names)
    }
}

/// The commit that a compiler was built from; `None` where it does not say so.
fn commit(version: &str) -> Option<&str> {
    let mut lines = version.lines();
    lines.find_map(|line| line.strip_prefix("commit-hash: "))
}

/// What is in a directory; nothing where there is none, as where all sources come with the workspace.
fn directories(parent: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut directories = Vec::new();
    for entry in entries {
        directories.push(entry?.path());
    }
    directories.sort();
    Ok(directories)
}

/// Where cargo keeps what it fetched, unless it was told otherwise.
///
/// # Errors
/// Where nobody says what directory is the user's.
pub(crate) fn cargo_home(told: Option<&OsStr>) -> Result<PathBuf> {
    match told {
        Some(told) => Ok(told.into()),
        None => Ok(env::home_dir()
            .context("cargo keeps what it fetched below the user's directory")?
            .join(".cargo")),
    }
}

/// Whether a variable configures the build of the host, and would be wrong or non-reproducible for the guest.
fn is_for_the_host(name: &str) -> bool {
    const EXACT: [&str; 7] = [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_INCREMENTAL",
        "CARGO_BUILD_INCREMENTAL",
        "CARGO_BUILD_TARGET",
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_BUILD_RUSTFLAGS",
    ];
    const PREFIXES: [&str; 5] = [
        "RUSTC",
        "CARGO_TARGET_",
        "CARGO_PROFILE_",
        "CARGO_FEATURE_",
        "CARGO_CFG_",
    ];
    EXACT.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.ends_with("_WRAPPER")
}
