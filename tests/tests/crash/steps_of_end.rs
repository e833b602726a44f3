//! The server dies while it writes down the end of a task, while it cancels one, and while it deletes one.

use backburner_tests::{Client, CrashPoint, Step};
use serde_json::json;

use crate::scene::{
    Scene, assert_exit_code, assert_killed, assert_nothing_left, cancel, dies_of, dies_of_call,
    keyed_call,
};

/// Both sides of a step.
fn around(step: Step) -> [CrashPoint; 2] {
    [CrashPoint::before(step), CrashPoint::after(step)]
}

/// A task whose job runs, and no server.
fn running() -> (Scene, String) {
    let scene = Scene::new();
    let id = scene.server().run(&scene.line(7));
    scene.wait_for_log(1);
    (scene, id)
}

#[test]
fn an_end_is_told_truly_also_where_writing_it_down_was_interrupted() {
    for point in around(Step::Commit) {
        let (scene, id) = running();
        scene.open_gate();
        scene.wait_for_job_to_end(&id);
        dies_of(scene.crashing(point), "tasks/get", &id);
        let mut server = scene.server();
        let task = server.task(&id);
        assert_exit_code(&task, 7);
        assert_eq!(scene.server().task(&id), task, "an end never changes");
        assert_eq!(scene.log().len(), 1);
    }
}

#[test]
fn a_call_that_was_to_be_answered_directly_has_run_once() {
    for point in around(Step::Commit) {
        let scene = Scene::new();
        scene.open_gate();
        let server = scene.crashing_directly(point.second());
        dies_of_call(server, &keyed_call(&scene.line(7)));
        let mut server = scene.server();
        let id = server.call(&keyed_call(&scene.line(7)));
        assert_exit_code(&server.ended_task(&id), 7);
        assert_eq!(scene.log().len(), 1);
    }
}

#[test]
fn a_cancellation_that_was_not_recorded_has_no_effect_and_can_be_repeated() {
    let (scene, id) = running();
    dies_of(
        scene.crashing(CrashPoint::before(Step::Stop)),
        "tasks/cancel",
        &id,
    );
    let mut server = scene.server();
    assert_eq!(server.task(&id)["status"], "working");
    cancel(&mut server, &id);
    assert_eq!(server.ended_task(&id)["status"], "cancelled");
    assert_nothing_left(&id);
}

#[test]
fn a_cancellation_that_was_recorded_is_carried_out() {
    let (scene, id) = running();
    dies_of(
        scene.crashing(CrashPoint::after(Step::Stop)),
        "tasks/cancel",
        &id,
    );
    scene.wait_for_job_to_end(&id);
    assert_eq!(scene.server().task(&id)["status"], "cancelled");
    assert_nothing_left(&id);
}

#[test]
fn a_task_that_was_cancelled_before_its_start_never_starts() {
    let points = around(Step::Commit).into_iter().chain(around(Step::Stop));
    for point in points {
        let scene = Scene::new();
        let call = keyed_call(&scene.line(7));
        dies_of_call(scene.crashing(CrashPoint::before(Step::Start)), &call);
        let id = scene.recorded().concat();
        dies_of(scene.crashing(point), "tasks/cancel", &id);
        let mut server = scene.server();
        if point == CrashPoint::before(Step::Commit) {
            // Nothing was written: it is still a task that may be started.
            assert_eq!(server.task(&id)["status"], "working");
            cancel(&mut server, &id);
        }
        assert_eq!(server.ended_task(&id)["status"], "cancelled", "{point:?}");
        assert_eq!(server.call(&call), id);
        assert_eq!(scene.log(), [""; 0]);
        assert_nothing_left(&id);
    }
}

#[test]
fn a_task_expires_also_where_its_deletion_was_interrupted() {
    let points = around(Step::Commit).into_iter().chain(around(Step::Forget));
    for point in points {
        let scene = Scene::new();
        let call = json!({ "command": scene.line(7), "ttlSeconds": 1 });
        let id = scene.server().call(&call);
        scene.wait_for_job_to_end(&id);
        // It dies without being asked anything, of looking after its tasks.
        assert_killed(scene.crashing(point));
        let mut server = scene.server();
        let reply = server.request("tasks/get", &json!({ "taskId": id }), Client::Tasks);
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        // A deletion that was interrupted is taken up after a minute, which is too long for a test to wait.
        if point == CrashPoint::before(Step::Commit) || point == CrashPoint::after(Step::Forget) {
            scene.wait_for_deletion(&id);
        }
    }
}
