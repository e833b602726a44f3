//! The real binary pushes what changes: subscriptions and progress, over stdio.

use backburner_tests::{
    Client, PATIENCE, Server, Setup, TestDir, binary, request, run_call, until,
};
use serde_json::{Value, json};

/// The tag of what belongs to a subscription.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Opens a subscription to a task, and gives its id when it is acknowledged.
fn listen(server: &mut Server, task: &str) -> u64 {
    listen_as(Client::Tasks, server, task)
}

fn listen_as(client: Client, server: &mut Server, task: &str) -> u64 {
    let params = json!({ "notifications": { "taskIds": [task] } });
    let id = server.post("subscriptions/listen", &params, client);
    let told = server.receive(PATIENCE);
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(told["params"]["_meta"][SUBSCRIPTION], id);
    assert_eq!(told["params"]["notifications"]["taskIds"], json!([task]));
    id
}

/// What is told of the task next.
fn told(server: &mut Server, subscription: u64) -> Value {
    let mut told = server.receive(PATIENCE);
    assert_eq!(told["method"], "notifications/tasks", "{told}");
    assert_eq!(told["params"]["_meta"][SUBSCRIPTION], subscription);
    told["params"].take()
}

/// What is told of the task until it does not only work; the last of it.
fn end(server: &mut Server, subscription: u64) -> Value {
    loop {
        let told = told(server, subscription);
        if told["status"] != "working" {
            return told;
        }
    }
}

#[test]
fn a_question_and_that_it_was_answered_are_told() {
    let dir = TestDir::new();
    let mut server = Server::start_with(&dir, &Setup::flags(&["--direct-limit", "0"]));
    let ask = format!("'{}' ask", binary().display());
    let gate = dir.path().join("gate");
    let wait = format!("until [ -e '{}' ]; do sleep 0.02; done", gate.display());
    let id = server.run(&format!("{ask} One? --text; {wait}; exit 3"));
    let subscription = listen_as(Client::Asking, &mut server, &id);
    let asked = end(&mut server, subscription);
    assert_eq!(asked["status"], "input_required", "{asked}");
    let requests = asked["inputRequests"].as_object().expect("there are some");
    let (key, request) = requests.iter().next().expect("there is one");
    assert_eq!(request["params"]["message"], "One?");
    let mut other = Server::start(&dir);
    let answer = json!({ "action": "accept", "content": { "answer": "yes" } });
    let params = json!({ "taskId": id, "inputResponses": { key: answer } });
    other.result("tasks/update", &params, Client::Asking);
    let answered = loop {
        let told = told(&mut server, subscription);
        if told["status"] != "input_required" {
            break told;
        }
    };
    assert_eq!(answered["status"], "working", "{answered}");
    assert!(answered.get("inputRequests").is_none(), "{answered}");
    std::fs::write(&gate, "").expect("there is room");
    let end = end(&mut server, subscription);
    assert_eq!(end["result"]["structuredContent"]["exitCode"], 3, "{end}");
}

#[test]
fn a_job_of_another_server_is_told_when_it_ends() {
    let dir = TestDir::new();
    let mut first = Server::start(&dir);
    let id = first.run("sleep 1.5; echo late; exit 3");
    first.kill();
    let mut second = Server::start(&dir);
    let subscription = listen(&mut second, &id);
    let end = end(&mut second, subscription);
    assert_eq!(end["status"], "completed");
    assert_eq!(end["result"]["structuredContent"]["exitCode"], 3);
    second.assert_alive();
}

#[test]
fn a_task_that_another_server_cancels_is_told() {
    let dir = TestDir::new();
    let mut first = Server::start(&dir);
    let id = first.run("sleep 60");
    let subscription = listen(&mut first, &id);
    let mut second = Server::start(&dir);
    second.result("tasks/cancel", &json!({ "taskId": id }), Client::Tasks);
    assert_eq!(end(&mut first, subscription)["status"], "cancelled");
}

#[test]
fn at_the_end_of_its_input_a_server_ends_its_subscriptions_with_a_result() {
    let dir = TestDir::new();
    let mut server = Server::start(&dir);
    let id = server.run("sleep 60");
    let subscription = listen(&mut server, &id);
    let exit = server.close();
    let (last, notifications) = exit.unread.split_last().expect("something was sent");
    assert_eq!(last["id"], subscription);
    assert_eq!(last["result"]["resultType"], "complete");
    assert_eq!(last["result"]["_meta"][SUBSCRIPTION], subscription);
    assert!(
        notifications
            .iter()
            .all(|it| it["method"] == "notifications/tasks"),
        "{notifications:?}"
    );
    let mut other = Server::start(&dir);
    assert_eq!(other.task(&id)["status"], "working", "jobs go on");
    other.result("tasks/cancel", &json!({ "taskId": id }), Client::Tasks);
}

#[test]
fn a_subscription_that_was_taken_back_tells_nothing_more() {
    let dir = TestDir::new();
    let mut server = Server::start(&dir);
    let gate = dir.path().join("gate");
    let id = server.run(&format!(
        "until [ -e '{}' ]; do sleep 0.02; done",
        gate.display()
    ));
    let subscription = listen(&mut server, &id);
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": subscription }
    }));
    // Messages are read in the order in which they are sent.
    server.assert_alive();
    std::fs::write(&gate, "").expect("there is room");
    server.ended_task(&id);
    let late = |message: &Value| message["params"]["status"] == "completed";
    let unread = server.close().unread;
    assert!(!unread.iter().any(late), "{unread:?}");
    assert!(
        !unread.iter().any(|it| it.get("id").is_some()),
        "{unread:?}"
    );
}

#[test]
fn tools_that_change_are_told_and_a_change_that_is_none_is_not() {
    let dir = TestDir::new();
    let file = dir.path().join("backburner.toml");
    let write = |text: &str| std::fs::write(&file, text).expect("there is room");
    let tool = "[[tools]]\nname = \"greet\"\ndescription = \"Greets\"\nprogram = [\"echo\"]\n";
    write("syncLimitMs = 4000\n");
    let path = file.to_str().expect("the paths of tests are UTF-8");
    let mut server = Server::start_with(&dir, &Setup::flags(&["--config", path]));
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let subscription = server.post("subscriptions/listen", &params, Client::Plain);
    let told = server.receive(PATIENCE);
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
    // The first change has the same tools, so that what is told is the second one.
    write("syncLimitMs = 5000\n");
    until(PATIENCE, "the file to be read", || {
        let said = server.stderr();
        said.contains("was read anew").then_some(()).ok_or(said)
    });
    write(tool);
    let told = server.receive(PATIENCE);
    assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
    assert_eq!(told["params"]["_meta"][SUBSCRIPTION], subscription);
    let list = server.result("tools/list", &json!({}), Client::Plain);
    let names = list["tools"].as_array().expect("an array").iter();
    let names: Vec<&str> = names.filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["run", "greet"]);
}

#[test]
fn a_call_with_a_progress_token_is_told_how_far_it_is() {
    let dir = TestDir::new();
    let mut server = Server::start(&dir);
    let params = run_call("echo step; sleep 2.5; echo done");
    let mut call = request(7, "tools/call", &params, Client::Plain);
    call["params"]["_meta"]["progressToken"] = json!("p");
    server.send(&call);
    let mut values = Vec::new();
    let reply = loop {
        let message = server.receive(PATIENCE);
        if message["id"] == 7 {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "p");
        values.push(message["params"]["progress"].as_f64().expect("a number"));
    };
    assert_eq!(reply["result"]["isError"], false);
    assert!(!values.is_empty() && values.is_sorted(), "{values:?}");
}
