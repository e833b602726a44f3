//! The host as a library: the web service of `host/examples/axum`, whose jobs are functions and whose tasks are in
//! memory.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use backburner_tests::{Client, PATIENCE, check_message, example, request, tool_call, until_ended};
use serde_json::{Value, json};

/// A running service. It is killed when this is dropped.
struct Service {
    child: Child,
    /// Host and port.
    address: String,
}

impl Service {
    fn start() -> Self {
        let mut child = Command::new(example())
            .arg("127.0.0.1:0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example was just built");
        let stdout = child.stdout.take().expect("standard output is piped");
        let mut service = Self {
            child,
            address: String::new(),
        };
        let line = first_line(stdout);
        let address = line.trim().strip_prefix("http://");
        let address = address.and_then(|rest| rest.strip_suffix("/mcp"));
        service.address = address
            .unwrap_or_else(|| panic!("this is no address: {line:?}"))
            .to_owned();
        service
    }

    /// Posts a message, and leaves it to the caller to wait for the answer.
    fn post(&self, message: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("the service listens");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a socket has a timeout");
        let (address, body) = (&self.address, message.to_string());
        let length = body.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        stream
            .write_all((head + &body).as_bytes())
            .expect("the service reads");
        stream
    }

    /// The result of a request of a client with the Tasks extension.
    fn ask(&self, method: &str, params: &Value) -> Value {
        let reply = reply(self.post(&request(1, method, params, Client::Tasks)));
        match reply.get("result") {
            Some(result) => result.clone(),
            None => panic!("{method} failed: {reply}"),
        }
    }

    fn task(&self, id: &Value) -> Value {
        self.ask("tasks/get", &json!({ "taskId": id }))
    }

    /// A task that is not `working` any more.
    fn ended_task(&self, id: &Value) -> Value {
        until_ended(|| self.task(id))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Both fail only where it has ended before, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn first_line(stream: impl Read + Send + 'static) -> String {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        // What could not be read is no address, and nobody listens where the test is over.
        let _ = BufReader::new(stream).read_line(&mut line);
        let _ = sender.send(line);
    });
    receiver
        .recv_timeout(PATIENCE)
        .expect("the service says its address")
}

/// The message that a response has.
fn reply(mut stream: TcpStream) -> Value {
    let mut response = String::new();
    stream
        .read_to_string(&mut response)
        .expect("the service answers");
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or_default();
    assert!(head.starts_with("HTTP/1.1 200 "), "{response}");
    check_message(body).unwrap_or_else(|error| panic!("not a message of a server: {error}"))
}

#[test]
fn a_function_becomes_a_task_with_what_it_wrote() {
    let service = Service::start();
    let created = service.ask("tools/call", &call("countdown 8"));
    assert_eq!(created["resultType"], "task", "{created}");
    let task = service.ended_task(&created["taskId"]);
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["result"]["structuredContent"]["exitCode"], 0, "{task}");
    let text = task["result"]["content"].to_string();
    assert!(
        text.contains("8\\n7\\n6\\n5\\n4\\n3\\n2\\n1\\nlift-off"),
        "{text}"
    );
}

#[test]
fn a_function_that_there_is_not_is_an_error_of_the_tool() {
    let result = Service::start().ask("tools/call", &call("land 3"));
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"].to_string();
    assert!(text.contains("there is no function `land`"), "{text}");
}

#[test]
fn a_function_asks_a_person() {
    let service = Service::start();
    for (answer, code, said) in [("accept", 0, "lift-off"), ("decline", 1, "nobody agreed")] {
        let created = service.ask("tools/call", &call("launch 1"));
        let id = &created["taskId"];
        let asking = until_ended(|| reply(service.post(&get(id)))["result"].take());
        assert_eq!(asking["status"], "input_required", "{asking}");
        let requests = asking["inputRequests"].as_object().expect("it asks");
        let key = requests.keys().next().expect("it asks one thing");
        let response = json!({ "action": answer, "content": {} });
        let update = json!({ "taskId": id, "inputResponses": { key: response } });
        service.ask("tasks/update", &update);
        let task = service.ended_task(id);
        assert_eq!(
            task["result"]["structuredContent"]["exitCode"], code,
            "{task}"
        );
        assert!(task.to_string().contains(said), "{task}");
    }
}

/// A look at a task by a client that can ask its user.
fn get(id: &Value) -> Value {
    request(3, "tasks/get", &json!({ "taskId": id }), Client::Asking)
}

#[test]
fn a_function_is_cancelled_where_it_waits() {
    let service = Service::start();
    let created = service.ask("tools/call", &call("countdown 100000"));
    service.ask("tasks/cancel", &json!({ "taskId": created["taskId"] }));
    let task = service.ended_task(&created["taskId"]);
    assert_eq!(task["status"], "cancelled", "{task}");
}

#[test]
fn whoever_closes_the_connection_takes_back_the_request_and_not_the_job() {
    let service = Service::start();
    let call = tool_call(&json!({ "command": "countdown 20", "idempotencyKey": "once" }));
    // A client without the Tasks extension waits for the result.
    let waiting = service.post(&request(2, "tools/call", &call, Client::Plain));
    // Sent later and answered after a tenth of a second, so the first one waits by then.
    let created = service.ask("tools/call", &call);
    drop(waiting);
    let task = service.ended_task(&created["taskId"]);
    assert_eq!(task["status"], "completed", "{task}");
    assert!(task.to_string().contains("lift-off"), "{task}");
}

fn call(command: &str) -> Value {
    tool_call(&json!({ "command": command }))
}
