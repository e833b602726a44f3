//! `subscriptions/listen` and `notifications/progress`: who is told what, and when.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::Wake;
use serde_json::{Value, json};

use support::faults::Fault;
use support::host::parse;
use support::messages::{Client, about, request, run, with_elicitation};
use support::{FakeWorld, Host};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

/// A world with one server.
struct Scene {
    world: FakeWorld,
    host: Host,
}

impl Scene {
    fn new() -> Self {
        Self {
            world: FakeWorld::new(1),
            host: Host::new("{}", "user"),
        }
    }

    /// Opens subscription 9, and gives what is told at once.
    fn listen(&mut self, notifications: &Value) -> Vec<Value> {
        let params = json!({ "notifications": notifications });
        let body = request(9, Client::Tasks, "subscriptions/listen", params);
        let replies = self.host.send(&mut self.world, &body);
        assert_eq!(replies, Vec::<String>::new());
        self.told()
    }

    fn task(&mut self, command: &str) -> String {
        let arguments = json!({ "command": command });
        self.host.task(&mut self.world, &arguments)
    }

    /// Moves time on, and gives what is told meanwhile.
    fn pass(&mut self, ms: u64) -> Vec<Value> {
        for _ in 0..ms / 10 {
            self.world.clock += 10;
            self.host.wake(&mut self.world);
        }
        self.told()
    }

    fn told(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.host.told)
    }
}

/// Which task, and its status, of each `notifications/tasks`.
fn statuses(told: &[Value]) -> Vec<&str> {
    let tasks = told.iter().inspect(|it| {
        assert_eq!(it["method"], "notifications/tasks", "{it}");
        assert_eq!(it["params"]["_meta"][ID], 9, "{it}");
    });
    tasks
        .map(|it| it["params"]["status"].as_str().expect("a status"))
        .collect()
}

#[test]
fn the_acknowledgement_comes_first_and_names_what_is_agreed() {
    let mut scene = Scene::new();
    let id = scene.task("sleep 60");
    let unknown = "00000000-0000-4000-8000-000000000000";
    let told = scene.listen(&json!({
        "taskIds": [unknown, &id, "nonsense", &id],
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourceSubscriptions": ["file:///x"],
    }));
    assert_eq!(
        told[0],
        json!({
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {
                "notifications": { "taskIds": [id], "toolsListChanged": true },
                "_meta": { ID: 9 },
            },
        })
    );
    assert_eq!(statuses(&told[1..]), ["working"]);
}

#[test]
fn what_is_not_asked_for_is_not_acknowledged() {
    for (asked, agreed) in [
        (json!({}), json!({})),
        (json!({ "toolsListChanged": false }), json!({})),
        (
            json!({ "toolsListChanged": null, "taskIds": null }),
            json!({}),
        ),
        (json!({ "taskIds": [] }), json!({ "taskIds": [] })),
    ] {
        let told = Scene::new().listen(&asked);
        assert_eq!(told.len(), 1, "{asked}");
        assert_eq!(told[0]["params"]["notifications"], agreed, "{asked}");
    }
}

#[test]
fn a_foreign_task_is_left_out() {
    let mut scene = Scene::new();
    let mut other = Host::new("{}", "other");
    let id = other.task(&mut scene.world, &json!({ "command": "sleep 60" }));
    let told = scene.listen(&json!({ "taskIds": [id] }));
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["params"]["notifications"], json!({ "taskIds": [] }));
}

#[test]
fn without_the_extension_tasks_are_refused_and_tools_are_not() {
    let mut scene = Scene::new();
    let ask = |notifications: Value| {
        let params = json!({ "notifications": notifications });
        request(1, Client::Plain, "subscriptions/listen", params)
    };
    let replies = scene
        .host
        .send(&mut scene.world, &ask(json!({ "taskIds": [] })));
    let reply = parse(&replies[0]);
    assert_eq!(reply["error"]["code"], -32021);
    let extensions = &reply["error"]["data"]["requiredCapabilities"]["extensions"];
    assert_eq!(extensions["io.modelcontextprotocol/tasks"], json!({}));
    let body = ask(json!({ "toolsListChanged": true }));
    assert!(scene.host.send(&mut scene.world, &body).is_empty());
    assert_eq!(scene.told().len(), 1);
}

#[test]
fn a_malformed_filter_is_refused() {
    for filter in [
        json!(null),
        json!([]),
        json!({ "taskIds": "x" }),
        json!({ "taskIds": [1] }),
        json!({ "toolsListChanged": "yes" }),
    ] {
        let mut scene = Scene::new();
        let params = json!({ "notifications": filter });
        let body = request(1, Client::Tasks, "subscriptions/listen", params);
        let replies = scene.host.send(&mut scene.world, &body);
        assert_eq!(parse(&replies[0])["error"]["code"], -32602, "{filter}");
    }
}

