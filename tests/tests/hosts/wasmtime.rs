//! The `wasmtime` command line, which has neither a store nor jobs: what `wit/README.md` says of the component there.
//!
//! Knows the sentences of that file, each of which is a function here. Does not know what a reply says: that is in the
//! transcripts, and the core's replies to those are what the program's are compared with, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use backburner_tests::foreign::{Ended, Workbench, can_test, wasmtime};
use backburner_tests::transcript::{Transcript, corpus};
use backburner_tests::{Client, component, request, run_call, workspace};
use serde_json::{Value, json};

use crate::composition::composed;
use crate::conversation::Conversation;

/// The flags with which it starts: no WASI of that program's, and every import a trap.
const TRAPS: [&str; 4] = ["-S", "cli=n", "-W", "unknown-imports-trap=y"];

/// What the README calls the component.
const COMPONENT: &str = "backburner_guest.wasm";

const REFUSE: &str = r#"refuse("", too-large)"#;

/// The transcripts of which no message touches an import, so that each of their replies is compared.
const WITHOUT_IMPORTS: [&str; 4] = ["discovery", "malformed", "meta", "methods"];

/// The transcripts that set more than how long a call waits, which nobody can here.
const CONFIGURED: [&str; 4] = ["confirming", "terminals", "tools", "waiting"];

/// How many replies are compared at least, so that they do not become fewer unnoticed.
const REPLIES_MIN: usize = 140;

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
        let body = notated(body);
        let call = format!(r#"message({{now: 1, principal: "somebody"}}, {body})"#);
        self.invoke(&TRAPS, component, &call)
    }

    /// What it replies to these messages, in their order and as it is printed. What touches an import is left out, and
    /// so is what gets no reply.
    fn printed_replies(&self, messages: &[String]) -> Vec<String> {
        let mut printed = BTreeMap::new();
        let outcomes = messages.iter().map(|message| {
            // The same message once: those that ask for a task come often.
            let outcome = printed
                .entry(message)
                .or_insert_with(|| printed_outcome(&self.message(&component(), message)));
            outcome.clone()
        });
        let is_reply = |outcome: &String| outcome.starts_with("reply(");
        outcomes.flatten().filter(is_reply).collect()
    }
}

/// What was printed of an outcome; `None` where a message touches an import.
fn printed_outcome(ended: &Ended) -> Option<String> {
    let has_touched = !ended.status.success() && ended.text.contains("unknown import: `");
    assert!(ended.status.success() || has_touched, "{ended:?}");
    (!has_touched).then(|| ended.text.trim_end().to_owned())
}

/// A text in the notation of that program: as in JSON where it has no control characters, but for the apostrophe.
fn notated(text: &str) -> String {
    Value::from(text).to_string().replace('\'', r"\'")
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
    messages_that_touch_no_import_are_answered_as_by_the_core(&it);
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

/// Whole replies, to every such message of the corpus.
fn messages_that_touch_no_import_are_answered_as_by_the_core(it: &CommandLine) {
    let mut left_out = Vec::new();
    let mut compared = 0;
    for transcript in corpus() {
        if sets_more_than_the_direct_limit(&transcript) {
            left_out.push(transcript.name);
            continue;
        }
        let said = Conversation::with_core(&transcript);
        let wanted = said.received.iter();
        let wanted: Vec<String> = wanted
            .map(|reply| format!("reply({})", notated(reply)))
            .collect();
        let printed = it.printed_replies(&said.sent);
        if WITHOUT_IMPORTS.contains(&transcript.name.as_str()) {
            assert_eq!(printed, wanted, "{}.transcript", transcript.name);
        }
        assert_are_among(&printed, &wanted, &transcript.name);
        compared += printed.len();
    }
    assert_eq!(left_out, CONFIGURED);
    assert!(compared >= REPLIES_MIN, "{compared} replies");
}

/// Whether a server that nobody configured would say other things than in this transcript. Of what touches no import
/// the direct limit shows in `server/discover` alone, which no transcript sends that sets it.
fn sets_more_than_the_direct_limit(transcript: &Transcript) -> bool {
    let members = transcript.config.as_object();
    let members = members.expect("a configuration is an object");
    members.keys().any(|name| name != "directLimitMs")
}

/// Sees that these replies were received, in this order; others may have been between them.
fn assert_are_among(printed: &[String], wanted: &[String], name: &str) {
    let mut rest = wanted.iter();
    for reply in printed {
        assert!(
            rest.any(|it| it == reply),
            "{name}.transcript: the core does not say, or not in this place: {reply}"
        );
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
