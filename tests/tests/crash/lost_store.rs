//! A data directory that is deleted, moved, replaced or cut under a server that uses it: what cannot be kept is not
//! promised, and nothing is started for it.

use std::fs;
use std::path::Path;

use backburner_tests::{Client, PATIENCE, Server, tool_call};
use serde_json::{Value, json};

use crate::scene::{Scene, assert_exit_code};

/// A scene with a server, one task of it that has ended, and that task's id.
fn scene_with_task() -> (Scene, Server, String) {
    let scene = Scene::new();
    scene.open_gate();
    let mut server = scene.server();
    let id = server.run(&scene.line(7));
    assert_exit_code(&server.ended_task(&id), 7);
    scene.wait_for_job_to_end(&id);
    (scene, server, id)
}

/// Sees that a reply says what became of the files.
fn assert_lost(reply: &Value) {
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("was deleted"), "{reply}");
    assert!(message.contains("start the server again"), "{reply}");
}

/// Sees that a server refuses calls, starts nothing and tells of no task, and still ends as it should.
fn assert_refuses(scene: &Scene, mut server: Server, id: &str) {
    for client in [Client::Tasks, Client::Plain] {
        let call = tool_call(&json!({ "command": scene.line(3) }));
        assert_lost(&server.request("tools/call", &call, client));
    }
    assert_lost(&server.request("tasks/get", &json!({ "taskId": id }), Client::Tasks));
    server.assert_alive();
    assert!(server.close().status.success());
    assert_eq!(scene.log().len(), 1, "nothing was started");
}

/// Does something to the data directory between two calls.
fn check(harm: impl FnOnce(&Path) -> std::io::Result<()>) -> (Scene, String) {
    let (scene, server, id) = scene_with_task();
    harm(&scene.dir.data()).expect("the files are ours");
    assert_refuses(&scene, server, &id);
    (scene, id)
}

#[test]
fn a_server_whose_data_directory_was_deleted_refuses_calls() {
    check(|data| fs::remove_dir_all(data));
}

#[test]
fn a_server_whose_data_directory_was_moved_refuses_calls_and_the_next_one_knows_its_tasks() {
    let (scene, id) = check(|data| fs::rename(data, data.with_extension("moved")));
    let data = scene.dir.data();
    fs::rename(data.with_extension("moved"), &data).expect("the files are ours");
    let mut server = scene.server();
    assert_exit_code(&server.task(&id), 7);
    assert_eq!(scene.log().len(), 1, "nothing was started");
}

#[test]
fn a_server_whose_database_was_deleted_refuses_calls_and_no_other_one_begins_a_new_one() {
    let (scene, _) = check(|data| fs::remove_file(data.join("backburner.db")));
    assert_none_begins(&scene);
}

#[test]
fn no_server_begins_where_the_store_of_jobs_was_emptied_or_deleted() {
    let empty = |data: &Path| fs::File::create(data.join("backburner.db")).map(drop);
    let delete = |data: &Path| fs::remove_file(data.join("backburner.db"));
    for (is_killed, harm) in [
        (false, &empty as &dyn Fn(&Path) -> std::io::Result<()>),
        (false, &delete),
        (true, &empty),
        (true, &delete),
    ] {
        let (scene, mut server, _) = scene_with_task();
        if is_killed {
            server.kill();
        } else {
            assert!(server.close().status.success());
        }
        harm(&scene.dir.data()).expect("the files are ours");
        assert_none_begins(&scene);
    }
}

/// What a young store has is all in its log.
#[test]
fn no_server_begins_where_the_only_records_of_jobs_were_deleted() {
    let (scene, mut server, _) = scene_with_task();
    server.kill();
    let data = scene.dir.data();
    fs::remove_file(data.join("backburner.db-wal")).expect("the files are ours");
    assert_none_begins(&scene);
}

#[test]
fn a_link_in_the_place_of_a_store_is_told_as_what_it_is() {
    let (scene, mut server, _) = scene_with_task();
    assert!(server.close().status.success());
    let store = scene.dir.data().join("backburner.db");
    fs::remove_file(&store).expect("the files are ours");
    std::os::unix::fs::symlink("elsewhere", &store).expect("the files are ours");
    let mut server = scene.server();
    assert!(!server.wait_exit(PATIENCE).status.success());
    let words = server.stderr();
    assert!(words.contains("is not a file of your own"), "{words}");
}

/// Sees that a server says what is missing, and leaves what there is as it is.
fn assert_none_begins(scene: &Scene) {
    let log = scene.dir.data().join("backburner.db-wal");
    let before = fs::read(&log).ok();
    let mut server = scene.server();
    let exit = server.wait_exit(PATIENCE);
    assert!(!exit.status.success());
    let words = server.stderr();
    assert!(words.contains("is gone or empty"), "{words}");
    assert!(words.contains("put the store back"), "{words}");
    assert_eq!(fs::read(&log).ok(), before, "the log may be all there is");
}

#[test]
fn a_server_whose_log_was_deleted_refuses_calls() {
    check(|data| fs::remove_file(data.join("backburner.db-wal")));
}

#[test]
fn a_server_whose_log_was_emptied_refuses_calls() {
    check(|data| fs::File::create(data.join("backburner.db-wal")).map(drop));
}

#[test]
fn a_server_whose_index_was_deleted_refuses_calls_and_the_next_one_knows_its_tasks() {
    let (scene, id) = check(|data| fs::remove_file(data.join("backburner.db-shm")));
    assert_exit_code(&scene.server().task(&id), 7);
}

#[test]
fn a_server_on_a_new_data_directory_is_not_disturbed_by_the_one_that_lost_it() {
    let (scene, mut old, _) = scene_with_task();
    fs::remove_dir_all(scene.dir.data()).expect("the files are ours");
    let mut new = scene.server();
    let before = new.run(&scene.line(1));
    assert_lost(&old.request(
        "tools/call",
        &tool_call(&json!({ "command": scene.line(3) })),
        Client::Tasks,
    ));
    assert!(old.close().status.success());
    let after = new.run(&scene.line(2));
    assert_exit_code(&new.ended_task(&before), 1);
    assert_exit_code(&new.ended_task(&after), 2);
    assert_eq!(scene.recorded().len(), 2);
}
