//! Whichever import fails, and however: the answer is one valid message, and afterwards there is nothing but the truth.
//!
//! Each [`Scene`] is played once for each import that it calls, each way in which that can fail, and each time for which
//! the failure can last. What was played is compared with [`support::coverage`] as a whole, so that no import of no method
//! is left out.

mod scenes;
#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;

use serde_json::Value;

use scenes::{Act, Scene, scenes};
use support::coverage::{Case, assert_all_covered, case};
use support::faults::{Fault, Lasts};
use support::truth;
use support::world::EPOCH;

/// When all commands of the scenes have ended, and what expires has expired.
const LATE: u64 = EPOCH + 10_000_000;

#[test]
fn every_failure_of_every_import_is_answered_and_leaves_the_truth() {
    let mut covered = BTreeSet::new();
    for scene in scenes() {
        let healthy = later(scene.clone());
        let mut calls = scene.clone();
        calls.act();
        for (at, call) in (0..).zip(&calls.world.faults.calls) {
            for fault in call.import.failures() {
                for lasts in [Lasts::Once, Lasts::ForTheImport, Lasts::ForAll] {
                    let failure = Failure {
                        at,
                        fault: *fault,
                        lasts,
                    };
                    covered.insert(fails(&scene, failure, &healthy));
                }
            }
            for fault in [Fault::CrashBefore, Fault::CrashAfter] {
                let failure = Failure {
                    at,
                    fault,
                    lasts: Lasts::Once,
                };
                covered.insert(fails(&scene, failure, &healthy));
            }
        }
    }
    assert_all_covered(&covered);
}

/// What goes wrong with a scene.
#[derive(Clone, Copy, Debug)]
struct Failure {
    /// Before it, this many imports are called.
    at: u64,
    fault: Fault,
    lasts: Lasts,
}

/// Plays a scene in which this goes wrong. Gives what went wrong.
fn fails(scene: &Scene, failure: Failure, healthy: &[Value]) -> Case {
    let on_failure = Announce(scene.name, failure);
    let mut scene = scene.clone();
    let Failure { at, fault, lasts } = failure;
    scene.world.faults.plan_lasting(at, fault, lasts);
    let starts = scene.world.jobs.starts.len();
    let request = scene.request();
    let said = scene.act();
    let fired = scene.world.faults.fired.take();
    let (call, fault) = fired.expect("the import is called");
    let has_crashed = scene.world.faults.clear();
    if has_crashed {
        scene.host.pending.clear();
    } else {
        answered(&scene, request.as_ref(), &said);
        let said = [said, scene.end()].concat();
        answered(&scene, request.as_ref(), &said);
        started_what_it_names(&scene, &said, starts);
        if scene.is_about_a_task() && !said.iter().any(has_failed) {
            // What was acknowledged holds without a second request.
            scene.act = Act::Sweep;
        }
    }
    truth::hold(&scene.world);
    assert_eq!(later(scene), healthy);
    std::mem::forget(on_failure);
    case(&call, fault)
}

/// Each message is valid, answers the request, and names no task that is not stored.
fn answered(scene: &Scene, request: Option<&Value>, said: &[Value]) {
    let replies = said.iter().filter(|it| it.get("method").is_none());
    assert!(
        replies.clone().count() <= 1,
        "more than one reply: {said:?}"
    );
    for reply in replies {
        assert_eq!(reply["jsonrpc"], "2.0", "{reply}");
        assert_eq!(Some(&reply["id"]), request, "{reply}");
        let members = reply.as_object().map(serde_json::Map::len);
        assert_eq!(
            members,
            Some(3),
            "a reply has a result or an error: {reply}"
        );
        match reply.get("error") {
            Some(error) => assert!(
                error["code"] == -32603 || scene.may_be_refused() && error["code"] == -32602,
                "{reply}"
            ),
            None => {
                let kind = reply["result"]["resultType"].as_str();
                let is_plain = reply["id"].as_u64().is_some_and(|id| id % 2 == 1);
                assert!(
                    matches!(kind, Some("complete" | "input_required" | "task")),
                    "{reply}"
                );
                assert!(!is_plain || kind != Some("task"), "{reply}");
            }
        }
    }
    for id in said.iter().flat_map(named) {
        let key = format!("task/{id}");
        assert!(
            scene.world.store.value(&key).is_some(),
            "{id} is not stored: {said:?}"
        );
    }
}

/// A call that has failed and names no task has started nothing.
fn started_what_it_names(scene: &Scene, said: &[Value], starts_before: usize) {
    let names_a_task = said.iter().any(|it| !named(it).is_empty());
    let starts = scene.world.jobs.starts.len() - starts_before;
    assert!(
        starts == 0 || names_a_task || !said.iter().any(has_failed),
        "a job that nobody knows of: {said:?}"
    );
}

fn has_failed(message: &Value) -> bool {
    message.get("error").is_some() || message["result"]["isError"] == true
}

/// Everything in a message that looks like the id of a task.
fn named(message: &Value) -> Vec<String> {
    let text = message.to_string();
    let words = text.split(|character: char| !(character.is_ascii_hexdigit() || character == '-'));
    let ids = words.filter(|word| word.len() == 36 && word.matches('-').count() == 4);
    ids.map(str::to_owned).collect()
}

/// Makes the same request again, then lets everything end. Gives what is said in the end of the tasks that were there when
/// the scene began, after making sure that it is true of all tasks.
fn later(mut scene: Scene) -> Vec<Value> {
    if let Act::Send(_) = scene.act {
        let request = scene.request();
        let said = [scene.act(), scene.end()].concat();
        answered(&scene, request.as_ref(), &said);
        assert!(!said.is_empty(), "the same request again is not answered");
    }
    scene.host.skew_ms = 0;
    scene.world.clock = scene.world.clock.max(LATE);
    for id in scene.tasks() {
        for key in ["q1", "q2"] {
            scene
                .world
                .jobs
                .answer(scene.world.clock, &id, key, "declined");
        }
    }
    for id in &scene.tasks() {
        let mut reply = scene.host.get(&mut scene.world, id);
        match reply["error"]["code"].as_i64() {
            Some(code) => assert_eq!(code, -32602, "only an expired one is refused: {reply}"),
            None => truth::is_true(&scene.world, id, &reply["result"].take()),
        }
    }
    truth::hold(&scene.world);
    let most = if scene.may_run_again() { 2 } else { 1 };
    let mut lines = scene.world.jobs.lines.values();
    assert!(lines.all(|starts| *starts <= most), "it ran again");
    let before = scene.before.clone();
    let tell = |id: &String| but_for_its_time(scene.host.get(&mut scene.world, id));
    before.iter().map(tell).collect()
}

/// What is said of a task; that nothing was ever known of its job may be found out later.
fn but_for_its_time(mut reply: Value) -> Value {
    if let Some(task) = reply["result"].as_object_mut() {
        task.remove("lastUpdatedAt");
    }
    reply
}

/// Says what went wrong when it is dropped, which a success prevents.
struct Announce(&'static str, Failure);

impl Drop for Announce {
    #[expect(clippy::print_stderr, reason = "a failed test speaks to a person")]
    fn drop(&mut self) {
        eprintln!("the scene was: {}; what failed was: {:?}", self.0, self.1);
    }
}
