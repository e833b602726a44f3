//! What users of other programs reported, tried on this one. The rest of such reports is covered where it belongs:
//! in the other modules here, in the transcripts, and in the tests of the host's jobs.

use std::fs;
use std::process::{Child, Command};
use std::thread;

use backburner_tests::{Client, Server};
use serde_json::{Value, json};

use crate::scene::{Scene, assert_exit_code, assert_failed, assert_nothing_left};

/// How many answers one client gets at least while another one polls as fast as it can. Also a busy machine gives hundreds;
/// a server that is held up by the log or by the other one gives one, when the storm is over.
const ANSWERS: usize = 5;

#[test]
fn a_storm_of_polls_during_a_big_log_holds_nobody_up() {
    let scene = Scene::new();
    let mut stormy = scene.server();
    let log = format!("{}; do seq 20000; done; exit 4", scene.while_closed());
    let id = stormy.run(&log);
    let mut other = scene.server();
    let answers = thread::scope(|scope| {
        let storm = scope.spawn(|| storm(&mut stormy, &id));
        let mut answers = 0;
        while !storm.is_finished() {
            assert_eq!(other.task(&id)["status"], "working");
            answers += 1;
        }
        storm.join().expect("the storm's own words are above");
        answers
    });
    assert!(answers >= ANSWERS, "{answers}");
    scene.open_gate();
    assert_exit_code(&other.ended_task(&id), 4);
    stormy.assert_alive();
}

/// Polls a thousand times without waiting for an answer in between.
fn storm(server: &mut Server, id: &str) {
    let params = json!({ "taskId": id });
    let polls: Vec<u64> = (0..1000)
        .map(|_| server.post("tasks/get", &params, Client::Tasks))
        .collect();
    for poll in polls {
        let reply = server.reply(&json!(poll));
        assert_eq!(reply["result"]["status"], "working", "{reply}");
        let bytes = reply.to_string().len();
        assert!(bytes < 4096, "an answer has {bytes} bytes of a big log");
    }
}

#[test]
fn a_job_that_outlives_its_time_to_live_is_stopped_without_any_server() {
    let scene = Scene::new();
    let mut server = scene.server();
    let id = server.call(&json!({ "command": scene.line(0), "ttlSeconds": 1 }));
    server.kill();
    scene.wait_for_job_to_end(&id);
    assert_nothing_left(&id);
    let mut server = scene.server();
    let reply = server.request("tasks/get", &json!({ "taskId": id }), Client::Tasks);
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    scene.wait_for_deletion(&id);
}

/// A process that has nothing to do with any job.
struct Stranger(Child);

impl Stranger {
    fn new() -> Self {
        Self(Command::new("sleep").arg("77").spawn().expect("it exists"))
    }

    fn assert_alive(&mut self) {
        let ended = self.0.try_wait().expect("it is our child");
        assert_eq!(ended, None, "a stranger was killed");
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        // Both fail only where it has ended before, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The names of what is recorded in a line.
fn members(line: &str) -> Vec<String> {
    let line: Value = serde_json::from_str(line).expect("a record is JSON");
    let content = line["content"].as_object();
    content
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

/// A job of which no outcome is left and whose process id belongs to a stranger by now, and no server.
fn with_a_stale_process_id(scene: &Scene, stranger: &Stranger) -> (String, std::path::PathBuf) {
    let id = scene.server().run(&scene.line(0));
    scene.wait_for_log(1);
    scene.open_gate();
    scene.wait_for_job_to_end(&id);
    let directory = scene.job(&id);
    fs::remove_file(directory.join("outcome.json")).expect("the job has ended");
    let pid = stranger.0.id();
    let started = json!({
        "format": 1, "content": { "pid": pid, "start_ticks": 1, "session": pid, "control": 1 }
    });
    let record = directory.join("spec.jsonl");
    let text = fs::read_to_string(&record).expect("it is ours");
    let mut lines: Vec<&str> = text.lines().collect();
    let replaced = lines.pop().expect("a record has lines");
    assert_eq!(
        (lines.len(), members(replaced)),
        (2, members(&started.to_string()))
    );
    fs::write(record, format!("{}\n{started}", lines.join("\n"))).expect("it is ours");
    (id, directory)
}

#[test]
fn a_process_id_that_is_in_use_again_is_left_alone() {
    let scene = Scene::new();
    let mut stranger = Stranger::new();
    let (id, _) = with_a_stale_process_id(&scene, &stranger);
    assert_failed(&scene.server().task(&id), "files of the job are missing");
    stranger.assert_alive();
}

#[test]
fn a_job_of_another_boot_is_lost_with_the_machine() {
    let scene = Scene::new();
    let mut stranger = Stranger::new();
    let (id, directory) = with_a_stale_process_id(&scene, &stranger);
    let spec = directory.join("spec.jsonl");
    let text = fs::read_to_string(&spec).expect("it is ours");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux has it");
    fs::write(spec, text.replace(boot.trim(), "another-boot")).expect("it is ours");
    assert_failed(&scene.server().task(&id), "machine was restarted");
    stranger.assert_alive();
}
