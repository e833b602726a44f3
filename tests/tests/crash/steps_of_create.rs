//! The server dies at each step of a `tools/call`. Nobody was told of a task then: the client knows nothing but
//! its idempotency key.

use backburner_tests::{CrashPoint, Side, Step};
use serde_json::Value;

use crate::scene::{
    Scene, assert_exit_code, assert_failed, assert_nothing_left, cancel, dies_of_call, keyed_call,
};

/// The points at which nothing was started, and which leave a record.
const RECORDED: [CrashPoint; 2] = [
    CrashPoint::after(Step::Commit),
    CrashPoint::before(Step::Start),
];

/// The points at which the job was started.
const STARTED: [CrashPoint; 2] = [
    CrashPoint::after(Step::Supervise),
    CrashPoint::after(Step::Start),
];

/// A scene in which a server died of the call at this point, with the gate closed.
fn interrupted(point: CrashPoint) -> Scene {
    let scene = Scene::new();
    dies_of_call(scene.crashing(point), &keyed_call(&scene.line(7)));
    scene
}

/// The id of the only task that there is.
fn only_task(scene: &Scene) -> String {
    let ids = scene.recorded();
    assert_eq!(ids.len(), 1, "{ids:?}");
    ids.concat()
}

/// Repeats the call that was interrupted, sees that its command has run so often in the end, and gives its task.
fn retry(scene: &Scene, runs: usize) -> Value {
    let mut server = scene.server();
    let id = server.call(&keyed_call(&scene.line(7)));
    assert_eq!(server.call(&keyed_call(&scene.line(7))), id);
    scene.open_gate();
    let task = server.ended_task(&id);
    assert_eq!(scene.log().len(), runs, "{task}");
    assert_eq!(only_task(scene), id);
    assert_nothing_left(&id);
    task
}

/// Repeats the call that was interrupted, and sees that its command runs once in all, with its own exit code.
fn retry_runs_once(scene: &Scene) {
    assert_exit_code(&retry(scene, 1), 7);
}

#[test]
fn nothing_is_left_of_a_call_whose_server_died_before_the_record() {
    let scene = interrupted(CrashPoint::before(Step::Commit));
    assert_eq!(scene.recorded(), [""; 0]);
    retry_runs_once(&scene);
}

#[test]
fn a_task_whose_server_died_before_the_start_fails_without_having_run() {
    for point in RECORDED {
        let scene = interrupted(point);
        let id = only_task(&scene);
        let mut server = scene.server();
        assert_failed(&server.ended_task(&id), "no trace of the job");
        assert_eq!(scene.log(), [""; 0], "{point:?}");
        assert_nothing_left(&id);
        // The end of a task never changes, so the same call again does not run it either.
        assert_failed(&retry(&scene, 0), "new idempotencyKey");
    }
}

#[test]
fn a_task_whose_server_died_before_the_start_can_be_cancelled() {
    for point in RECORDED {
        let scene = interrupted(point);
        let id = only_task(&scene);
        let mut server = scene.server();
        cancel(&mut server, &id);
        assert_eq!(server.ended_task(&id)["status"], "cancelled");
        assert_eq!(scene.log(), [""; 0]);
    }
}

#[test]
fn a_job_that_was_started_goes_on_though_nobody_was_told_of_it() {
    for point in STARTED {
        let scene = interrupted(point);
        let id = only_task(&scene);
        scene.wait_for_log(1);
        let mut server = scene.server();
        assert_eq!(server.task(&id)["status"], "working", "{point:?}");
        scene.open_gate();
        assert_exit_code(&server.ended_task(&id), 7);
        assert_eq!(scene.log().len(), 1);
        assert_nothing_left(&id);
    }
}

#[test]
fn a_job_whose_call_waited_goes_on() {
    let scene = Scene::new();
    let server = scene.crashing_directly(CrashPoint::before(Step::Wait));
    dies_of_call(server, &keyed_call(&scene.line(7)));
    retry_runs_once(&scene);
}

#[test]
fn a_job_that_lost_its_server_and_its_supervisor_in_the_middle_of_the_start_has_not_run() {
    let scene = interrupted(CrashPoint::before(Step::Supervise));
    let id = only_task(&scene);
    assert_failed(&scene.server().ended_task(&id), "run it again");
    assert_nothing_left(&id);
    assert_failed(&retry(&scene, 0), "run it again");
}

#[test]
fn what_is_left_of_a_start_that_was_cut_goes_with_its_task() {
    let scene = Scene::new();
    let mut call = keyed_call(&scene.line(7));
    call["ttlSeconds"] = 1.into();
    dies_of_call(scene.crashing(CrashPoint::before(Step::Supervise)), &call);
    let id = only_task(&scene);
    assert!(scene.job(&id).exists());
    let _server = scene.server();
    scene.wait_for_deletion(&id);
    assert_eq!(scene.log(), [""; 0]);
}

#[test]
fn a_retry_does_not_run_again_what_the_first_server_started() {
    for point in STARTED {
        retry_runs_once(&interrupted(point));
    }
}

#[test]
fn a_retry_does_not_start_what_the_first_server_did_not_and_says_to_use_a_new_key() {
    for point in RECORDED {
        assert_failed(&retry(&interrupted(point), 0), "new idempotencyKey");
    }
}

#[test]
fn a_retry_whose_server_dies_too_can_be_repeated() {
    for side in [Side::Before, Side::After] {
        let scene = interrupted(CrashPoint::after(Step::Commit));
        // It says in the record that its client is told of the task.
        let point = CrashPoint {
            side,
            step: Step::Commit,
            number: 1,
        };
        dies_of_call(scene.crashing(point), &keyed_call(&scene.line(7)));
        assert_failed(&retry(&scene, 0), "new idempotencyKey");
    }
}

#[test]
fn a_server_that_dies_right_after_its_reply_has_kept_its_promise() {
    let scene = Scene::new();
    let mut server = scene.server();
    let id = server.call(&keyed_call(&scene.line(7)));
    server.kill();
    assert_eq!(only_task(&scene), id);
    retry_runs_once(&scene);
}
