//! What a server that was not killed leaves behind: a database that has everything, also where it is copied alone.

use backburner_tests::Server;
use rustix::process::{Pid, Signal, kill_process};

use crate::scene::{Scene, assert_exit_code};

/// On a machine that is busy with something else, putting the store in order may take longer than an end may. It is not
/// waited for then, and the next server does it.
const ENDS: u32 = 20;

fn has_log(scene: &Scene) -> bool {
    scene.dir.data().join("backburner.db-wal").exists()
}

/// Has servers end, each after a task, until one leaves no log. Gives the scene and the tasks.
fn ended_in_order(end: impl Fn(Server)) -> (Scene, Vec<String>) {
    let scene = Scene::new();
    scene.open_gate();
    let mut tasks = Vec::new();
    for _ in 0..ENDS {
        let mut server = scene.server();
        let task = server.run(&scene.line(7));
        assert_exit_code(&server.ended_task(&task), 7);
        tasks.push(task);
        assert!(has_log(&scene));
        end(server);
        if !has_log(&scene) {
            return (scene, tasks);
        }
    }
    panic!("each of {ENDS} servers left its log");
}

/// Sees that the next server knows the tasks.
fn assert_known(scene: &Scene, tasks: &[String]) {
    let mut server = scene.server();
    for task in tasks {
        assert_exit_code(&server.task(task), 7);
    }
}

#[test]
fn after_the_end_of_input_everything_is_in_the_database() {
    let (scene, tasks) = ended_in_order(|mut server| {
        assert!(server.close().status.success());
    });
    assert_known(&scene, &tasks);
}

#[test]
fn after_a_signal_everything_is_in_the_database() {
    let (scene, tasks) = ended_in_order(|mut server| {
        let pid = i32::try_from(server.pid()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("it is a process"), Signal::TERM).expect("it is ours");
        assert!(
            server
                .wait_exit(backburner_tests::PATIENCE)
                .status
                .success()
        );
    });
    assert_known(&scene, &tasks);
}

#[test]
fn a_server_that_ends_beside_another_does_not_disturb_it() {
    let scene = Scene::new();
    scene.open_gate();
    let (mut one, mut other) = (scene.server(), scene.server());
    let before = one.run(&scene.line(7));
    assert_exit_code(&other.ended_task(&before), 7);
    assert!(one.close().status.success());
    assert!(has_log(&scene));
    let after = other.run(&scene.line(7));
    assert_exit_code(&other.ended_task(&after), 7);
    assert!(other.close().status.success());
    assert_known(&scene, &[before, after]);
}
