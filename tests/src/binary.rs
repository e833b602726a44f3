//! The real binary and the example of an embedder, built once for each run of a test program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// What cargo says it built.
struct Built {
    executable: PathBuf,
    example: PathBuf,
    out_dir: PathBuf,
}

/// The workspace's directory.
///
/// # Panics
/// Never: this package is in a directory of the workspace.
#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package is in a directory of the workspace")
}

/// The executable `backburner`, built in the profile of this test program.
///
/// It asks cargo each time, so that a test that is run alone never tests a stale binary; cargo does not hold the
/// lock of its directory while it runs tests.
///
/// # Panics
/// Where it does not build.
#[must_use]
pub fn binary() -> &'static Path {
    &built().executable
}

/// The variable that names a server's configuration file.
pub const CONFIG: &str = "BACKBURNER_CONFIG";

/// What [`CONFIG`] is where there is to be no file: whoever runs the tests may have one.
pub const NO_CONFIG: &str = "/dev/null";

/// The program [`binary`], before it is given arguments. It has no configuration file.
///
/// # Panics
/// Where it does not build.
#[must_use]
pub fn program() -> Command {
    let mut command = Command::new(binary());
    command.env(CONFIG, NO_CONFIG);
    command
}

/// A program under a limit of the shell's `ulimit`.
#[must_use]
pub fn limited(limit: &str, program: &Command) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit {limit} && exec \"$@\""), "sh"])
        .arg(program.get_program())
        .args(program.get_args());
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command
}

/// The web service that embeds the host as a library, an example of this workspace; built as [`binary`] is.
///
/// # Panics
/// Where it does not build.
#[must_use]
pub fn example() -> &'static Path {
    &built().example
}

/// The component that [`binary`] embeds, before it was compiled for this machine.
///
/// # Panics
/// Where it does not build.
#[must_use]
pub fn component() -> PathBuf {
    built().out_dir.join("component.wasm")
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(build)
}

fn build() -> Built {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command
        .current_dir(workspace())
        // Everything that `cargo test --workspace` has built, and not the one program: what is built decides which
        // features of shared dependencies are on, and which build dependencies have debug information. With less
        // cargo would build wasmtime and its compiler a second time.
        .args(["build", "--locked", "--workspace", "--bins"])
        .args(["--message-format", "json-render-diagnostics"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.output().expect("cargo can be started");
    assert!(
        output.status.success(),
        "cargo did not build backburner, see above"
    );
    let text = String::from_utf8(output.stdout).expect("cargo's messages are UTF-8");
    let messages: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("cargo writes one JSON value a line"))
        .collect();
    let (binary, package) = executable(&messages, "backburner");
    let (example, _) = executable(&messages, "backburner-axum-example");
    let out_dir = out_dir(&messages, package);
    Built {
        executable: binary,
        example,
        out_dir: out_dir.expect("cargo names the directory of the build script"),
    }
}

/// A program that cargo built, and the id of its package.
fn executable<'a>(messages: &'a [Value], name: &str) -> (PathBuf, &'a Value) {
    let found = messages.iter().find_map(|message| {
        let is_it = message["reason"] == "compiler-artifact" && message["target"]["name"] == name;
        let executable = message["executable"].as_str().filter(|_| is_it)?;
        Some((executable.into(), &message["package_id"]))
    });
    found.unwrap_or_else(|| panic!("cargo names no executable {name} that it built"))
}

fn out_dir(messages: &[Value], package: &Value) -> Option<PathBuf> {
    let run = messages.iter().find(|message| {
        message["reason"] == "build-script-executed" && message["package_id"] == *package
    })?;
    run["out_dir"].as_str().map(PathBuf::from)
}
