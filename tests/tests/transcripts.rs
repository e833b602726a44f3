//! Plays the corpus against the core natively, also with a new server for each call, the component in wasmtime, the host as
//! a library and the real binary.
//!
//! `BLESS=1` writes what the core answers where a transcript expects something else; look at the difference before
//! you keep it.

use std::sync::OnceLock;

use backburner_tests::party::{InProcess, Library, Party, Real, component, core, fresh_core};
use backburner_tests::transcript::{
    Failure, Heard, Transcript, bless, check, corpus, differences, play,
};
use backburner_tests::{Client, request};
use serde_json::json;

/// How often one transcript is blessed: once for each of its expectations, and then some.
const BLESSINGS_MAX: usize = 200;

fn in_core(transcript: &Transcript) -> Result<Vec<String>, Failure> {
    play(transcript, &mut core(&transcript.config.to_string()))
}

fn in_fresh_core(transcript: &Transcript) -> Result<Vec<String>, Failure> {
    play(transcript, &mut fresh_core(&transcript.config.to_string()))
}

fn in_component(transcript: &Transcript) -> Result<Vec<String>, Failure> {
    play(transcript, &mut component(&transcript.config.to_string()))
}

fn in_library(transcript: &Transcript) -> Result<Vec<String>, Failure> {
    play(
        transcript,
        &mut Library::new(&transcript.config.to_string()),
    )
}

fn in_binary(transcript: &Transcript) -> Result<Vec<String>, Failure> {
    play(transcript, &mut Real::new(&transcript.config))
}

fn bless_all() {
    for name in corpus().into_iter().map(|transcript| transcript.name) {
        for _ in 0..BLESSINGS_MAX {
            let now = corpus();
            let transcript = now.iter().find(|transcript| transcript.name == name);
            let transcript = transcript.expect("blessing removes no transcript");
            match in_core(transcript) {
                Ok(_) => break,
                Err(failure) => bless(transcript, &failure),
            }
        }
    }
}

/// What the core says, or what is wrong with that: asked once, and blessed before if it is to be.
fn of_core() -> &'static Result<Heard, String> {
    static CORE: OnceLock<Result<Heard, String>> = OnceLock::new();
    CORE.get_or_init(|| {
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            bless_all();
        }
        check(in_core)
    })
}

/// Fails where somebody does not answer as the transcripts say, or not with the bytes of the core.
fn assert_says_what_the_core_says(name: &str, play_all: fn() -> Result<Heard, String>) {
    // The core first: only then is what is to be blessed blessed.
    let Ok(core) = of_core() else {
        panic!("the core itself fails: see the_core_answers_as_the_transcripts_say");
    };
    let said = play_all().unwrap_or_else(|problems| panic!("\n{problems}\n"));
    let problems = differences(core, &said);
    assert!(
        problems.is_empty(),
        "the core and the {name} differ:\n{}\n",
        problems.join("\n")
    );
}

#[test]
fn the_core_answers_as_the_transcripts_say() {
    if let Err(problems) = of_core() {
        panic!("\n{problems}\n");
    }
}

#[test]
fn a_new_core_for_each_call_says_what_one_core_says() {
    assert_says_what_the_core_says("core with a new server for each call", || {
        check(in_fresh_core)
    });
}

#[test]
fn the_component_says_what_the_core_says() {
    assert_says_what_the_core_says("component", || check(in_component));
}

#[test]
fn the_library_says_what_the_core_says() {
    assert_says_what_the_core_says("library", || check(in_library));
}

#[test]
fn the_binary_says_what_the_core_says() {
    assert_says_what_the_core_says("binary", || check(in_binary));
}

/// A stdio server has one principal, so this is no transcript.
fn check_foreign(mut server: InProcess) {
    let mut ask = |principal: &str, method: &str, params: serde_json::Value| {
        server.become_principal(principal);
        server.send(&request(1, method, &params, Client::Tasks).to_string());
        server.receive().expect("every request is answered")
    };
    let call = json!({ "name": "run", "arguments": { "command": "sleep 60" } });
    let created = ask("owner", "tools/call", call);
    let created: serde_json::Value = serde_json::from_str(&created).expect("a reply is JSON");
    let id = created["result"]["taskId"]
        .as_str()
        .expect("the reply names a task")
        .to_owned();
    let unknown = "1c3f4a5e-7d21-4f0e-9a86-0d9f6a1b2c3d";
    for (method, rest) in [
        ("tasks/get", json!({})),
        ("tasks/cancel", json!({})),
        ("tasks/update", json!({ "inputResponses": {} })),
    ] {
        let params = |id: &str| {
            let mut params = rest.clone();
            params["taskId"] = json!(id);
            params
        };
        let of_foreign = ask("stranger", method, params(&id));
        let of_unknown = ask("stranger", method, params(unknown));
        assert_eq!(
            of_foreign, of_unknown,
            "{method} tells a stranger that the task exists"
        );
        assert!(of_foreign.contains("-32602"), "{of_foreign}");
        // A principal that begins alike, or has what separates the parts of a key, is another one.
        assert_eq!(ask("owner/x", method, params(&id)), of_unknown);
        assert_eq!(ask("own", method, params(&id)), of_unknown);
    }
    let task = ask("owner", "tasks/get", json!({ "taskId": id }));
    assert!(
        task.contains("\"working\""),
        "the stranger's cancel changed nothing: {task}"
    );
}

#[test]
fn another_principal_gets_the_bytes_of_an_unknown_id_from_the_core() {
    check_foreign(core("{}"));
}

#[test]
fn another_principal_gets_the_bytes_of_an_unknown_id_from_the_component() {
    check_foreign(component("{}"));
}
