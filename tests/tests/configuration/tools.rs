//! Tools of a person's own, from the file to the result.

use backburner_tests::{Client, PATIENCE, Server, TestDir, until};
use serde_json::{Value, json};

use super::{backburner, file, with_file, write};

/// A tool in the file's own format, with its arguments on the command line.
const GREET: &str = "\
[[tools]]
name = 'greet'
title = 'Greet somebody'
description = 'Greets somebody by name.'
program = ['echo', 'hello', '{name}']
inputSchema.type = 'object'
inputSchema.properties.name.type = 'string'
";

fn names(server: &mut Server) -> Vec<String> {
    let listed = server.result("tools/list", &json!({}), Client::Plain);
    let tools = listed["tools"].as_array().expect("there is a list");
    let names = tools.iter().filter_map(|tool| tool["name"].as_str());
    names.map(str::to_owned).collect()
}

fn until_names(server: &mut Server, expected: &[&str]) {
    until(PATIENCE, "the tools to be others", || {
        let names = names(server);
        let is_so = names == expected;
        is_so.then_some(()).ok_or(format!("{names:?}"))
    });
}

fn greeting(server: &mut Server) -> Value {
    let call = json!({ "name": "greet", "arguments": { "name": "a b; c" } });
    server.request("tools/call", &call, Client::Plain)
}

#[test]
fn a_tool_is_checked_listed_and_called() {
    let dir = TestDir::new();
    write(&file(&dir), GREET);
    let checked = backburner(&dir, &["check"]);
    assert!(
        checked.stdout.contains("\n  greet  Greet somebody\n"),
        "{checked:?}"
    );
    let mut server = Server::start_with(&dir, &with_file(&file(&dir)));
    assert_eq!(names(&mut server), ["run", "greet"]);
    let reply = greeting(&mut server);
    let text = &reply["result"]["content"][0]["text"];
    assert_eq!(*text, "hello a b; c", "{reply}");
}

#[test]
fn tools_come_and_go_with_the_file_and_a_mistake_takes_none() {
    let dir = TestDir::new();
    write(&file(&dir), "# none yet\n");
    let mut server = Server::start_with(&dir, &with_file(&file(&dir)));
    assert_eq!(names(&mut server), ["run"]);
    write(&file(&dir), &format!("run.enabled = false\n{GREET}"));
    until_names(&mut server, &["greet"]);
    write(&file(&dir), &GREET.replace("{name}", "{nobody}"));
    super::until_said(&server, ":5:29: /tools/0/program/2: ", 1);
    assert_eq!(names(&mut server), ["greet"]);
    write(&file(&dir), "# none any more\n");
    until_names(&mut server, &["run"]);
    let reply = greeting(&mut server);
    assert!(reply["error"]["code"].is_i64(), "{reply}");
}

#[test]
fn what_is_missing_in_a_tool_is_named_at_the_tool() {
    let dir = TestDir::new();
    let text = "graceMs = 1\n\n[[tools]]\nname = 'greet'\nprogram = ['true']\n";
    write(&file(&dir), text);
    let checked = backburner(&dir, &["check"]);
    assert_eq!(checked.status, Some(2), "{checked:?}");
    let words = format!("{}:3:1: /tools/0: `description` ", file(&dir).display());
    assert!(checked.stderr.starts_with(&words), "{checked:?}");
}
