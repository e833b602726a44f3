//! Commands that a policy wants confirmed: what a person types is that person's own act.

use std::fs;

use backburner_tests::{Client, Server, Setup, TestDir, run_call};
use serde_json::Value;

use super::backburner;

const POLICY: &str = "confirm = [{ pattern = \"touch ...\", reason = \"it makes files\" }]\n";

#[test]
fn a_command_that_a_person_types_is_confirmed_by_that() {
    let dir = TestDir::new();
    let config = dir.path().join("backburner.toml");
    fs::write(&config, POLICY).expect("there is room");
    let config = config.to_str().expect("the paths of tests are UTF-8");
    let made = dir.path().join("made");
    let line = format!("touch '{}'; echo done", made.display());
    let ran = backburner(&dir, &["--config", config, "run", &line]);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (Some(0), "done\n"),
        "{ran:?}"
    );
    assert!(made.exists());

    // A client whose model calls the tool, and which cannot ask its person, is told how a person can run it.
    fs::remove_file(&made).expect("it was made");
    let mut server = Server::start_with(&dir, &Setup::flags(&["--config", config]));
    let result = server.result("tools/call", &run_call(&line), Client::Tasks);
    assert_eq!(result["isError"], Value::Bool(true), "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(
        text.contains("it makes files") && text.contains("backburner"),
        "{text}"
    );
    assert!(!made.exists());
}
