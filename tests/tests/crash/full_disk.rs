//! A data directory on a disk that is full, for a while.
//!
//! A real one needs the right to mount. Who does not have it may have it in a namespace of their own, where the test is
//! run once more; where neither is allowed, the server whose store has no room stands in.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use backburner_tests::foreign::{can_test, works};
use backburner_tests::{Client, Server, Trouble, tool_call};
use serde_json::{Value, json};

use crate::scene::{Scene, assert_exit_code, assert_nothing_left, cancel, keyed_call};

/// The program that makes namespaces, and the options with which it makes one where anybody may mount.
const NAMESPACE: [&str; 4] = ["unshare", "--user", "--map-root-user", "--mount"];

/// What is set where a test runs in a namespace that it made.
const IN_NAMESPACE: &str = "BACKBURNER_IN_NAMESPACE";

/// A disk of eight megabytes under the data directory of a scene.
struct SmallDisk {
    path: PathBuf,
}

/// Runs the test of this name with a small disk, here or in a namespace.
fn on_a_small_disk(name: &str, test: fn(&Scene, &SmallDisk)) {
    let scene = Scene::new();
    if let Some(disk) = SmallDisk::mount(&scene) {
        return test(&scene, &disk);
    }
    let was_tried = std::env::var_os(IN_NAMESPACE).is_some();
    let may_unshare = !was_tried && works(NAMESPACE[0], &[&NAMESPACE[1..], &["true"]].concat());
    let missing = (!may_unshare).then_some("the right to mount");
    if can_test("a full disk", missing) {
        run_in_namespace(&format!("full_disk::{name}"));
    }
}

/// Runs a test of this program in a namespace.
fn run_in_namespace(name: &str) {
    let program = std::env::current_exe().expect("a program knows where it is");
    let output = Command::new(NAMESPACE[0])
        .args(&NAMESPACE[1..])
        .arg(program)
        .args([name, "--exact", "--nocapture"])
        .env(IN_NAMESPACE, "1")
        // Where it cannot mount there either, that is a failure: this is a machine that has namespaces.
        .env("BACKBURNER_ALL_HOSTS", "1")
        .output()
        .expect("it was just run");
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && said.contains("1 passed");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(passed, "in a namespace:\n{said}\n{log}");
}

impl SmallDisk {
    /// `None` where this user may not mount.
    fn mount(scene: &Scene) -> Option<Self> {
        let path = scene.dir.data();
        fs::create_dir(&path).expect("the test's directory can be written");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs"])
            .arg(&path)
            .stderr(Stdio::null())
            .status();
        let is_mounted = mounted.is_ok_and(|status| status.success());
        is_mounted.then(|| Self { path })
    }

    /// Takes all room that is left, to the last byte.
    fn fill(&self) {
        let mut filler = File::create(self.path.join("filler")).expect("an empty file needs none");
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

    fn make_room(&self) {
        fs::remove_file(self.path.join("filler")).expect("it was filled before");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, since a supervisor that is about to go may still be in it. Nothing can be done where it fails.
        let _unmounted = Command::new("umount")
            .arg("--lazy")
            .arg(&self.path)
            .status();
    }
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
    let name = "a_call_on_a_full_disk_is_refused_and_works_when_there_is_room";
    on_a_small_disk(name, calls_on_a_full_disk);
}

fn calls_on_a_full_disk(scene: &Scene, disk: &SmallDisk) {
    scene.open_gate();
    let mut server = scene.server();
    let before = server.run(&scene.line(1));
    assert_exit_code(&server.ended_task(&before), 1);
    disk.fill();
    for _ in 0..5 {
        assert_refused(&mut server, &keyed_call(&scene.line(2)));
        assert_refused(&mut server, &json!({ "command": scene.line(3) }));
    }
    assert_exit_code(&server.task(&before), 1);
    assert_eq!(scene.log().len(), 1, "nothing was started");
    disk.make_room();
    let id = server.call(&keyed_call(&scene.line(2)));
    assert_exit_code(&server.ended_task(&id), 2);
    assert_eq!(scene.log().len(), 2);
    assert!(server.close().status.success());
}

#[test]
fn a_job_that_ends_while_the_disk_is_full_is_told_truly() {
    let name = "a_job_that_ends_while_the_disk_is_full_is_told_truly";
    on_a_small_disk(name, ends_on_a_full_disk);
}

fn ends_on_a_full_disk(scene: &Scene, disk: &SmallDisk) {
    let mut server = scene.server();
    let chatty = format!(
        "{}; {}; head -c 20000000 /dev/zero; exit 5",
        scene.log_line("run"),
        scene.wait_line()
    );
    let ids = [server.run(&scene.line(7)), server.run(&chatty)];
    let unwanted = server.run("sleep 76");
    scene.wait_for_log(2);
    disk.fill();
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
    disk.make_room();
    for (id, code) in ids.iter().zip([7, 5]) {
        assert_exit_code(&server.task(id), code);
    }
    assert_eq!(server.task(&unwanted)["status"], "cancelled");
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
