//! The configuration file, against the real binary: which file it is, what is wrong with it, and what becomes of its
//! changes.

mod check;
mod find;
mod reload;
mod serve;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use backburner_tests::{CONFIG, Client, PATIENCE, Server, Setup, TestDir, program, until};
use serde_json::json;

/// The file that the tests write, unless they need another one.
fn file(dir: &TestDir) -> PathBuf {
    dir.path().join("backburner.toml")
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("there is room");
}

/// A file with a limit by which it can be told whether it holds.
fn limit_of(seconds: u32) -> String {
    format!("# what a client without tasks waits\nsyncLimitMs = {seconds}000\n")
}

/// How a server is started that has this file.
fn with_file(path: &Path) -> Setup {
    let path = path.to_str().expect("the paths of tests are UTF-8");
    Setup::flags(&["--config", path])
}

/// How many seconds a client without tasks waits, as the server tells it.
fn limit(server: &mut Server) -> u32 {
    let result = server.result("server/discover", &json!({}), Client::Plain);
    let text = result["instructions"].as_str().unwrap_or_default();
    let after = text.split_once("waits up to ").map(|(_, after)| after);
    let limit = after.and_then(|after| after.split_once(" for ")?.0.split_once(' '));
    let limit = limit.and_then(|(number, unit)| {
        let number: u32 = number.parse().ok()?;
        Some(if unit == "h" { number * 3600 } else { number })
    });
    limit.unwrap_or_else(|| panic!("no limit is told: {text}"))
}

fn until_limit(server: &mut Server, expected: u32) {
    until(PATIENCE, "the limit to be another", || {
        let limit = limit(server);
        let is_so = limit == expected;
        is_so.then_some(()).ok_or(format!("it is {limit} s"))
    });
}

/// Waits until a server has said so many lines with these words.
fn until_said(server: &Server, words: &str, times: usize) {
    until(PATIENCE, words, || {
        let said = server.stderr();
        let is_so = said.matches(words).count() == times;
        is_so.then_some(()).ok_or(said)
    });
}

/// What a command printed, and how it ended.
#[derive(Debug)]
struct Done {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

/// The program as a person calls it in this directory; the person's home is that of the test.
fn command(dir: &TestDir, directory: &Path) -> Command {
    let mut command = program();
    command
        .current_dir(directory)
        .env(CONFIG, "")
        .env("HOME", dir.path().join("home"))
        .env("XDG_CONFIG_HOME", dir.path().join("config"))
        .env("BACKBURNER_DIR", dir.data())
        .stdin(Stdio::null());
    command
}

fn done(command: &mut Command) -> Done {
    let output = command.output().expect("the binary can be started");
    Done {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("it prints UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("it prints UTF-8"),
    }
}

/// `backburner` with these arguments and the configuration file of `dir`.
fn backburner(dir: &TestDir, arguments: &[&str]) -> Done {
    let mut command = command(dir, dir.path());
    done(command.env(CONFIG, file(dir)).args(arguments))
}
