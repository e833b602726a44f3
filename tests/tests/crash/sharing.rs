//! Several servers on one data directory at the same time, with nobody being killed.

use std::sync::Barrier;
use std::thread;

use backburner_tests::{Client, Server, Setup, tool_call};
use serde_json::{Value, json};

use crate::scene::{Scene, assert_exit_code, assert_nothing_left, cancel};

#[test]
fn a_new_server_leaves_the_jobs_of_another_one_alone() {
    let scene = Scene::new();
    let mut first = scene.server();
    let id = first.run(&scene.line(7));
    scene.wait_for_log(1);
    let mut second = scene.server();
    assert_eq!(second.task(&id)["status"], "working");
    assert_eq!(first.task(&id)["status"], "working");
    scene.open_gate();
    let task = second.ended_task(&id);
    assert_exit_code(&task, 7);
    assert_eq!(first.task(&id), task);
    assert_eq!(scene.log().len(), 1);
}

#[test]
fn a_task_of_one_server_is_cancelled_by_another() {
    let scene = Scene::new();
    let mut first = scene.server();
    let mut second = scene.server();
    let id = first.run(&scene.line(7));
    scene.wait_for_log(1);
    cancel(&mut second, &id);
    let task = first.ended_task(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    assert_eq!(second.task(&id), task);
    assert_nothing_left(&id);
}

#[test]
fn two_cancellations_at_the_same_time_are_both_acknowledged() {
    let scene = Scene::new();
    let mut servers = [scene.server(), scene.server()];
    for _ in 0..10 {
        let id = servers[0].run(&scene.wait_line());
        let params = json!({ "taskId": id });
        let posted = servers
            .each_mut()
            .map(|server| server.post("tasks/cancel", &params, Client::Tasks));
        for (server, posted) in servers.iter_mut().zip(posted) {
            let reply = server.reply(&json!(posted));
            assert!(reply["result"].is_object(), "{reply}");
        }
        let ends = servers.each_mut().map(|server| server.ended_task(&id));
        assert_eq!(ends[0]["status"], "cancelled", "{}", ends[0]);
        assert_eq!(ends[0], ends[1]);
    }
}

#[test]
fn of_two_servers_with_one_key_one_runs_the_command() {
    let scene = Scene::new();
    scene.open_gate();
    let mut servers = [scene.server(), scene.server()];
    let rounds = 30;
    for round in 1..=rounds {
        let key = format!("key {round}");
        let call = tool_call(&json!({ "command": scene.line(7), "idempotencyKey": key }));
        let posted = servers
            .each_mut()
            .map(|server| server.post("tools/call", &call, Client::Tasks));
        let mut ids = Vec::new();
        for (server, posted) in servers.iter_mut().zip(posted) {
            let reply = server.reply(&json!(posted));
            ids.push(reply["result"]["taskId"].clone());
        }
        assert_eq!(ids[0], ids[1]);
        let id = ids[0].as_str().expect("the call gave a task");
        assert_exit_code(&servers[0].ended_task(id), 7);
        assert_eq!(scene.log().len(), round, "{id}");
    }
}

#[test]
fn a_job_has_the_environment_of_its_own_server() {
    let scene = Scene::new();
    let server = |variables: &[(&str, &str)]| {
        let mut setup = Setup::flags(&["--direct-limit", "60000"]);
        let own = variables.iter().map(|(name, value)| (*name, *value));
        setup.environment = own
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        Server::start_with(&scene.dir, &setup)
    };
    let mut first = server(&[("BOTH", "first"), ("ONLY_FIRST", "1")]);
    let mut second = server(&[("BOTH", "second"), ("ONLY_SECOND", "2")]);
    for _ in 0..3 {
        assert_eq!(environment(&mut first), "first 1 none");
        assert_eq!(environment(&mut second), "second none 2");
    }
}

#[test]
fn a_job_finds_the_program_of_its_server_behind_all_others() {
    let scene = Scene::new();
    let line = "echo $(command -v backburner) $PATH";
    // Without a program, and so without another one of this name.
    let bare = scene.path("bare");
    std::fs::create_dir(&bare).expect("the test's directory can be written");
    let bare = bare.display().to_string();
    let mut setup = Setup::flags(&["--direct-limit", "60000"]);
    setup.environment = vec![("PATH".to_owned(), bare.clone().into())];
    let mut server = Server::start_with(&scene.dir, &setup);
    let seen = last_line(&mut server, line);
    let (found, path) = seen.split_once(' ').unwrap_or(("", &seen));
    let own = found.strip_suffix("/backburner");
    let own = own.unwrap_or_else(|| panic!("it is found: {seen}"));
    assert_eq!(
        path,
        format!("{bare}:{own}"),
        "its directory is the last one"
    );
    // Where it is found already, nothing is added.
    setup.environment = vec![("PATH".to_owned(), format!("{own}:{bare}").into())];
    let mut server = Server::start_with(&scene.dir, &setup);
    assert_eq!(
        last_line(&mut server, line),
        format!("{found} {own}:{bare}")
    );
}

/// What a job of the server sees.
fn environment(server: &mut Server) -> String {
    last_line(server, "echo $BOTH ${ONLY_FIRST-none} ${ONLY_SECOND-none}")
}

/// The last line of what a command writes.
fn last_line(server: &mut Server, command: &str) -> String {
    let call = json!({ "command": command });
    let result = server.result("tools/call", &tool_call(&call), Client::Tasks);
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let last = text.trim_end().lines().next_back();
    last.unwrap_or_else(|| panic!("no output: {result}"))
        .to_owned()
}

#[test]
fn servers_that_begin_together_on_a_new_directory_all_serve() {
    const TOGETHER: usize = 8;
    const ROUNDS: usize = 10;
    for _ in 0..ROUNDS {
        let scene = Scene::new();
        let line = Barrier::new(TOGETHER);
        thread::scope(|scope| {
            for _ in 0..TOGETHER {
                scope.spawn(|| {
                    line.wait();
                    let mut server = scene.server();
                    let reply = server.request("tools/list", &json!({}), Client::Plain);
                    assert!(reply["result"].is_object(), "{reply}");
                    let exit = server.close();
                    assert!(exit.status.success(), "{exit:?}");
                    assert_eq!(exit.unread, Vec::<Value>::new());
                });
            }
        });
    }
}

#[test]
fn a_call_that_waits_is_answered_when_another_server_cancels_its_task() {
    let scene = Scene::new();
    let mut first = scene.server();
    let call = tool_call(&json!({ "command": scene.line(0) }));
    let posted = first.post("tools/call", &call, Client::Plain);
    scene.wait_for_log(1);
    let id = scene.recorded().concat();
    cancel(&mut scene.server(), &id);
    let reply = first.reply(&json!(posted));
    let result = &reply["result"];
    assert_eq!(result["structuredContent"]["cancelled"], true, "{reply}");
    assert!(first.close().status.success());
    assert_nothing_left(&id);
}
