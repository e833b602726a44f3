//! The shipped binary itself, killed again and again in the middle of one call: at an instant that nobody chose, from
//! before the call is read to after its answer; and before each of its system calls that change what others see, so also
//! in the middle of a commit.
//!
//! What these steps are for is not known here; `steps_of_create.rs` has those that have a name, with a double.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use backburner_tests::{Call, Client, PATIENCE, Point, Seen, Server, tool_call};
use serde_json::{Value, json};

use crate::random::{Random, seed};
use crate::scene::Scene;
use crate::watching;

/// How many servers are killed at least at an instant that nobody chose.
const KILLS: u64 = 40;

/// How many are killed at most, until some died before their answer and some after it.
const KILLS_MAX: u64 = 400;

/// The numbers of calls that only prepare something, which no call that is killed has.
const FIRST: u64 = u64::MAX;
const UNDISTURBED: u64 = u64::MAX - 1;

/// The same call each time for a number, for the client and the server.
fn call(scene: &Scene, number: u64) -> Value {
    let log = scene.log_line(&number.to_string());
    let line = format!("{log}; exit {}", code(number));
    tool_call(&json!({ "command": line, "idempotencyKey": number.to_string() }))
}

fn code(number: u64) -> u64 {
    number % 200
}

/// A server that has answered, so that what is killed is a call and not a start.
fn warm(scene: &Scene) -> Server {
    let mut server = scene.server();
    server.assert_alive();
    server
}

/// How long a call takes that nobody disturbs.
fn undisturbed(scene: &Scene) -> Duration {
    let mut server = warm(scene);
    let begun = Instant::now();
    server.result("tools/call", &call(scene, UNDISTURBED), Client::Tasks);
    begun.elapsed()
}

/// Whether the call got its task.
fn is_answered(replies: &[Value]) -> bool {
    let mut results = replies.iter().map(|reply| &reply["result"]);
    results.any(|result| result["taskId"].is_string())
}

#[test]
fn the_shipped_binary_killed_at_any_instant_of_a_call_runs_it_once_or_never_and_says_which() {
    let mut random = Random::new(seed());
    let scene = Scene::new();
    // How long a server may live: about half of the kills then come before the answer, whatever the machine does meanwhile.
    let mut most = u64::try_from(undisturbed(&scene).as_micros()).expect("it is short");
    let mut answered = BTreeSet::new();
    let mut killed = 0;
    while killed < KILLS || (killed < KILLS_MAX && !are_both(killed, &answered)) {
        let mut server = warm(&scene);
        server.post("tools/call", &call(&scene, killed), Client::Tasks);
        // What has to pass is the time itself.
        thread::sleep(Duration::from_micros(random.below(most)));
        server.kill();
        if is_answered(&server.wait_exit(PATIENCE).unread) {
            answered.insert(killed);
            most = (most - most / 4).max(1);
        } else {
            most += most / 4 + 1;
        }
        killed += 1;
    }
    assert_kept(&scene, killed, &answered);
    // Else the instants were not those of a call.
    let count = answered.len();
    assert!(
        are_both(killed, &answered),
        "{count} of {killed} were answered"
    );
}

/// Whether some of these servers died before their answer, and some after it.
fn are_both(killed: u64, answered: &BTreeSet<u64>) -> bool {
    (1..killed).contains(&(answered.len() as u64))
}

/// Makes each of the calls 0 to `count - 1` again, and sees that its command ran once, with its own exit code, or never, as
/// is told; and once in any case where the call was answered before.
fn assert_kept(scene: &Scene, count: u64, answered: &BTreeSet<u64>) {
    let mut server = scene.server();
    let endings: Vec<_> = (0..count)
        .map(|number| (number, ending(scene, &mut server, number)))
        .collect();
    scene.wait_for_all_to_go();
    let log = scene.log();
    for (number, ending) in endings {
        let name = number.to_string();
        let runs = log.iter().filter(|line| **line == name).count();
        match ending {
            Some(told) => assert_eq!((told, runs), (code(number), 1), "{number}"),
            None => assert_eq!(runs, 0, "{number} is said not to have run"),
        }
        let is_kept = ending.is_some() || !answered.contains(&number);
        assert!(is_kept, "{number} was promised");
    }
}

