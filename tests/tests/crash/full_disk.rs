//! A data directory on a disk that is full, for a while.
//!
//! A real one needs the right to mount; where that is missing, the server whose store has no room stands in.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use backburner_tests::{Client, Server, Setup, Trouble, limited, tool_call};
use serde_json::{Value, json};

use crate::scene::{Scene, assert_exit_code, assert_nothing_left, cancel, keyed_call};

#[path = "../../../host/tests/jobs/privilege.rs"]
mod privilege;

use privilege::SmallDisk;

/// A disk of twelve megabytes for the data directory of a scene; `None` where this user may not mount.
fn small_disk(scene: &Scene) -> Option<SmallDisk> {
    let path = scene.dir.data();
    fs::create_dir(&path).expect("the test's directory can be written");
    SmallDisk::mount(&path, "12m")
}

/// What takes room in the data directory.
fn filler(scene: &Scene) -> PathBuf {
    scene.dir.data().join("filler")
}

/// What tmpfs gives room by, in bytes.
const PAGE_BYTES: u64 = 4096;

/// Takes all room that is left, but for so many pages.
fn fill_but(scene: &Scene, pages: u64) {
    fill(scene);
    let filler = File::options().write(true).open(filler(scene));
    let filler = filler.expect("it was just made");
    let bytes = filler.metadata().expect("it is there").len();
    let left = bytes.saturating_sub(pages * PAGE_BYTES);
    filler.set_len(left).expect("a file can be made shorter");
}

/// Takes all room that is left, to the last byte.
fn fill(scene: &Scene) {
    let mut filler = File::create(filler(scene)).expect("an empty file needs none");
    for size in [4096, 1] {
        loop {
            match filler.write(&[0; 4096][..size]) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                Err(error) => panic!("the disk fails otherwise: {error}"),
            }
        }
    }
}

fn make_room(scene: &Scene) {
    fs::remove_file(filler(scene)).expect("it was filled before");
}

/// Makes a call and sees that it is refused, and that whoever made it reads why.
fn assert_refused(server: &mut Server, arguments: &Value) {
    let reply = server.request("tools/call", &tool_call(arguments), Client::Tasks);
    let refused = reply["error"].is_object() || reply["result"]["isError"] == true;
    let words = reply.to_string();
    assert!(refused && words.contains("full"), "{reply}");
    assert!(words.contains("disk") && words.contains("free"), "{reply}");
}

#[test]
fn a_call_on_a_full_disk_is_refused_and_works_when_there_is_room() {
    let scene = Scene::new();
    let Some(_disk) = small_disk(&scene) else {
        return;
    };
    scene.open_gate();
    let mut server = scene.server();
    let before = server.run(&scene.line(1));
    assert_exit_code(&server.ended_task(&before), 1);
    fill(&scene);
    for _ in 0..5 {
        assert_refused(&mut server, &keyed_call(&scene.line(2)));
        assert_refused(&mut server, &json!({ "command": scene.line(3) }));
    }
    assert_exit_code(&server.task(&before), 1);
    assert_eq!(scene.log().len(), 1, "nothing was started");
    make_room(&scene);
    let id = server.call(&keyed_call(&scene.line(2)));
    assert_exit_code(&server.ended_task(&id), 2);
    assert_eq!(scene.log().len(), 2);
    assert!(server.close().status.success());
}

#[test]
fn a_job_that_ends_while_the_disk_is_full_is_told_truly() {
    let scene = Scene::new();
    let Some(_disk) = small_disk(&scene) else {
        return;
    };
    let mut server = scene.server();
    let chatty = format!(
        "{}; {}; head -c 20000000 /dev/zero; exit 5",
        scene.log_line("run"),
        scene.wait_line()
    );
    let ids = [server.run(&scene.line(7)), server.run(&chatty)];
    let unwanted = server.run("sleep 76");
    scene.wait_for_log(2);
    fill(&scene);
    scene.open_gate();
    cancel(&mut server, &unwanted);
    // Told by the server that was there before, and by one that begins on the full disk.
    for _ in 0..2 {
        for (id, code) in ids.iter().zip([7, 5]) {
            assert_exit_code(&server.ended_task(id), code);
            assert_nothing_left(id);
        }
        assert_eq!(server.ended_task(&unwanted)["status"], "cancelled");
        server.kill();
        server = scene.server();
    }
    make_room(&scene);
    for (id, code) in ids.iter().zip([7, 5]) {
        assert_exit_code(&server.task(id), code);
    }
    assert_eq!(server.task(&unwanted)["status"], "cancelled");
}

