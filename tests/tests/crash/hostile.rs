//! A whole server whose store prints, panics, and hands an instance more than it can hold: its clients get messages and
//! nothing else, one request is answered with an error, and nobody else notices.
//!
//! What becomes of the instances is looked at in `traps.rs`, without a server around them.

use backburner_tests::{CURSED, Client, HUGE, NOISE, PATIENCE, Server, Trouble, run_call};
use serde_json::{Value, json};

use crate::scene::{Scene, assert_exit_code};

/// Has an instance trap, and one more die of a panic.
fn have_two_die(server: &mut Server) {
    for id in [HUGE, CURSED] {
        let params = json!({ "taskId": id });
        let reply = server.request("tasks/get", &params, Client::Tasks);
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
    }
}

#[test]
fn nothing_but_messages_is_written_to_the_client_whatever_a_library_prints() {
    let scene = Scene::new();
    scene.open_gate();
    let mut server = scene.troubled(Trouble::HostileStore, 0);
    for code in 1..4 {
        let id = server.run(&scene.line(code));
        assert_exit_code(&server.ended_task(&id), code);
        have_two_die(&mut server);
    }
    // All that was written is read, and each line is looked at.
    let exit = server.close();
    assert!(exit.status.success(), "{exit:?}");
    assert_eq!(exit.unread, Vec::<Value>::new());
    // That there was something to keep away, of each kind.
    let lines = exit.stderr.lines();
    assert!(
        lines.clone().filter(|line| *line == NOISE).count() > 6,
        "{exit:?}"
    );
    assert!(exit.stderr.contains("does not end its line"), "{exit:?}");
    assert!(exit.stderr.contains("a test wants this panic"), "{exit:?}");
}

#[test]
fn whoever_waits_in_a_server_does_not_notice_that_instances_of_it_trap() {
    let scene = Scene::new();
    let mut server = scene.troubled(Trouble::HostileStore, 0);
    let mut neighbour = scene.server();
    let task = server.run(&scene.line(6));
    let listen = json!({ "notifications": { "taskIds": [task] } });
    let listening = server.post("subscriptions/listen", &listen, Client::Tasks);
    let waiting = server.post("tools/call", &run_call(&scene.line(7)), Client::Plain);
    scene.wait_for_log(2);
    for _ in 0..3 {
        have_two_die(&mut server);
        server.assert_alive();
        assert_eq!(neighbour.task(&task)["status"], "working");
    }
    scene.open_gate();
    let reply = server.reply(&json!(waiting));
    assert_eq!(
        reply["result"]["structuredContent"]["exitCode"], 7,
        "{reply}"
    );
    // The subscription tells the end of its task.
    loop {
        let message = server.receive(PATIENCE);
        assert_ne!(
            message["id"], listening,
            "it is still listened to: {message}"
        );
        if message["method"] == "notifications/tasks" && message["params"]["status"] == "completed"
        {
            break;
        }
    }
    assert_exit_code(&server.task(&task), 6);
    assert_exit_code(&neighbour.task(&task), 6);
    assert!(server.close().status.success());
}
