//! Rules about a fresh machine: a build installs the target of the component where it is missing, once, whatever
//! `RUSTUP_AUTO_INSTALL` says, and says what to do where it cannot. With pretended compilers, since the real one has it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use super::reproducible::compile;

#[path = "../../../host/build/target.rs"]
mod installed;

use compile::{TARGET, Tools};

/// A machine of its own: a compiler, and what `rustup target add` does on it.
struct Machine {
    place: tempfile::TempDir,
    rustup: OsString,
}

impl Machine {
    /// A machine without the target, and with a rustup that runs this shell line; `$LIBRARY` is where the compiler looks
    /// for the target.
    fn new(rustup: &str) -> Self {
        let place = tempfile::tempdir().expect("there is a directory for temporary files");
        let machine = Self {
            rustup: place.path().join("rustup").into(),
            place,
        };
        let library = machine.library();
        let library = library.display();
        let called = machine.path("called");
        let compiler =
            format!("[ \"$*\" != '--print target-libdir --target {TARGET}' ] || echo '{library}'");
        program(&machine.path("rustc"), &compiler);
        let log = format!("echo \"$*\" >> '{}'", called.display());
        program(
            &machine.path("rustup"),
            &format!("LIBRARY='{library}'; {log}; {rustup}"),
        );
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn library(&self) -> PathBuf {
        self.path("library")
    }

    fn tools(&self) -> Tools {
        Tools {
            cargo: "cargo".into(),
            rustc: self.path("rustc").into(),
            cargo_home: self.path("home"),
        }
    }

    /// What a build script does first.
    fn ensure(&self) -> Result<(), String> {
        let ensured = installed::ensure(&self.tools(), &self.rustup, self.place.path());
        ensured.map_err(|error| format!("{error:#}"))
    }

    /// How rustup was called.
    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("called")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Sees that a build fails, and that its words say what is missing and what to do.
    fn assert_told(&self) {
        let told = self.ensure().expect_err("the target is not there");
        let words = [
            format!("the Rust target {TARGET} is missing"),
            format!("`rustup target add {TARGET}`"),
            format!(
                "for the toolchain that builds this ({})",
                self.path("rustc").display()
            ),
        ];
        let missing: Vec<_> = words.iter().filter(|it| !told.contains(*it)).collect();
        assert!(missing.is_empty(), "{missing:?} is not in: {told}");
    }
}

/// Writes a program that runs a shell line. Another process does it: this one has threads, and whatever one of them
/// starts while the file is open for writing would keep it from being executed.
fn program(path: &Path, line: &str) {
    let written = Command::new("sh")
        .args([
            "-c",
            "printf '#!/bin/sh\n%s\n' \"$LINE\" > \"$FILE\" && chmod 700 \"$FILE\"",
        ])
        .env("LINE", line)
        .env("FILE", path)
        .stdin(Stdio::null())
        .status();
    assert!(written.expect("there is a shell").success());
}

/// What a rustup does that does its work.
const INSTALLS: &str = "mkdir \"$LIBRARY\"";

fn added() -> Vec<String> {
    vec![format!("target add {TARGET}")]
}

#[test]
fn a_target_that_is_there_is_left_alone() {
    let machine = Machine::new(INSTALLS);
    fs::create_dir(machine.library()).expect("the name is new");
    machine.ensure().expect("all is there");
    assert_eq!(machine.calls(), [""; 0]);
}

#[test]
fn a_target_that_is_missing_is_installed_once_and_explicitly() {
    let machine = Machine::new(INSTALLS);
    for _ in 0..2 {
        machine.ensure().expect("rustup brings it");
    }
    assert_eq!(machine.calls(), added());
}

#[test]
fn a_build_script_installs_it_before_it_builds() {
    let machine = Machine::new(INSTALLS);
    program(
        &machine.path("cargo"),
        "echo \"cargo $1\" >> \"$LOG\"; exit 1",
    );
    let out = machine.path("build/tests/out");
    fs::create_dir_all(&out).expect("the name is new");
    let path = std::env::var_os("PATH").expect("there is one");
    let places = [machine.place.path().to_owned()];
    let path = std::env::join_paths(places.into_iter().chain(std::env::split_paths(&path)));
    let built = Command::new(env!("BUILD_SCRIPT"))
        .env("PATH", path.expect("no directory has a colon in its name"))
        .env("LOG", machine.path("called"))
        .env("CARGO", machine.path("cargo"))
        .env("CARGO_HOME", machine.path("home"))
        .env(
            "CARGO_MANIFEST_DIR",
            backburner_tests::workspace().join("tests"),
        )
        .env("OUT_DIR", out)
        .env("RUSTC", machine.path("rustc"))
        .env("RUSTUP_AUTO_INSTALL", "0")
        .output();
    let built = built.expect("it was built with this test");
    assert!(!built.status.success(), "there is no cargo here");
    let calls = [format!("target add {TARGET}"), "cargo build".to_owned()];
    assert_eq!(machine.calls(), calls, "{built:?}");
}

#[test]
fn several_builds_at_a_time_install_it_once() {
    // So slow that the others come meanwhile; the directory appears last, as with the real one.
    let machine = Machine::new(&format!("sleep 0.3; {INSTALLS}"));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| machine.ensure().expect("rustup brings it"));
        }
    });
    assert_eq!(machine.calls(), added());
}

#[test]
fn a_rustup_that_fails_is_no_success_and_the_words_say_what_to_do() {
    let machine = Machine::new("exit 1");
    machine.assert_told();
    assert_eq!(machine.calls(), added());
}

#[test]
fn a_rustup_that_installs_for_another_compiler_is_no_success_either() {
    let machine = Machine::new("exit 0");
    machine.assert_told();
}

#[test]
fn where_there_is_no_rustup_the_words_say_what_to_do() {
    let mut machine = Machine::new(INSTALLS);
    machine.rustup = machine.path("no-such-program").into();
    machine.assert_told();
}

#[test]
fn no_toolchain_file_is_needed_which_rustup_may_not_install_from() {
    // With RUSTUP_AUTO_INSTALL=0 a build that relied on one would stop before our script runs.
    for name in ["rust-toolchain", "rust-toolchain.toml"] {
        let file = backburner_tests::workspace().join(name);
        assert!(!file.exists(), "{}", file.display());
    }
}