#[test]
fn an_ended_task_is_told_at_once_and_once() {
    let mut scene = Scene::new();
    let id = scene.task("sleep 1; exit 3");
    scene.world.clock += 5_000;
    let told = scene.listen(&json!({ "taskIds": [id] }));
    assert_eq!(statuses(&told[1..]), ["completed"]);
    let result = &told[1]["params"]["result"];
    assert_eq!(result["isError"], true);
    assert_eq!(result["resultType"], "complete");
    assert_eq!(scene.pass(60_000), Vec::<Value>::new());
}

#[test]
fn a_notification_is_what_get_says() {
    let mut scene = Scene::new();
    let id = scene.task("echo hi; sleep 2");
    scene.listen(&json!({ "taskIds": [&id] }));
    let told = scene.pass(3_000);
    let mut last = told.last().expect("its end is told")["params"].clone();
    let mut got = scene.host.get(&mut scene.world, &id)["result"].clone();
    for value in [&mut last, &mut got] {
        let members = value.as_object_mut().expect("an object");
        members.remove("_meta");
        members.remove("resultType");
    }
    assert_eq!(last, got);
}

#[test]
fn the_end_is_told_when_it_comes_and_words_at_most_once_a_second() {
    let mut scene = Scene::new();
    let id = scene.task("sleep 4.55");
    scene.listen(&json!({ "taskIds": [id] }));
    let begin = scene.world.clock;
    let mut moments = Vec::new();
    for _ in 0..600 {
        for told in scene.pass(10) {
            let status = told["params"]["status"]
                .as_str()
                .expect("a status")
                .to_owned();
            moments.push((scene.world.clock - begin, status));
        }
    }
    let (end, working) = moments.split_last().expect("something is told");
    assert_eq!(*end, (4_450, "completed".to_owned()));
    assert!(!working.is_empty());
    assert!(working.iter().all(|(_, status)| status == "working"));
    let pauses = working.windows(2).map(|pair| pair[1].0 - pair[0].0);
    assert!(pauses.clone().all(|pause| pause >= 1_000), "{moments:?}");
}

#[test]
fn a_cancelled_and_a_lost_task_are_told() {
    let mut scene = Scene::new();
    let cancelled = scene.task("sleep 60");
    let lost = scene.task("sleep 61");
    scene.listen(&json!({ "taskIds": [&cancelled, &lost] }));
    scene
        .host
        .ask(&mut scene.world, &about(3, "tasks/cancel", &cancelled));
    let told = scene.pass(10);
    assert_eq!(statuses(&told), ["cancelled"]);
    assert!(told[0]["params"].get("result").is_none());
    let now = scene.world.clock;
    scene.world.jobs.lose(now, &lost);
    let told = scene.pass(10);
    assert_eq!(statuses(&told), ["failed"]);
    assert_eq!(told[0]["params"]["error"]["code"], -32603);
}

#[test]
fn a_task_that_expires_is_told_no_more() {
    let mut scene = Scene::new();
    let arguments = json!({ "command": "sleep 60", "ttlSeconds": 2 });
    let id = scene.host.task(&mut scene.world, &arguments);
    scene.listen(&json!({ "taskIds": [id] }));
    scene.pass(2_000);
    assert_eq!(scene.pass(10_000), Vec::<Value>::new());
    assert_eq!(scene.host.pending["9"].jobs, Vec::<String>::new());
}

#[test]
fn a_subscription_survives_a_store_that_fails_for_a_while() {
    let mut scene = Scene::new();
    let id = scene.task("sleep 3");
    scene.listen(&json!({ "taskIds": [id] }));
    // As a dead process would see them: every call fails.
    scene.world.faults.plan(0, Fault::CrashBefore);
    scene.pass(5_000);
    assert!(scene.world.faults.clear());
    let told = scene.pass(2_000);
    assert_eq!(statuses(&told), ["completed"]);
}

#[test]
fn the_client_ends_a_subscription_without_an_answer() {
    let mut scene = Scene::new();
    let id = scene.task("sleep 1");
    scene.listen(&json!({ "taskIds": [id], "toolsListChanged": true }));
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 }
    });
    let replies = scene.host.send(&mut scene.world, &cancel.to_string());
    assert_eq!(replies, Vec::<String>::new());
    assert_eq!(scene.pass(5_000), Vec::<Value>::new());
}

