//! The `wasmtime` command line, which has neither a store nor jobs: what `wit/README.md` says of the component there.
//!
//! Knows the sentences of that file, each of which is a function here. Does not know what a reply says beyond that it is
//! the one that was asked for: that is in the transcripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use backburner_tests::foreign::{Ended, Workbench, can_test, wasmtime};
use backburner_tests::{Client, component, request, run_call, workspace};
use serde_json::{Value, json};

use crate::composition::composed;

/// The flags with which it starts: no WASI of that program's, and every import a trap.
const TRAPS: [&str; 4] = ["-S", "cli=n", "-W", "unknown-imports-trap=y"];

/// What the README calls the component.
const COMPONENT: &str = "backburner_guest.wasm";

const REFUSE: &str = r#"refuse("", too-large)"#;

/// A task that there is not.
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

/// That program, and the two components on its workbench.
struct CommandLine<'a> {
    bench: &'a Workbench,
    /// The directory that it is in.
    programs: PathBuf,
    /// What is composed with a store.
    composed: PathBuf,
}

impl CommandLine<'_> {
    /// Calls a function of a component.
    fn invoke(&self, flags: &[&str], component: &Path, call: &str) -> Ended {
        let mut command = Command::new(self.programs.join("wasmtime"));
        command.arg("run").args(flags).args(["--invoke", call]);
        self.bench.attempt(command.arg(component))
    }

    /// Has a component handle a message, with every import a trap.
    fn message(&self, component: &Path, body: &str) -> Ended {
        // A text of that notation is one of JSON where it has no control characters.
        let body = Value::from(body);
        let call = format!(r#"message({{now: 1, principal: "somebody"}}, {body})"#);
        self.invoke(&TRAPS, component, &call)
    }
}

/// A request of a client with tasks, as text.
fn ask(method: &str, params: &Value) -> String {
    request(1, method, params, Client::Tasks).to_string()
}

/// Sees that a call gave something that contains `wanted`.
fn assert_gives(ended: &Ended, wanted: &str) {
    assert!(
        ended.status.success() && ended.text.contains(wanted),
        "wanted {wanted}: {ended:?}"
    );
}

/// Sees that a call, or the start before it, failed because of `reason`.
fn assert_fails(ended: &Ended, reason: &str) {
    assert!(
        !ended.status.success() && ended.text.contains(reason),
        "wanted a failure that says {reason}: {ended:?}"
    );
}

#[test]
fn the_component_does_under_the_command_line_what_its_documentation_says() {
    if !can_test("the wasmtime command line", wasmtime::missing()) {
        return;
    }
    let bench = Workbench::open(env!("CARGO_TARGET_TMPDIR"), "wasmtime");
    let programs = wasmtime::install(&bench);
    let composition = bench.path().join("composed.wasm");
    fs::write(&composition, composed()).expect("the workbench can be written");
    fs::copy(component(), bench.path().join(COMPONENT)).expect("the workbench can be written");
    let it = CommandLine {
        bench: &bench,
        programs,
        composed: composition,
    };
    the_documented_command_prints_a_reply(&it);
    messages_that_touch_no_import_are_answered(&it);
    what_needs_an_import_traps(&it);
    without_the_flags_it_does_not_start(&it);
    each_call_has_an_instance_that_nobody_configured(&it);
    a_store_that_is_composed_in_is_used(&it);
}

/// The command stands in the documentation, as does the version of the program.
fn the_documented_command_prints_a_reply(it: &CommandLine) {
    let readme = workspace().join("wit/README.md");
    let readme = fs::read_to_string(readme).expect("the interface has a README");
    let mut lines = readme.lines();
    let line = lines.find(|line| line.starts_with("wasmtime run "));
    let line = line.expect("the README has the command");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", it.programs.display());
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("PATH", path);
    assert_gives(&it.bench.attempt(&mut command), "-32600");
    let version = it
        .bench
        .attempt(Command::new(it.programs.join("wasmtime")).arg("--version"));
    // "wasmtime 49.0.3 (f96eabaa1 2026-10-14)"
    let number = version.text.split_whitespace().nth(1).unwrap_or_default();
    assert!(
        readme.contains(&format!("command line** ({number}, ")),
        "the README names another version than {version:?}"
    );
}

fn messages_that_touch_no_import_are_answered(it: &CommandLine) {
    for (body, wanted) in [
        (ask("server/discover", &json!({})), "supportedVersions"),
        (ask("tools/list", &json!({})), "inputSchema"),
        ("nonsense".to_owned(), "-32700"),
        ("[]".to_owned(), "-32600"),
        (ask("no/such/method", &json!({})), "-32601"),
    ] {
        assert_gives(&it.message(&component(), &body), wanted);
    }
}

fn what_needs_an_import_traps(it: &CommandLine) {
    let get = ask("tasks/get", &json!({ "taskId": UNKNOWN }));
    let reason = "unknown import: `backburner:server/store@0.1.0#get`";
    assert_fails(&it.message(&component(), &get), reason);
    let call = ask("tools/call", &run_call("true"));
    for component in [&component(), &it.composed] {
        let ended = it.message(component, &call);
        assert_fails(&ended, "unknown import: `wasi:random/random@0.2.");
    }
}

fn without_the_flags_it_does_not_start(it: &CommandLine) {
    let start = |flags: &[&str]| it.invoke(flags, &component(), REFUSE);
    let [no_wasi, traps] = [&TRAPS[..2], &TRAPS[2..]];
    let has_no_store = "component imports instance `backburner:server/store@0.1.0`";
    assert_fails(&start(&[]), has_no_store);
    assert_fails(&start(no_wasi), "component imports instance `");
    assert_fails(&start(traps), "mismatched resource types");
    let defaults = ["-W", "unknown-imports-default=y"];
    assert_fails(&start(&defaults), "with components");
}

fn each_call_has_an_instance_that_nobody_configured(it: &CommandLine) {
    let configure = r#"configure("{\"run\":{\"enabled\":false}}")"#;
    assert_gives(&it.invoke(&TRAPS, &component(), configure), "ok");
    let list = ask("tools/list", &json!({}));
    assert_gives(&it.message(&component(), &list), r#"\"name\":\"run\""#);
}

fn a_store_that_is_composed_in_is_used(it: &CommandLine) {
    let get = ask("tasks/get", &json!({ "taskId": UNKNOWN }));
    assert_gives(&it.message(&it.composed, &get), "unknown task");
}
