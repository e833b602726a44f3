//! A question from inside a job, and the servers that come and go while it is open.

use backburner_tests::{Client, PATIENCE, Server, binary, until};
use serde_json::{Value, json};

use crate::scene::{Scene, assert_nothing_left};

/// Waits until the task asks, and gives what it asks.
pub(crate) fn asked(server: &mut Server, id: &str) -> Value {
    until(PATIENCE, "the job to ask", || {
        let task = server.result("tasks/get", &json!({ "taskId": id }), Client::Asking);
        match &task["inputRequests"] {
            Value::Null => Err(task.to_string()),
            requests => Ok(requests.clone()),
        }
    })
}

#[test]
fn a_question_of_one_session_is_answered_in_the_next_one_and_the_job_goes_on() {
    let scene = Scene::new();
    let mut first = scene.server();
    let line = format!(
        "answer=$('{}' ask 'Which branch?' --text) && echo \"on $answer\"; exit 7",
        binary().display()
    );
    let id = first.run(&line);
    let requests = asked(&mut first, &id);
    first.kill();
    let mut second = scene.server();
    assert_eq!(asked(&mut second, &id), requests);
    let (key, question) = requests
        .as_object()
        .and_then(|requests| requests.iter().next())
        .expect("it asks something");
    assert_eq!(question["params"]["message"], "Which branch?");
    let answer = json!({ "action": "accept", "content": { "answer": "main" } });
    let answers = json!({ "taskId": id, "inputResponses": { key: answer } });
    second.result("tasks/update", &answers, Client::Asking);
    // Read your writes.
    let task = second.result("tasks/get", &json!({ "taskId": id }), Client::Asking);
    assert!(task.get("inputRequests").is_none(), "{task}");
    let task = second.ended_task(&id);
    let result = &task["result"];
    assert_eq!(result["structuredContent"]["exitCode"], 7, "{task}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(
        text.ends_with("\n\non main\n") || text.ends_with("\n\non main"),
        "{text}"
    );
    assert_nothing_left(&id);
}

#[test]
fn a_client_that_cannot_ask_is_told_how_a_person_answers() {
    let scene = Scene::new();
    let mut server = scene.server();
    let id = server.run(&format!("'{}' ask Sure?", binary().display()));
    let message = until(PATIENCE, "the job to ask", || {
        let task = server.task(&id);
        let message = task["statusMessage"].as_str().expect("words").to_owned();
        assert_eq!(task["status"], "working");
        if message.contains("Sure?") {
            Ok(message)
        } else {
            Err(message)
        }
    });
    let command = message.split('`').nth(1).expect("a command in backquotes");
    let answered = std::process::Command::new("sh")
        .args(["-c", &format!("{command} --decline")])
        .output()
        .expect("there is a shell");
    assert!(answered.status.success(), "{answered:?}");
    let task = server.ended_task(&id);
    assert_eq!(task["result"]["structuredContent"]["exitCode"], 1, "{task}");
}

#[test]
fn what_a_program_waits_for_at_its_terminal_is_asked_in_every_session_and_typed() {
    let scene = Scene::new();
    let mut first = scene.server();
    let line = "read -r -p 'Proceed? [y/N] ' x; read -r -p 'Really? ' y; echo \"<$x$y>\"; exit 7";
    let id = first.call(&json!({ "command": line, "interactive": true }));
    let requests = asked(&mut first, &id);
    first.kill();
    let mut second = scene.server();
    assert_eq!(asked(&mut second, &id), requests);
    let mut keys = Vec::new();
    for (prompt, text) in [("Proceed? [y/N]", "y"), ("Really?", "es")] {
        let (key, question) = until(PATIENCE, "the next prompt", || {
            let requests = asked(&mut second, &id);
            let requests = requests.as_object().into_iter().flatten();
            let mut new = requests.filter(|(key, _)| !keys.contains(*key));
            let new = new
                .next()
                .map(|(key, question)| (key.clone(), question.clone()));
            new.ok_or_else(|| "none yet".to_owned())
        });
        assert_eq!(question["params"]["message"], prompt);
        let answer = json!({ "action": "accept", "content": { "answer": text } });
        let answers = json!({ "taskId": id, "inputResponses": { key.as_str(): answer } });
        second.result("tasks/update", &answers, Client::Asking);
        // Read your writes.
        let task = second.result("tasks/get", &json!({ "taskId": id }), Client::Asking);
        assert!(!task.to_string().contains(&key), "{task}");
        keys.push(key);
    }
    let task = second.ended_task(&id);
    let result = &task["result"];
    assert_eq!(result["structuredContent"]["exitCode"], 7, "{task}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    let shown = "Proceed? [y/N] y\nReally? es\n<yes>";
    assert!(text.trim_end().ends_with(shown), "{text}");
    assert_nothing_left(&id);
}