#[test]
fn the_server_ends_a_subscription_with_its_result_alone() {
    let mut scene = Scene::new();
    let id = scene.task("sleep 60");
    scene.listen(&json!({ "taskIds": [id] }));
    scene.world.clock += 5_000;
    let replies = scene.host.resume(&mut scene.world, "9", Wake::Shutdown);
    let reply = parse(&replies[0]);
    assert_eq!(reply["id"], 9);
    assert_eq!(reply["result"]["resultType"], "complete");
    assert_eq!(reply["result"]["_meta"][ID], 9);
    assert_eq!(scene.told(), Vec::<Value>::new());
}

#[test]
fn a_subscription_names_at_most_a_hundred_tasks() {
    let mut scene = Scene::new();
    let id = scene.task("sleep 60");
    let unknown = |number: usize| format!("00000000-0000-4000-8000-{number:012}");
    let mut ids: Vec<String> = (0..99).map(unknown).collect();
    // Named once more, it takes nobody's place.
    ids.extend((0..50_000).map(|_| unknown(0)));
    ids.push(id.clone());
    let told = scene.listen(&json!({ "taskIds": ids }));
    let agreed = &told[0]["params"]["notifications"]["taskIds"];
    assert_eq!(*agreed, json!([id]), "{told:?}");
}

#[test]
fn more_tasks_are_refused_before_any_is_looked_up() {
    let mut scene = Scene::new();
    let mut ids: Vec<String> = (0..101).map(|_| scene.task("sleep 60")).collect();
    ids.extend_from_within(..50);
    let params = json!({ "notifications": { "taskIds": ids } });
    let body = request(9, Client::Tasks, "subscriptions/listen", params);
    let reads = scene.world.store.reads;
    let reply = scene.host.ask(&mut scene.world, &body);
    assert_eq!(reply["error"]["code"], -32602);
    let message = reply["error"]["message"].as_str().expect("words");
    assert!(
        message.contains("names 101 different tasks, a subscription may name at most 100: open"),
        "{message}"
    );
    assert_eq!(scene.world.store.reads, reads);
    assert_eq!(scene.told(), Vec::<Value>::new());
}

