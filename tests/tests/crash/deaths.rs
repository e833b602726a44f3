//! What is left of a task when the server, the supervisor or the command is killed.

use std::fs;

use backburner_tests::{
    Client, PATIENCE, processes_of_task, run_call, supervisor_of_task, tool_call, until,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::scene::{Scene, assert_exit_code, assert_failed, assert_nothing_left, cancel};

fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process id"), Signal::KILL).expect("it is ours");
}

/// Kills the supervisor of a job that runs.
fn kill_supervisor(id: &str) {
    kill(supervisor_of_task(id).expect("the job runs, so its supervisor does"));
}

/// Waits until so many processes of a job run.
fn wait_for_processes(id: &str, count: usize) {
    until(PATIENCE, "the job's processes to run", || {
        let found = processes_of_task(id);
        if found.len() >= count {
            Ok(())
        } else {
            Err(format!("{found:?}"))
        }
    });
}

#[test]
fn a_job_outlives_its_server_and_a_new_one_tells_its_exit_code() {
    let scene = Scene::new();
    let mut first = scene.server();
    let id = first.run(&scene.line(7));
    scene.wait_for_log(1);
    first.kill();
    let mut second = scene.server();
    assert_eq!(second.task(&id)["status"], "working");
    scene.open_gate();
    assert_exit_code(&second.ended_task(&id), 7);
    assert_eq!(scene.log().len(), 1);
    assert_nothing_left(&id);
}

#[test]
fn a_job_that_ends_when_no_server_lives_is_told_truly() {
    let scene = Scene::new();
    let mut first = scene.server();
    let id = first.run(&format!(
        "{}; echo last words; kill -TERM $$",
        scene.wait_line()
    ));
    first.kill();
    scene.open_gate();
    scene.wait_for_job_to_end(&id);
    let task = scene.server().task(&id);
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["result"]["structuredContent"]["signal"], "SIGTERM");
    assert!(task["result"].to_string().contains("last words"), "{task}");
}

#[test]
fn a_job_that_has_ended_before_its_server_dies_is_told_truly() {
    let scene = Scene::new();
    scene.open_gate();
    let mut first = scene.server();
    let id = first.run(&scene.line(3));
    scene.wait_for_job_to_end(&id);
    first.kill();
    assert_exit_code(&scene.server().task(&id), 3);
}

#[test]
fn a_job_whose_outcome_was_damaged_before_anybody_read_it_fails_and_says_why() {
    let scene = Scene::new();
    let mut first = scene.server();
    let id = first.run(&scene.line(3));
    first.kill();
    scene.open_gate();
    scene.wait_for_job_to_end(&id);
    fs::write(scene.job(&id).join("outcome.json"), "{").expect("it is writable");
    let task = scene.server().task(&id);
    assert_failed(&task, "files of the job are missing or damaged");
    assert_failed(&task, "how far it got is not known");
    assert_eq!(scene.server().task(&id), task, "an end never changes");
}

#[test]
fn a_job_outlives_servers_that_come_and_go() {
    let scene = Scene::new();
    let id = scene.server().run(&scene.line(9));
    for _ in 0..5 {
        let mut server = scene.server();
        assert_eq!(server.task(&id)["status"], "working");
        server.kill();
    }
    scene.open_gate();
    assert_exit_code(&scene.server().ended_task(&id), 9);
    assert_eq!(scene.log().len(), 1);
}

#[test]
fn a_job_that_was_cancelled_is_cancelled_whatever_happens_to_the_server() {
    let scene = Scene::new();
    let mut first = scene.server();
    let id = first.run(&format!("trap 'exit 0' TERM; {}", scene.line(0)));
    scene.wait_for_log(1);
    cancel(&mut first, &id);
    first.kill();
    let task = scene.server().ended_task(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    assert_nothing_left(&id);
}

#[test]
fn a_timeout_needs_no_server() {
    let scene = Scene::new();
    let mut server = scene.server();
    let id = server.call(&json!({ "command": scene.line(0), "timeoutSeconds": 2 }));
    scene.wait_for_log(1);
    server.kill();
    scene.wait_for_job_to_end(&id);
    assert_nothing_left(&id);
    let task = scene.server().task(&id);
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["result"]["isError"], true, "{task}");
    assert_eq!(task["result"]["structuredContent"]["timedOut"], true);
}

