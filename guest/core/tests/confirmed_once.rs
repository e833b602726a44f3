//! One yes starts one command: replays, races, failures and crashes.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use backburner_core::Outcome;
use serde_json::{Value, json};

use support::faults::Fault;
use support::host::parse;
use support::interference::{Call, Interference};
use support::messages::{Client, about, run, with_elicitation};
use support::{FakeWorld, Host};

const CONFIG: &str = r#"{
    "directLimitMs": 0,
    "confirm": [{ "pattern": "rm ... -*r* ...", "reason": "it deletes directories" }]
}"#;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

fn removal() -> Value {
    json!({ "command": "rm -r x; sleep 60" })
}

fn keyed() -> Value {
    json!({ "command": "rm -r x; sleep 60", "idempotencyKey": "k" })
}

fn host() -> Host {
    Host::new(CONFIG, "user")
}

/// A call by a client that can ask its person, with these members beside name and arguments.
fn call(arguments: &Value, more: &Value) -> String {
    let body = with_elicitation(&run(1, Client::Tasks, arguments), &json!({}));
    let mut body = parse(&body);
    for (name, value) in more.as_object().expect("an object") {
        body["params"][name] = value.clone();
    }
    body.to_string()
}

/// The call that brings a yes, in a world in which it was asked for.
fn confirmed(arguments: &Value) -> (FakeWorld, String) {
    let mut world = FakeWorld::new(1);
    let reply = host().ask(&mut world, &call(arguments, &json!({})));
    let state = reply["result"]["requestState"].as_str();
    let state = state.unwrap_or_else(|| panic!("not asked for: {reply}"));
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    let more = json!({ "requestState": state, "inputResponses": { "confirm": yes } });
    (world, call(arguments, &more))
}

fn task_id(reply: &Value) -> &str {
    let id = reply["result"]["taskId"].as_str();
    id.unwrap_or_else(|| panic!("not a task: {reply}"))
}

fn assert_used(reply: &Value) {
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert!(reply.to_string().contains("was used"), "{reply}");
}

#[test]
fn a_yes_that_started_a_command_starts_no_other() {
    let (mut world, body) = confirmed(&removal());
    task_id(&host().ask(&mut world, &body));
    for _ in 0..2 {
        // Another server each time, as after a restart.
        assert_used(&host().ask(&mut world, &body));
        world.clock += 1_000;
    }
    assert_eq!(world.jobs.starts.len(), 1);
    let reply = host().ask(&mut world, &call(&removal(), &json!({})));
    assert_eq!(reply["result"]["resultType"], "input_required");
}

#[test]
fn all_states_of_one_conversation_start_one_command() {
    let (mut world, body) = confirmed(&removal());
    world.clock += 1;
    let mut bad = parse(&body);
    bad["params"]["inputResponses"] = json!({});
    let again = host().ask(&mut world, &bad.to_string());
    let mut second = parse(&body);
    second["params"]["requestState"] = again["result"]["requestState"].clone();
    let second = second.to_string();
    assert_ne!(second, body);
    let first_wins = &mut world.clone();
    task_id(&host().ask(first_wins, &body));
    assert_used(&host().ask(first_wins, &second));
    task_id(&host().ask(&mut world, &second));
    assert_used(&host().ask(&mut world, &body));
}

#[test]
fn a_replay_with_a_key_finds_its_task() {
    let (mut world, body) = confirmed(&keyed());
    let first = host().ask(&mut world, &body);
    let again = host().ask(&mut world, &body);
    assert_eq!(task_id(&again), task_id(&first));
    assert_eq!(world.jobs.starts.len(), 1);
}

#[test]
fn the_same_call_with_a_key_is_not_asked_for_again() {
    let (mut world, body) = confirmed(&keyed());
    let first = host().ask(&mut world, &body);
    world.clock += 2 * HOUR_MS;
    let id = task_id(&first);
    let bodies = [run(1, Client::Tasks, &keyed()), call(&keyed(), &json!({}))];
    for body in bodies {
        let reply = host().ask(&mut world, &body);
        assert_eq!(task_id(&reply), id);
    }
    let reply = host().ask(&mut world, &run(1, Client::Plain, &keyed()));
    assert_eq!(reply["result"]["isError"], false, "{reply}");
    assert!(reply.to_string().contains("earlier"), "{reply}");
    assert_eq!(world.jobs.starts.len(), 1);
}