#[test]
fn the_same_tools_after_a_new_configuration_are_no_change() {
    let mut scene = Scene::new();
    scene.listen(&json!({ "toolsListChanged": true }));
    scene
        .host
        .configure(&mut scene.world, r#"{"syncLimitMs": 5}"#);
    assert_eq!(scene.told(), Vec::<Value>::new());
}

/// A call of a client without Tasks that wants to hear of its progress.
fn with_token(token: &Value) -> String {
    let mut message = parse(&run(
        1,
        Client::Plain,
        &json!({ "command": "echo hi; sleep 4.5" }),
    ));
    message["params"]["_meta"]["progressToken"] = token.clone();
    message.to_string()
}

#[test]
fn a_call_that_waits_says_how_far_it_is() {
    for token in [json!("t"), json!(7)] {
        let mut scene = Scene::new();
        let reply = scene.host.ask(&mut scene.world, &with_token(&token));
        assert_eq!(reply["result"]["isError"], false);
        let told = scene.told();
        let values: Vec<f64> = told
            .iter()
            .map(|it| {
                assert_eq!(it["method"], "notifications/progress");
                assert_eq!(it["params"]["progressToken"], token);
                assert!(
                    it["params"]["message"]
                        .as_str()
                        .expect("words")
                        .contains("hi")
                );
                it["params"]["progress"].as_f64().expect("a number")
            })
            .collect();
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    }
}

/// The values that a call of this command is told, each beside its total and its message, where it may take an hour.
fn progress_of(command: &str) -> Vec<(f64, Value, String)> {
    let call = run(1, Client::Plain, &json!({ "command": command }));
    let mut call = parse(&call);
    call["params"]["_meta"]["progressToken"] = json!("t");
    let mut scene = Scene::new();
    scene.host = Host::new(r#"{"syncLimitMs":3600000}"#, "user");
    scene.host.ask(&mut scene.world, &call.to_string());
    let told = scene.told().into_iter().map(|it| {
        let progress = it["params"]["progress"].as_f64().expect("a number");
        let message = it["params"]["message"].as_str().expect("words");
        (progress, it["params"]["total"].clone(), message.to_owned())
    });
    told.collect()
}

/// The values alone, which are to be percents.
fn percents_of(command: &str) -> Vec<f64> {
    let told = progress_of(command);
    assert!(told.iter().all(|(_, total, _)| *total == 100), "{told:?}");
    told.into_iter().map(|(value, ..)| value).collect()
}

#[test]
fn a_call_says_how_far_its_job_says_it_is() {
    // Each is greater than the one before, also where the job says nothing new: who hears nothing may give it up.
    let values = percents_of("report 20 compiling; sleep 2.5; report 60 linking; sleep 2");
    assert_eq!(values, [20.0, 20.5, 60.0, 60.5]);
    let values = percents_of("report 60 compiling; sleep 1.5; report 20 linking; sleep 1");
    assert_eq!(values, [60.0, 60.5], "what was told is not taken back");
}

#[test]
fn a_job_that_runs_has_not_done_all_whatever_it_says() {
    let values = percents_of("report 60 linking; sleep 1.5; report 100 linking; sleep 2");
    assert_eq!(values, [60.0, 99.0, 99.5]);
    let told = progress_of("report 100 linking; sleep 1.5");
    assert!(told[0].2.contains("100 %, linking"), "{told:?}");
}

#[test]
fn a_call_is_told_something_each_second_however_long_a_percentage_stands_still() {
    for percent in [40, 99, 100] {
        let values = percents_of(&format!("report {percent} linking; sleep 1500.5"));
        assert_eq!(values.len(), 1500, "{percent}");
        assert!(values.is_sorted_by(|one, next| one < next), "{percent}");
        let next = f64::from(percent.min(99) + 1);
        assert!(values.iter().all(|value| *value < next), "{percent}");
    }
}

#[test]
fn a_token_that_is_none_is_refused_before_anything_runs() {
    for token in [json!(null), json!(1.5), json!({}), json!(true)] {
        let mut scene = Scene::new();
        let reply = scene.host.ask(&mut scene.world, &with_token(&token));
        assert_eq!(reply["error"]["code"], -32602, "{token}");
        assert_eq!(scene.world.store.keys(""), Vec::<&str>::new());
    }
}

#[test]
fn a_client_with_tasks_gets_a_task_and_no_progress() {
    let mut scene = Scene::new();
    let mut message = parse(&run(1, Client::Tasks, &json!({ "command": "sleep 4" })));
    message["params"]["_meta"]["progressToken"] = json!("t");
    let reply = scene.host.ask(&mut scene.world, &message.to_string());
    assert_eq!(reply["result"]["resultType"], "task");
    assert_eq!(scene.told(), Vec::<Value>::new());
}

/// What is told at once of a task that this command makes, to a client with this capability `elicitation`.
fn asked(scene: &mut Scene, command: &str, elicitation: &Value) -> Vec<Value> {
    let id = scene.task(command);
    let params = json!({ "notifications": { "taskIds": [id] } });
    let body = request(9, Client::Tasks, "subscriptions/listen", params);
    let body = with_elicitation(&body, elicitation);
    assert!(scene.host.send(&mut scene.world, &body).is_empty());
    scene.told().split_off(1)
}

#[test]
fn a_question_is_told_to_who_can_ask_it_and_so_is_that_it_was_answered() {
    let mut scene = Scene::new();
    let told = asked(&mut scene, "ask boolean text; sleep 60", &json!({}));
    assert_eq!(statuses(&told), ["input_required"]);
    let id = told[0]["params"]["taskId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let requests = |told: &[Value]| -> Vec<String> {
        let requests = told[0]["params"]["inputRequests"].as_object();
        requests.expect("an object").keys().cloned().collect()
    };
    assert_eq!(requests(&told), ["q1", "q2"]);
    scene.pass(10);
    for (key, left) in [("q1", Some("q2")), ("q2", None)] {
        let answers = json!({ key: { "action": "decline" } });
        let params = json!({ "taskId": id, "inputResponses": answers });
        let body = request(3, Client::Tasks, "tasks/update", params);
        scene.host.ask(&mut scene.world, &body);
        // It is less than a second since the last time.
        scene.host.resume(&mut scene.world, "9", Wake::Deadline);
        let told = scene.told();
        match left {
            Some(left) => assert_eq!(requests(&told), [left]),
            None => assert_eq!(statuses(&told), ["working"]),
        }
    }
}

#[test]
fn a_question_is_not_told_to_who_cannot_ask_it() {
    let mut scene = Scene::new();
    let told = asked(&mut scene, "ask boolean; sleep 60", &json!({ "url": {} }));
    assert_eq!(statuses(&told), ["working"]);
    let message = told[0]["params"]["statusMessage"].as_str();
    assert!(
        message.is_some_and(|it| it.starts_with("waits for an answer")),
        "{told:?}"
    );
}