#[test]
fn a_job_whose_supervisor_was_killed_fails_and_nothing_of_it_is_left() {
    let scene = Scene::new();
    let mut server = scene.server();
    // One in the command's group, one in a session of its own, one that ignores requests to end.
    let line = "sleep 71 & setsid sleep 72 & setsid sh -c 'trap \"\" TERM; sleep 73; :' & wait";
    let id = server.run(line);
    wait_for_processes(&id, 5);
    assert_eq!(server.task(&id)["status"], "working");
    kill_supervisor(&id);
    let task = server.ended_task(&id);
    assert_nothing_left(&id);
    assert_failed(&task, "supervised");
    assert_eq!(scene.server().task(&id), task, "an end never changes");
}

#[test]
fn a_job_that_lost_everything_at_once_fails_and_nothing_of_it_is_left() {
    let scene = Scene::new();
    let mut server = scene.server();
    let id = server.run("setsid sleep 74 & sleep 75 & wait");
    wait_for_processes(&id, 3);
    server.kill();
    kill_supervisor(&id);
    let task = scene.server().ended_task(&id);
    assert_nothing_left(&id);
    assert_failed(&task, "supervised");
}

#[test]
fn a_call_that_waits_hears_of_the_death_of_the_supervisor() {
    let scene = Scene::new();
    let mut server = scene.server();
    let call = server.post("tools/call", &run_call(&scene.line(0)), Client::Plain);
    scene.wait_for_log(1);
    kill_supervisor(&scene.recorded().concat());
    let reply = server.reply(&json!(call));
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
}

#[test]
fn a_killed_command_is_told_from_a_killed_supervisor() {
    let scene = Scene::new();
    let mut server = scene.server();
    let pid_file = scene.path("pid");
    let id = server.run(&format!(
        "echo $$ > '{}'; {}",
        pid_file.display(),
        scene.line(0)
    ));
    scene.wait_for_log(1);
    let pid = fs::read_to_string(&pid_file).expect("it was written before the log");
    kill(pid.trim().parse().expect("a process id"));
    let task = server.ended_task(&id);
    assert_nothing_left(&id);
    assert_eq!(task["status"], "completed", "{task}");
    let result = &task["result"];
    assert_eq!(result["isError"], true, "{task}");
    assert_eq!(result["structuredContent"]["signal"], "SIGKILL", "{task}");
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("SIGKILL"), "{text}");
}

#[test]
fn a_server_that_is_killed_with_its_whole_group_leaves_its_job_alone() {
    let scene = Scene::new();
    // Some clients kill a server as a process group: here one of the shell and the server.
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", "\"$@\"; exit", "sh"])
        .arg(backburner_tests::binary())
        .arg("--data-dir")
        .arg(scene.dir.data())
        .args(["serve", "--direct-limit", "0"]);
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut server = backburner_tests::Server::spawn(&mut shell);
    let id = server.run(&scene.line(7));
    scene.wait_for_log(1);
    let group = i32::try_from(server.pid()).ok().and_then(Pid::from_raw);
    rustix::process::kill_process_group(group.expect("a process id"), Signal::KILL)
        .expect("it is ours");
    server.wait_exit(PATIENCE);
    let mut second = scene.server();
    assert_eq!(second.task(&id)["status"], "working");
    scene.open_gate();
    assert_exit_code(&second.ended_task(&id), 7);
}

#[test]
fn a_waiting_call_of_a_client_without_tasks_is_found_by_its_key_after_a_crash() {
    let scene = Scene::new();
    let mut first = scene.server();
    let call = tool_call(&json!({ "command": scene.line(7), "idempotencyKey": "mine" }));
    first.post("tools/call", &call, Client::Plain);
    scene.wait_for_log(1);
    first.kill();
    let mut second = scene.server();
    let id = second.post("tools/call", &call, Client::Plain);
    // Answered only after the server has read the call before it.
    second.assert_alive();
    scene.open_gate();
    let reply = second.reply(&json!(id));
    assert_eq!(
        reply["result"]["structuredContent"]["exitCode"], 7,
        "{reply}"
    );
    assert_eq!(scene.log().len(), 1);
}