#[test]
fn another_command_under_the_key_is_refused_and_not_asked_for() {
    let (mut world, body) = confirmed(&keyed());
    host().ask(&mut world, &body);
    let other = json!({ "command": "rm -r y", "idempotencyKey": "k" });
    let reply = host().ask(&mut world, &call(&other, &json!({})));
    assert_eq!(reply["result"]["isError"], true);
    assert!(reply.to_string().contains("another `command`"), "{reply}");
}

#[test]
fn a_no_to_a_call_whose_task_exists_gives_the_task() {
    let (mut world, body) = confirmed(&keyed());
    let first = host().ask(&mut world, &body);
    let mut no = parse(&body);
    no["params"]["inputResponses"]["confirm"] = json!({ "action": "decline" });
    let reply = host().ask(&mut world, &no.to_string());
    assert_eq!(task_id(&reply), task_id(&first));
}

#[test]
fn a_no_counts_also_behind_the_end_of_a_task_that_it_gave() {
    let arguments = json!({ "command": "rm -r x", "ttlSeconds": 1, "idempotencyKey": "k" });
    for no in refusals() {
        let (mut world, yes) = confirmed(&arguments);
        // Asked twice: the one yes started the task.
        let reply = host().ask(&mut world, &call(&arguments, &json!({})));
        let mut other = parse(&yes);
        other["params"]["requestState"] = reply["result"]["requestState"].clone();
        let first = host().ask(&mut world, &other.to_string());
        let reply = host().ask(&mut world, &instead(&yes, &no));
        assert_eq!(task_id(&reply), task_id(&first));
        world.clock += 2_000;
        assert_used(&host().ask(&mut world, &yes));
        assert_eq!(world.jobs.starts.len(), 1);
    }
}

#[test]
fn a_key_whose_task_is_ending_is_asked_for_and_then_waited_for() {
    let mut world = FakeWorld::new(1);
    let arguments =
        json!({ "command": "trap; sleep 600; rm -r x", "ttlSeconds": 1, "idempotencyKey": "k" });
    let confirm = |world: &mut FakeWorld| {
        let reply = host().ask(world, &call(&arguments, &json!({})));
        let state = reply["result"]["requestState"]
            .as_str()
            .expect("it is asked for");
        let yes = json!({ "action": "accept", "content": { "confirm": true } });
        call(
            &arguments,
            &json!({ "requestState": state, "inputResponses": { "confirm": yes } }),
        )
    };
    let body = confirm(&mut world);
    let first = host().ask(&mut world, &body);
    world.clock += 1_000;
    let body = confirm(&mut world);
    let mut host = host();
    assert_eq!(host.send(&mut world, &body), [""; 0]);
    let second = host.wait(&mut world);
    assert_ne!(task_id(&second), task_id(&first));
    assert_eq!(world.jobs.starts.len(), 2);
}

/// All answers with which a person does not say yes.
fn refusals() -> [Value; 3] {
    [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept", "content": { "confirm": false } }),
    ]
}

/// The call that brings this answer to what another one brings a yes to.
fn instead(body: &str, answer: &Value) -> String {
    let mut body = parse(body);
    body["params"]["inputResponses"]["confirm"] = answer.clone();
    body.to_string()
}

#[test]
fn a_no_cannot_be_made_a_yes() {
    for (arguments, no) in [removal(), keyed()]
        .iter()
        .flat_map(|arguments| refusals().map(|no| (arguments.clone(), no)))
    {
        let (mut world, yes) = confirmed(&arguments);
        let no = instead(&yes, &no);
        let first = host().ask(&mut world, &no);
        assert_eq!(first["result"]["isError"], true, "{first}");
        let reply = host().ask(&mut world, &yes);
        assert_used(&reply);
        assert!(reply.to_string().contains("said no"), "{reply}");
        // Nor is anybody asked in vain, and a repeated no is the same one.
        assert_used(&host().ask(&mut world, &instead(&yes, &json!({}))));
        let again = host().ask(&mut world, &no);
        assert_eq!(again["result"], first["result"]);
        assert!(world.jobs.starts.is_empty());
        assert!(world.store.keys("task/").is_empty());
        // What the words say works.
        let anew = host().ask(&mut world, &call(&arguments, &json!({})));
        let mut other = parse(&yes);
        other["params"]["requestState"] = anew["result"]["requestState"].clone();
        task_id(&host().ask(&mut world, &other.to_string()));
    }
}

