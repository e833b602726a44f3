//! The client against servers that are a line of shell.

use super::super::follow::{Followed, follow};
use super::super::terminal::Telling;
use super::*;

/// A server that is a shell script.
fn server(script: &str) -> Client {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Client::spawn(command).expect("there is a shell")
}

#[test]
fn a_reply_is_found_among_other_messages() {
    let mut client = server(
        r#"read -r request
        echo '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
        echo '{"jsonrpc":"2.0","id":99,"result":{"of":"another"}}'
        echo '{"jsonrpc":"2.0","id":1,"result":{"of":"this"}}'
        read -r end"#,
    );
    let result = client
        .request("tasks/get", json!({}))
        .expect("there is a reply");
    assert_eq!(result, json!({"of": "this"}));
}

#[test]
fn a_request_says_what_the_revision_wants() {
    let mut client = server(
        r#"while read -r request; do echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":$request}"; done"#,
    );
    let sent = client
        .request("tasks/get", json!({"taskId": "a"}))
        .expect("there is a reply");
    assert_eq!(sent["method"], "tasks/get");
    assert_eq!(sent["params"]["taskId"], "a");
    let meta = &sent["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    assert_eq!(
        meta["io.modelcontextprotocol/clientInfo"]["name"],
        "backburner"
    );
    let extensions = &meta["io.modelcontextprotocol/clientCapabilities"]["extensions"];
    assert_eq!(extensions, &json!({"io.modelcontextprotocol/tasks": {}}));
}

#[test]
fn ids_are_not_used_twice() {
    let mut client = server(
        r#"for id in 1 2; do read -r request; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$id}"; done"#,
    );
    for id in 1..=2 {
        assert_eq!(
            client
                .request("tasks/get", json!({}))
                .expect("there is a reply"),
            id
        );
    }
}

#[test]
fn an_error_reply_is_an_error_with_its_words() {
    let mut client = server(
        r#"read -r request
        echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such task"}}'"#,
    );
    let error = client
        .request("tasks/get", json!({}))
        .expect_err("it is refused");
    let ClientError::Refused { code, message } = error else {
        panic!("it is another error: {error}");
    };
    assert_eq!((code, message.as_str()), (-32602, "no such task"));
}

#[test]
fn a_server_that_ends_is_an_error() {
    for script in ["exit 1", "read -r request"] {
        let error = server(script)
            .request("tasks/get", json!({}))
            .expect_err("nobody answers");
        assert!(matches!(error, ClientError::Gone), "{error}");
    }
}

#[test]
fn a_server_that_cannot_serve_has_said_so_itself() {
    for script in ["exit 125", "read -r request; exit 125"] {
        let error = server(script)
            .request("tasks/get", json!({}))
            .expect_err("nobody answers");
        assert!(matches!(error, ClientError::Unable), "{error}");
    }
}

#[test]
fn a_line_that_is_no_message_is_an_error() {
    let error = server("read -r request; echo hello")
        .request("tasks/get", json!({}))
        .expect_err("it is no message");
    assert!(matches!(error, ClientError::Malformed(_)), "{error}");
}

#[test]
fn a_pause_ends_when_the_server_tells_something_also_if_that_was_before() {
    let told = r#"echo '{"jsonrpc":"2.0","method":"notifications/tasks","params":{}}'"#;
    let reply = r#"echo '{"jsonrpc":"2.0","id":1,"result":1}'"#;
    for script in [
        format!("read -r request; {told}; {reply}; read -r end"),
        format!("read -r request; {reply}; sleep 0.1; {told}; read -r end"),
    ] {
        let mut client = server(&script);
        client
            .request("tasks/get", json!({}))
            .expect("there is a reply");
        // Longer than a test may take.
        assert_eq!(client.pause(Duration::from_secs(1000)), Ok(()));
    }
}

#[test]
fn a_pause_ends_after_its_time_whatever_the_server_does() {
    let mut client = server("echo '{}'; exec >&-; read -r end");
    let begun = Instant::now();
    assert_eq!(client.pause(Duration::from_millis(50)), Ok(()));
    assert!(begun.elapsed() >= Duration::from_millis(50));
}

#[test]
fn the_server_is_gone_when_the_client_is() {
    let client = server("cat");
    let id = rustix::process::Pid::from_child(&client.server);
    drop(client);
    rustix::process::test_kill_process(id).expect_err("nobody has this id");
}

#[test]
fn a_server_that_closes_its_output_and_stays_is_not_waited_for_for_ever() {
    is_ended_in_time(drop);
}

#[test]
fn a_request_to_a_server_that_closes_its_output_and_stays_fails_in_time() {
    is_ended_in_time(|mut client| {
        let error = client
            .request("tasks/get", json!({}))
            .expect_err("nobody answers");
        assert!(matches!(error, ClientError::Gone), "{error}");
    });
}

/// Uses a server that closes its output and stays, and expects that it is gone then.
fn is_ended_in_time(use_up: impl FnOnce(Client) + Send + 'static) {
    let client = server("exec >&-; exec sleep 1000");
    let id = rustix::process::Pid::from_child(&client.server);
    let (sender, gone) = mpsc::channel();
    thread::spawn(move || {
        use_up(client);
        // Nobody listens where it took too long.
        let _ = sender.send(());
    });
    let patience = END_DEADLINE + Duration::from_secs(60);
    gone.recv_timeout(patience).expect("the client ends");
    rustix::process::test_kill_process(id).expect_err("nobody has this id");
}

#[test]
fn a_task_is_followed_to_its_end_however_seldom_its_server_wants_to_be_asked() {
    let task = |id: u64, status: &str| {
        format!(
            r#"read -r get; echo '{{"jsonrpc":"2.0","id":{id},"result":{{"taskId":"a","status":"{status}","pollIntervalMs":60000}}}}'"#
        )
    };
    let mut client = server(&format!(
        r#"read -r listen; {}; sleep 0.1; echo '{{"jsonrpc":"2.0","method":"notifications/tasks","params":{{}}}}'; {}; read -r end"#,
        task(2, "working"),
        task(3, "cancelled"),
    ));
    let begun = Instant::now();
    let followed = follow(&mut client, None, "a", Telling::Usual).expect("the server answers");
    assert!(matches!(followed, Followed::Ended(_)));
    assert!(begun.elapsed() < Duration::from_secs(60));
}