/// What became of the task of a call that is made again: its exit code, or that it never ran.
fn ending(scene: &Scene, server: &mut Server, number: u64) -> Option<u64> {
    let reply = server.request("tools/call", &call(scene, number), Client::Tasks);
    if reply["error"].is_object() {
        return None;
    }
    let id = reply["result"]["taskId"].as_str();
    let id = id.unwrap_or_else(|| panic!("{number}: {reply}"));
    let task = server.ended_task(id);
    if task["status"] == "failed" {
        return None;
    }
    let code = task["result"]["structuredContent"]["exitCode"].as_u64();
    Some(code.unwrap_or_else(|| panic!("{number}: {task}")))
}

#[test]
fn the_shipped_binary_killed_before_each_of_its_system_calls_runs_a_call_once_or_never() {
    let scene = Scene::new();
    // The first call makes files that the others have.
    let Some(_first) = watched(&scene, FIRST, None) else {
        return;
    };
    let undisturbed = watched(&scene, UNDISTURBED, None).expect("it was not refused just now");
    let points = points(&undisturbed.seen);
    let mut answered = BTreeSet::new();
    let mut killed = BTreeSet::new();
    let mut kills = 0;
    for (number, point) in (0..).zip(&points) {
        let call = watched(&scene, number, Some(point)).expect("it was not refused just now");
        if call.is_answered {
            answered.insert(number);
        }
        let is_killed = call.seen.iter().any(|seen| matches!(seen, Seen::Killed(_)));
        if is_killed {
            kills += 1;
            killed.insert((point.call, point.name.as_str()));
        }
        // Both where the point came once more after the answer.
        let is_over = is_killed || call.is_answered;
        assert!(is_over, "{point:?}: {:?}", call.seen);
    }
    // A point that does not come again is none, but most do.
    let count = points.len();
    assert!(kills * 2 > count, "{kills} of {count} points were hit");
    assert_kept(&scene, points.len() as u64, &answered);
    // Of a kind of call there may be one less the next time, but not none.
    for kind in [
        (Call::Write, "backburner.db-wal"),
        (Call::Sync, "backburner.db-wal"),
        (Call::Write, "spec.jsonl"),
        (Call::Rename, ".workshop"),
        (Call::Start, ""),
        (Call::Write, Seen::REPLY),
    ] {
        assert!(killed.contains(&kind), "{kind:?} is not in {killed:?}");
    }
}

/// A call of a server that was watched.
struct Watched {
    is_answered: bool,
    seen: Vec<Seen>,
}

/// Makes a call to a server that is watched, and killed at a point if there is one; `None` where that is refused.
fn watched(scene: &Scene, number: u64, kill_at: Option<&Point>) -> Option<Watched> {
    let (mut server, watch) = watching::watched(scene, kill_at.cloned());
    // Points are counted from this reply.
    server.assert_alive();
    server.post("tools/call", &call(scene, number), Client::Tasks);
    let is_answered = is_answered(&server.close().unread);
    let seen = watching::seen(&watch)?;
    Some(Watched { is_answered, seen })
}

/// All points between the first reply and the second one, which is a point too.
fn points(seen: &[Seen]) -> Vec<Point> {
    let mut counts = BTreeMap::new();
    let after_first = seen.iter().skip_while(|seen| **seen != Seen::Reply).skip(1);
    for seen in after_first {
        if let Some((call, name)) = seen.of_server() {
            *counts.entry((call, name)).or_insert(0) += 1;
        }
        if *seen == Seen::Reply {
            break;
        }
    }
    let points = counts.into_iter().flat_map(|((call, name), count)| {
        let point = move |number| Point {
            call,
            name: name.clone(),
            number,
        };
        (1..=count).map(point)
    });
    points.collect()
}