#[test]
fn a_server_begins_on_a_full_disk_that_no_server_has_open() {
    begins_on_a_full_disk(Scene::server);
}

/// The system then says the same of a full disk and of a file that is too long.
#[test]
fn a_server_whose_files_may_not_be_of_any_size_begins_on_a_full_disk() {
    begins_on_a_full_disk(|scene| {
        let setup = Setup::flags(&["--direct-limit", "0"]);
        Server::spawn(&mut limited("-f 2000000", &setup.command(&scene.dir)))
    });
}

fn begins_on_a_full_disk(begin: impl Fn(&Scene) -> Server) {
    let scene = Scene::new();
    let Some(_disk) = small_disk(&scene) else {
        return;
    };
    let mut server = begin(&scene);
    let id = server.run(&scene.line(7));
    let unwanted = server.run("sleep 76");
    scene.wait_for_log(1);
    // SQLite takes its log and the log's index away with it.
    assert!(server.close().status.success());
    fill(&scene);
    let mut server = begin(&scene);
    assert_refused(&mut server, &json!({ "command": scene.line(3) }));
    cancel(&mut server, &unwanted);
    assert_eq!(server.ended_task(&unwanted)["status"], "cancelled");
    scene.open_gate();
    assert_exit_code(&server.ended_task(&id), 7);
    assert!(server.close().status.success());
    make_room(&scene);
    let mut server = begin(&scene);
    assert_exit_code(&server.task(&id), 7);
    assert_eq!(server.task(&unwanted)["status"], "cancelled");
    assert_eq!(scene.log().len(), 1, "nothing else was started");
}

/// Wherever between the record and the command the room ends, nothing is left of a call that was refused for it.
#[test]
fn a_call_that_the_disk_has_room_for_in_part_works_when_there_is_room() {
    let scene = Scene::new();
    let Some(_disk) = small_disk(&scene) else {
        return;
    };
    scene.open_gate();
    let mut server = scene.server();
    server.assert_alive();
    let mut refused = 0;
    for pages in 0..16 {
        let call = keyed_call_of(&scene, pages);
        fill_but(&scene, pages);
        let reply = server.request("tools/call", &tool_call(&call), Client::Tasks);
        if !reply["result"]["taskId"].is_string() {
            let words = reply.to_string();
            assert!(
                words.contains("disk") && words.contains("free"),
                "{pages}: {reply}"
            );
            refused += 1;
        }
        make_room(&scene);
        let id = server.call(&call);
        assert_exit_code(&server.ended_task(&id), 4);
    }
    assert!(refused > 3, "the disk was not full: {refused}");
    assert_eq!(scene.log().len(), 16, "each ran once");
}

fn keyed_call_of(scene: &Scene, number: u64) -> Value {
    json!({ "command": scene.line(4), "idempotencyKey": format!("key {number}") })
}

#[test]
fn a_server_whose_store_has_no_room_refuses_calls_and_tells_ends() {
    let scene = Scene::new();
    let full = scene.path("full");
    let mut server = scene.troubled(Trouble::FullStore(full.clone()), 0);
    let id = server.run(&scene.line(7));
    scene.wait_for_log(1);
    fs::write(&full, "").expect("the test's directory can be written");
    assert_refused(&mut server, &keyed_call(&scene.line(2)));
    assert_eq!(scene.log().len(), 1, "nothing was started");
    assert_eq!(server.task(&id)["status"], "working");
    scene.open_gate();
    scene.wait_for_job_to_end(&id);
    let task = server.task(&id);
    assert_exit_code(&task, 7);
    fs::remove_file(&full).expect("it was just written");
    assert_eq!(server.task(&id), task, "an end never changes");
    let id = server.call(&keyed_call(&scene.line(2)));
    assert_exit_code(&server.ended_task(&id), 2);
    assert_eq!(scene.log().len(), 2);
}