#[test]
fn a_no_counts_also_where_another_server_asks_for_nothing() {
    for no in refusals() {
        let (mut world, yes) = confirmed(&removal());
        let mut other = Host::new(r#"{"directLimitMs":0}"#, "user");
        let reply = other.ask(&mut world, &instead(&yes, &no));
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        assert!(world.jobs.starts.is_empty(), "{no}");
        assert_used(&host().ask(&mut world, &yes));
        // Of a question that somebody said yes to there is nothing more to say where nobody has to be asked.
        let (mut world, yes) = confirmed(&removal());
        task_id(&other.ask(&mut world, &yes));
    }
}

#[test]
fn a_no_counts_also_where_another_server_asks_something_else() {
    let elsewhere = |members: Value| {
        let mut config = parse(CONFIG);
        for (name, value) in members.as_object().expect("an object") {
            config[name] = value.clone();
        }
        Host::new(&config.to_string(), "user")
    };
    for no in refusals() {
        for members in [
            json!({ "workingDirectory": "/two" }),
            json!({ "confirm": [{ "pattern": "rm ...", "reason": "other words" }] }),
            // There the call is not even understood.
            json!({ "workingDirectory": "/one", "run": { "directories": ["/two"] } }),
        ] {
            let (mut world, yes) = confirmed(&removal());
            let mut other = elsewhere(members);
            let reply = other.ask(&mut world, &instead(&yes, &no));
            assert_eq!(reply["result"]["isError"], true, "{reply}");
            let reply = host().ask(&mut world, &yes);
            assert_used(&reply);
            assert!(reply.to_string().contains("said no"), "{reply}");
            assert!(world.jobs.starts.is_empty());
        }
    }
}

#[test]
fn a_no_behind_a_yes_is_told_what_became_of_that() {
    let (mut world, yes) = confirmed(&removal());
    task_id(&host().ask(&mut world, &yes));
    for no in refusals() {
        assert_used(&host().ask(&mut world, &instead(&yes, &no)));
    }
    assert_used(&host().ask(&mut world, &instead(&yes, &json!({}))));
    assert_eq!(world.jobs.starts.len(), 1);
}

#[test]
fn of_a_yes_and_a_no_at_once_one_counts() {
    // no: secret, used, commit; yes: secret, used, commit, start
    for (is_no_first, calls) in [(true, 3), (false, 4)] {
        for after_calls in 0..calls {
            let (mut world, yes) = confirmed(&removal());
            let no = instead(&yes, &json!({ "action": "decline" }));
            let (body, other) = if is_no_first { (no, yes) } else { (yes, no) };
            let replies = both_at_once(&mut host(), &mut world, [&body, &other], after_calls);
            let tasks = replies
                .iter()
                .filter(|it| it["result"]["taskId"].is_string());
            let refused = replies.iter().filter(|it| it["result"]["isError"] == true);
            let used = replies.iter().filter(|it| it["error"].is_object());
            assert_eq!(tasks.count(), world.jobs.starts.len(), "{replies:?}");
            assert_eq!(refused.count() + world.jobs.starts.len(), 1, "{replies:?}");
            assert_eq!(used.count(), 1, "{replies:?}");
        }
    }
}

#[test]
fn a_no_that_cannot_be_recorded_is_an_error() {
    let (mut world, yes) = confirmed(&removal());
    let no = instead(&yes, &json!({ "action": "decline" }));
    world.faults.fill_disk(0);
    let reply = host().ask(&mut world, &no);
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    world.faults.clear();
    host().ask(&mut world, &no);
    assert_used(&host().ask(&mut world, &yes));
}

#[test]
fn that_somebody_said_no_is_forgotten_as_a_yes_is() {
    let (mut world, yes) = confirmed(&removal());
    host().ask(&mut world, &instead(&yes, &json!({ "action": "decline" })));
    let forgotten_at = world.clock + HOUR_MS + DAY_MS;
    let host = host();
    assert_eq!(
        host.server.sweep(&mut world, forgotten_at - 1),
        Some(forgotten_at)
    );
    assert_eq!(host.server.sweep(&mut world, forgotten_at), None);
    assert!(world.store.keys("used-state/").is_empty());
}

/// What a server answers, and another one that gets the same message after so many calls of the first one's imports.
fn at_once(host: &mut Host, world: &mut FakeWorld, body: &str, after_calls: u64) -> [Value; 2] {
    both_at_once(host, world, [body, body], after_calls)
}

/// As [`at_once`], where the other one gets another message.
fn both_at_once(
    host: &mut Host,
    world: &mut FakeWorld,
    [body, other]: [&str; 2],
    after_calls: u64,
) -> [Value; 2] {
    world.interference = Some(Interference {
        after_calls,
        cx: host.context(world),
        config: CONFIG,
        call: Call::Message(other.to_owned()),
    });
    let reply = host.ask(world, body);
    let Some(Outcome::Reply(other)) = world.interfered.take() else {
        panic!("the other server did not answer: {after_calls}");
    };
    [reply, parse(&other)]
}

#[test]
fn a_yes_that_two_servers_get_at_once_starts_one_command() {
    // secret, used, key, commit, start
    for (arguments, calls) in [(removal(), 4), (keyed(), 5)] {
        for after_calls in 0..calls {
            let (mut world, body) = confirmed(&arguments);
            let replies = at_once(&mut host(), &mut world, &body, after_calls);
            assert_eq!(world.jobs.starts.len(), 1, "{after_calls}: {replies:?}");
            if arguments == keyed() {
                let [reply, other] = replies.each_ref().map(task_id);
                assert_eq!(reply, other, "{after_calls}");
                continue;
            }
            let used = replies.iter().filter(|reply| reply["error"].is_object());
            used.clone().for_each(assert_used);
            assert_eq!(used.count(), 1, "{after_calls}: {replies:?}");
        }
    }
}

#[test]
fn two_servers_that_ask_at_once_share_one_key() {
    for after_calls in 0..2 {
        let mut world = FakeWorld::new(1);
        let body = call(&removal(), &json!({}));
        let mut host = host();
        for reply in at_once(&mut host, &mut world, &body, after_calls) {
            let state = &reply["result"]["requestState"];
            let yes = json!({ "action": "accept", "content": { "confirm": true } });
            let more = json!({ "requestState": state, "inputResponses": { "confirm": yes } });
            let reply = host.ask(&mut world, &call(&removal(), &more));
            task_id(&reply);
        }
        assert_eq!(world.store.keys("secret/").len(), 1);
        assert_eq!(world.jobs.starts.len(), 2, "these were two questions");
    }
}

#[test]
fn a_failure_while_it_is_asked_starts_nothing_and_is_said() {
    for fault in [
        Fault::NoSpace,
        Fault::Unclear,
        Fault::CrashBefore,
        Fault::CrashAfter,
    ] {
        for at in 0..2 {
            let mut world = FakeWorld::new(1);
            world.faults.plan(at, fault);
            let reply = host().ask(&mut world, &call(&removal(), &json!({})));
            assert_eq!(reply["error"]["code"], -32603, "{at} {fault:?}: {reply}");
            assert!(world.jobs.starts.is_empty());
            world.faults.clear();
            let reply = host().ask(&mut world, &call(&removal(), &json!({})));
            assert_eq!(reply["result"]["resultType"], "input_required");
        }
    }
}

#[test]
fn a_failure_while_it_starts_starts_at_most_one_and_a_yes_is_never_used_twice() {
    for fault in [
        Fault::NoSpace,
        Fault::Unclear,
        Fault::CrashBefore,
        Fault::CrashAfter,
    ] {
        for arguments in [removal(), keyed()] {
            // secret, key, used, commit, start, and what takes a failed start back
            for at in 0..10 {
                let (mut world, body) = confirmed(&arguments);
                world.faults.plan(at, fault);
                let mut host = host();
                host.send(&mut world, &body);
                world.faults.clear();
                for _ in 0..2 {
                    host.send(&mut world, &body);
                    world.clock += 500;
                }
                let started = world.jobs.starts.len();
                assert!(started <= 1, "{fault:?} at {at}: {started}");
                let used = world.store.keys("used-state/").len();
                assert_eq!(used, 1, "{fault:?} at {at}");
            }
        }
    }
}

#[test]
fn a_full_disk_while_it_starts_is_said_and_the_yes_stays() {
    let (mut world, body) = confirmed(&removal());
    world.faults.fill_disk(0);
    let reply = host().ask(&mut world, &body);
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    world.faults.clear();
    task_id(&host().ask(&mut world, &body));
}

#[test]
fn a_yes_to_what_could_not_be_started_is_used() {
    let arguments = json!({ "command": "rm -r x", "cwd": "/missing" });
    let (mut world, body) = confirmed(&arguments);
    let reply = host().ask(&mut world, &body);
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert!(world.store.keys("task/").is_empty());
    let reply = host().ask(&mut world, &body);
    assert_used(&reply);
    let words = reply["error"]["message"].as_str().expect("words");
    assert!(
        words.contains("whether or not it could be started"),
        "{words}"
    );
    // What the words say works.
    let again = host().ask(&mut world, &call(&arguments, &json!({})));
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
}

#[test]
fn a_damaged_key_is_said_and_not_replaced() {
    let (mut world, body) = confirmed(&removal());
    world
        .store
        .put("secret/request-state", r#"{"secret/9":"x"}"#);
    for body in [body, call(&removal(), &json!({}))] {
        let reply = host().ask(&mut world, &body);
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
        assert!(reply.to_string().contains("damaged"), "{reply}");
    }
    assert!(world.jobs.starts.is_empty());
}

#[test]
fn that_a_yes_was_used_is_forgotten_when_nobody_accepts_it_any_more() {
    let (mut world, body) = confirmed(&removal());
    host().ask(&mut world, &body);
    let host = host();
    let begin = world.clock;
    let forgotten_at = begin + HOUR_MS + DAY_MS;
    let next = host.server.sweep(&mut world, begin + 61_000);
    assert_eq!(next, Some(forgotten_at));
    let next = host.server.sweep(&mut world, forgotten_at - 1);
    assert_eq!(next, Some(forgotten_at));
    assert_eq!(world.store.keys("used-state/").len(), 1);
    assert_eq!(host.server.sweep(&mut world, forgotten_at), None);
    assert!(world.store.keys("used-state/").is_empty());
}

#[test]
fn many_used_ones_are_forgotten_in_several_sweeps() {
    let mut world = FakeWorld::new(1);
    for number in 0..120 {
        let key = format!("used-state/{:020}/{number:032x}", 1_000 + number / 100);
        world.store.put(&key, "{}");
    }
    world.store.put("used-state/what", "{}");
    let host = host();
    for left in [71, 21] {
        assert_eq!(host.server.sweep(&mut world, 5_000), Some(5_000));
        assert_eq!(world.store.keys("used-state/").len(), left);
    }
    assert_eq!(host.server.sweep(&mut world, 5_000), None);
    assert!(world.store.keys("used-state/").is_empty());
}

#[test]
fn a_sweep_that_cannot_forget_comes_again() {
    let mut world = FakeWorld::new(1);
    world.store.put("used-state/00000000000000001000/a", "{}");
    world.faults.fill_disk(0);
    let next = host().server.sweep(&mut world, 5_000);
    assert_eq!(next, Some(65_000));
    world.faults.clear();
    assert_eq!(host().server.sweep(&mut world, 65_000), None);
}

#[test]
fn a_cancelled_task_is_no_new_chance_for_its_yes() {
    let (mut world, body) = confirmed(&removal());
    let mut host = host();
    let reply = host.ask(&mut world, &body);
    let id = task_id(&reply).to_owned();
    host.ask(&mut world, &about(2, "tasks/cancel", &id));
    assert_used(&host.ask(&mut world, &body));
}
