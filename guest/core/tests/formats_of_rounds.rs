//! What is stored for commands that a person confirms, and what clients carry meanwhile, byte for byte as in the files
//! of `formats/`, which stay for ever: see `formats.rs`.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use support::host::parse;
use support::messages::{Client, run, with_elicitation};
use support::{FakeWorld, Host};

/// The fixture of this name: one line.
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("formats/", $name)).trim_ascii_end()
    };
}

const SECRET: &str = fixture!("secret-1.json");
const PAYLOAD: &str = fixture!("request-state-1.json");
const STATE: &str = fixture!("request-state-1.txt");
const CONFIRMED: &str = fixture!("task-1-live-confirmed.json");
const INDEXES: &str = fixture!("indexes-confirmed.txt");
const REFUSED: &str = fixture!("indexes-refused.txt");

const CONFIG: &str =
    r#"{"directLimitMs":0,"confirm":[{"pattern":"rm ...","reason":"it deletes"}]}"#;

fn arguments() -> Value {
    json!({ "command": "rm x; sleep 60", "label": "l" })
}

fn call(more: &Value) -> String {
    let body = with_elicitation(&run(1, Client::Tasks, &arguments()), &json!({}));
    let mut body = parse(&body);
    for (name, value) in more.as_object().expect("an object") {
        body["params"][name] = value.clone();
    }
    body.to_string()
}

/// The call that says yes to the question of this state.
fn yes(state: &str) -> String {
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    answered(state, &yes)
}

fn answered(state: &str, answer: &Value) -> String {
    call(&json!({ "requestState": state, "inputResponses": { "confirm": answer } }))
}

/// All that is stored under keys that do not begin like this.
fn stored(world: &FakeWorld, but: &str) -> String {
    let keys = world.store.keys("").into_iter();
    let lines = keys.filter(|key| !key.starts_with(but)).map(|key| {
        let value = world.store.value(key).expect("it was just listed");
        format!("{key} {value}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What a server asks first in this world, and what its client carries then.
fn asked(world: &mut FakeWorld) -> String {
    let reply = Host::new(CONFIG, "user").ask(world, &call(&json!({})));
    let state = reply["result"]["requestState"].as_str();
    state.unwrap_or_else(|| panic!("{reply}")).to_owned()
}

#[test]
fn a_state_that_a_client_carries() {
    let mut world = FakeWorld::new(1);
    let state = asked(&mut world);
    assert_eq!(world.store.value("secret/request-state"), Some(SECRET));
    let (payload, _) = state.split_once('.').expect("payload and code");
    let payload = URL_SAFE_NO_PAD.decode(payload).expect("base64url");
    let mut payload: Value = serde_json::from_slice(&payload).expect("JSON");
    // It changes with the words of the question.
    let question = payload.pointer_mut("/request-state~11/asked/confirm");
    *question.expect("it was asked") = "QUESTION".into();
    let expect: Value = serde_json::from_str(PAYLOAD).expect("JSON");
    assert_eq!(payload, expect);
}

#[test]
fn a_state_that_a_client_brings() {
    let mut world = FakeWorld::new(2);
    world.store.put("secret/request-state", SECRET);
    let reply = Host::new(CONFIG, "user").ask(&mut world, &yes(STATE));
    // The question may have other words by now, and is then asked again.
    assert!(reply["result"]["resultType"].is_string(), "{reply}");
}

#[test]
fn what_is_stored_of_a_command_that_was_confirmed() {
    let mut world = FakeWorld::new(1);
    let state = asked(&mut world);
    let reply = Host::new(CONFIG, "user").ask(&mut world, &yes(&state));
    let id = reply["result"]["taskId"].as_str().expect("a task");
    let record = world.store.value(&format!("task/{id}"));
    assert_eq!(record, Some(CONFIRMED));
    assert_eq!(stored(&world, "task/"), INDEXES);
}

#[test]
fn what_is_stored_of_a_command_that_was_refused() {
    let mut world = FakeWorld::new(1);
    let state = asked(&mut world);
    let no = answered(&state, &json!({ "action": "decline" }));
    Host::new(CONFIG, "user").ask(&mut world, &no);
    assert_eq!(stored(&world, "task/"), REFUSED);
}

#[test]
fn a_state_that_was_used_is_known_by_its_entry() {
    for (stored, words) in [(INDEXES, "one attempt"), (REFUSED, "said no")] {
        let mut world = FakeWorld::new(1);
        let state = asked(&mut world);
        for (key, value) in stored.lines().filter_map(|line| line.split_once(' ')) {
            world.store.put(key, value);
        }
        let reply = Host::new(CONFIG, "user").ask(&mut world, &yes(&state));
        assert!(reply.to_string().contains("was used"), "{reply}");
        assert!(reply.to_string().contains(words), "{reply}");
    }
}

#[test]
fn a_record_of_a_confirmed_command() {
    let mut world = FakeWorld::new(2);
    let id = "a53c36d7-6cec-49e0-b585-27120fbbe785";
    world.store.put(&format!("task/{id}"), CONFIRMED);
    let reply = Host::new(CONFIG, "user").get(&mut world, id);
    assert_eq!(
        reply["result"]["statusMessage"],
        "l: the job is about to start"
    );
}
