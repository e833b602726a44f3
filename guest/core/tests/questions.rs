//! What a job asks, who is asked it, and which answers reach the job; what it reports of itself.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the fake world"
)]
mod support;

use serde_json::{Value, json};

use support::faults::Fault;
use support::messages::{self, Client, run};
use support::{FakeWorld, Host};

const CONFIG: &str = r#"{"directLimitMs":0,"answerCommand":"b answer"}"#;

/// A job that runs this, and a server.
struct Scene {
    world: FakeWorld,
    host: Host,
    id: String,
}

impl Scene {
    fn new(command: &str) -> Self {
        Self::with_config(command, CONFIG)
    }

    fn with_config(command: &str, config: &str) -> Self {
        let mut world = FakeWorld::new(1);
        let mut host = Host::new(config, "user");
        let id = host.task(&mut world, &json!({ "command": command }));
        Self { world, host, id }
    }

    /// A request about the task from a client with this capability `elicitation`; `null` for none.
    fn ask(&mut self, method: &str, elicitation: &Value, answers: &Value) -> Value {
        let params = json!({ "taskId": self.id, "inputResponses": answers });
        let body = messages::request(2, Client::Tasks, method, params);
        let body = match elicitation {
            Value::Null => body,
            declared => messages::with_elicitation(&body, declared),
        };
        self.host.ask(&mut self.world, &body)
    }

    /// The task as a client sees it that shows forms and opens pages.
    fn get(&mut self) -> Value {
        self.get_with(&messages::elicitation())
    }

    fn get_with(&mut self, elicitation: &Value) -> Value {
        self.ask("tasks/get", elicitation, &json!({}))["result"].take()
    }

    /// Sends answers, which are acknowledged.
    fn update(&mut self, answers: &Value) {
        let reply = self.ask("tasks/update", &json!({}), answers);
        assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
        assert_eq!(
            reply["result"].as_object().map(serde_json::Map::len),
            Some(2),
            "{reply}"
        );
    }

    /// Status and message, and the keys that are asked for.
    fn outline(&mut self, elicitation: &Value) -> String {
        let task = self.get_with(elicitation);
        let status = task["status"].as_str().expect("a status");
        let message = task["statusMessage"].as_str().expect("words");
        match task.get("inputRequests") {
            None => format!("{status}: {message}"),
            Some(requests) => {
                let requests = requests.as_object().expect("an object");
                assert!(!requests.is_empty() && status == "input_required");
                let keys: Vec<&str> = requests.keys().map(String::as_str).collect();
                format!("{status} {}: {message}", keys.join(" "))
            }
        }
    }

    fn expect(&mut self, elicitation: &Value, expect: &str) {
        let expect = expect.replace("ID", &self.id);
        assert_eq!(self.outline(elicitation), expect, "{elicitation}");
    }
}

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[test]
fn a_job_that_asks_is_a_task_that_requires_input() {
    let mut scene = Scene::new("ask boolean");
    let task = scene.get();
    assert_eq!(task["status"], "input_required");
    assert_eq!(task["resultType"], "complete");
    assert_eq!(task["pollIntervalMs"], 250);
    let expect = json!({ "q1": {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Which boolean?",
            "requestedSchema": {
                "type": "object",
                "properties": { "boolean": { "type": "boolean" } },
                "required": ["boolean"],
            },
        },
    } });
    assert_eq!(task["inputRequests"], expect);
}

#[test]
fn a_page_to_open_is_asked_for_as_such() {
    let mut scene = Scene::new("ask page");
    let params = json!({ "mode": "url", "message": "Sign in", "url": "https://example.org/" });
    assert_eq!(scene.get()["inputRequests"]["q1"]["params"], params);
    scene.update(&json!({ "q1": { "action": "accept" } }));
    assert_eq!(scene.get()["status"], "completed");
}

#[test]
fn an_answer_reaches_the_job_which_goes_on() {
    let mut scene = Scene::new("ask text; sleep 1; exit 3");
    scene.world.clock += 5_000;
    scene.update(&json!({ "q1": accept(&json!({ "text": "yes" })) }));
    let answer = r#"q1 {"action":"accept","content":{"text":"yes"}}"#;
    let working = format!("working: running for 5 s; last line: {answer}");
    scene.expect(&json!({}), &working);
    scene.world.clock += 1_000;
    let task = scene.get();
    assert_eq!(task["status"], "completed");
    assert_eq!(task["result"]["structuredContent"]["exitCode"], 3);
}

#[test]
fn who_cannot_be_asked_sees_work_and_how_a_person_can_answer() {
    let mut scene = Scene::new("ask boolean page");
    let form = "waits for an answer: Which boolean?";
    let page = "waits for an answer: Sign in";
    let both = "waits for an answer: Which boolean? (and 1 more)";
    let how = "a person answers it in a terminal by `b answer ID`; running for 0 ms";
    let how_to_open = "a person answers it in a terminal by `b answer ID`, which names the page to open; running for 0 ms";
    let working = format!("working: {both}; {how_to_open}");
    for nothing in [
        json!(null),
        json!(true),
        json!({ "x": {} }),
        json!({ "form": null }),
    ] {
        scene.expect(&nothing, &working);
    }
    let first = format!("input_required q1: {form}; {page}; {how_to_open}");
    scene.expect(&json!({}), &first);
    scene.expect(&json!({ "form": {} }), &first);
    let second = format!("input_required q2: {page}; {form}; {how}");
    scene.expect(&json!({ "url": {} }), &second);
    let all = format!("input_required q1 q2: {both}; running for 0 ms");
    scene.expect(&json!({ "form": {}, "url": {} }), &all);
}

#[test]
fn where_no_command_answers_another_client_does() {
    let mut scene = Scene::with_config("ask boolean", r#"{"directLimitMs":0}"#);
    scene.expect(
        &json!(null),
        "working: waits for an answer: Which boolean?; it is answered by a client that declares the capability \
         `elicitation`; running for 0 ms",
    );
}

#[test]
fn some_of_several_questions_can_be_answered() {
    let mut scene = Scene::new("ask boolean text count");
    scene.update(&json!({
        "q2": accept(&json!({ "text": "x" })),
        "q9": accept(&json!({})),
    }));
    let left =
        "input_required q1 q3: waits for an answer: Which boolean? (and 1 more); running for 0 ms";
    scene.expect(&json!({}), left);
    scene.update(&json!({
        "q1": { "action": "decline" },
        "q3": { "action": "cancel" },
    }));
    assert_eq!(scene.get()["status"], "completed");
}

#[test]
fn an_answer_that_does_not_fit_leaves_its_question_open() {
    let mut scene = Scene::new("ask text count");
    let before = scene.get()["inputRequests"].take();
    for wrong in [
        accept(&json!({ "text": "too long" })),
        accept(&json!({ "text": 1 })),
        accept(&json!({})),
        json!({ "action": "yes" }),
        json!(null),
        json!([]),
    ] {
        scene.update(&json!({ "q1": wrong }));
        assert_eq!(scene.get()["inputRequests"], before, "{wrong}");
    }
    scene.update(
        &json!({ "q1": accept(&json!({ "text": "" })), "q2": accept(&json!({ "count": 0 })) }),
    );
    let left = "input_required q2: waits for an answer: Which count?; running for 0 ms";
    let why = "the last answer did not fit: `count` has to be a whole number, at least 1";
    scene.expect(&json!({}), &format!("{left}; {why}"));
    scene.update(&json!({ "q2": accept(&json!({ "count": 1 })) }));
    assert_eq!(scene.get()["status"], "completed");
}

#[test]
fn why_an_answer_did_not_fit_is_told_as_long_as_its_question_is_open() {
    let mut scene = Scene::new("ask text count");
    let both =
        "input_required q1 q2: waits for an answer: Which text? (and 1 more); running for 0 ms";
    scene.update(&json!({ "q1": accept(&json!({})) }));
    let why = "the last answer did not fit: `text` is missing";
    scene.expect(&json!({}), &format!("{both}; {why}"));
    scene.update(&json!({ "q1": accept(&json!({ "text": "x" })) }));
    let left = "input_required q2: waits for an answer: Which count?; running for 0 ms";
    scene.expect(&json!({}), left);
}

#[test]
fn an_answer_that_does_not_fit_is_acknowledged_also_where_nothing_can_be_written() {
    let mut scene = Scene::new("ask text");
    let before = scene.get();
    scene.world.faults.fill_disk(0);
    scene.update(&json!({ "q1": accept(&json!({})) }));
    scene.world.faults.clear();
    assert_eq!(scene.get(), before);
}

#[test]
fn the_first_answer_stays() {
    let mut scene = Scene::new("ask boolean; sleep 1");
    scene.update(&json!({ "q1": accept(&json!({ "boolean": true })) }));
    let before = scene.get();
    scene.update(&json!({ "q1": accept(&json!({ "boolean": false })) }));
    scene.update(&json!({ "q1": 1 }));
    assert_eq!(scene.get(), before);
    scene.world.clock += 1_000;
    let ended = scene.get();
    let text = ended["result"]["content"][0]["text"].as_str();
    assert!(
        text.is_some_and(|text| text.contains("true") && !text.contains("false")),
        "{ended}"
    );
    scene.update(&json!({ "q1": accept(&json!({ "boolean": false })) }));
    assert_eq!(scene.get(), ended);
}

#[test]
fn a_question_survives_its_server() {
    let mut scene = Scene::new("ask boolean");
    let before = scene.get();
    scene.host = Host::new("{}", "user");
    assert_eq!(scene.get(), before);
    scene.update(&json!({ "q1": accept(&json!({ "boolean": true })) }));
    assert_eq!(scene.get()["status"], "completed");
}

#[test]
fn an_answer_that_cannot_be_kept_is_an_error_and_the_question_stays_open() {
    let question = (
        "ask boolean",
        json!({ "q1": accept(&json!({ "boolean": true })) }),
    );
    let prompt = (
        "type Go?",
        json!({ "p1": accept(&json!({ "answer": "yes" })) }),
    );
    let cases = [question, prompt].into_iter();
    let cases = cases
        .flat_map(|case| [Fault::NoSpace, Fault::CrashBefore].map(|fault| (case.clone(), fault)));
    for ((command, answer), fault) in cases {
        let mut scene = Scene::new(command);
        let before = scene.get();
        // After the record and the job have been looked at.
        scene.world.faults.plan(2, fault);
        let reply = scene.ask("tasks/update", &json!({}), &answer);
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
        scene.world.faults.clear();
        assert_eq!(scene.get(), before);
        scene.update(&answer);
        assert_eq!(scene.get()["status"], "completed");
    }
}

#[test]
fn many_answers_that_do_not_fit_take_one_commit() {
    let mut scene = Scene::new("ask boolean text count");
    let before = scene.world.store.commits;
    let unfit = accept(&json!({}));
    scene.update(&json!({ "q1": unfit, "q2": unfit, "q3": unfit }));
    assert_eq!(scene.world.store.commits, before + 1);
    let message = scene.get()["statusMessage"].to_string();
    let words = "the last answer did not fit: `count` is missing";
    assert!(message.contains(words), "{message}");
}

#[test]
fn a_question_that_cannot_be_read_is_as_if_not_there() {
    let unreadable = "it asks something that cannot be read, so nobody can answer it";
    let mut scene = Scene::new("ask unreadable");
    scene.expect(
        &json!({}),
        &format!("working: running for 0 ms; no output yet; {unreadable}"),
    );
    scene.update(&json!({ "q1": accept(&json!({})) }));
    let mut scene = Scene::new("ask unreadable boolean");
    let readable = "waits for an answer: Which boolean?; running for 0 ms";
    scene.expect(
        &json!({}),
        &format!("input_required q2: {readable}; {unreadable}"),
    );
}

#[test]
fn a_job_that_asks_can_be_cancelled() {
    let mut scene = Scene::new("trap; ask boolean");
    assert_eq!(scene.get()["status"], "input_required");
    scene.ask("tasks/cancel", &json!({}), &json!({}));
    scene.expect(
        &json!({}),
        "working: being stopped after 0 ms (it was cancelled)",
    );
    scene.update(&json!({ "q1": accept(&json!({ "boolean": true })) }));
    scene.world.clock += 10_000;
    assert_eq!(scene.get()["status"], "cancelled");
}

#[test]
fn the_handle_of_a_new_task_carries_no_questions() {
    let mut world = FakeWorld::new(1);
    for config in ["{}", r#"{"directLimitMs":0}"#] {
        let mut host = Host::new(config, "user");
        let call = run(
            1,
            Client::Tasks,
            &json!({ "command": "ask boolean", "idempotencyKey": config }),
        );
        for _ in 0..2 {
            let handle = host.ask(&mut world, &call);
            assert_eq!(handle["result"]["status"], "working", "{handle}");
            assert!(handle["result"].get("inputRequests").is_none(), "{handle}");
        }
    }
}

#[test]
fn a_client_without_tasks_is_told_what_is_asked() {
    let mut world = FakeWorld::new(1);
    let mut host = Host::new(CONFIG, "user");
    let call = run(
        1,
        Client::Plain,
        &json!({ "command": "report 40 half; ask boolean" }),
    );
    let result = host.ask(&mut world, &call)["result"].take();
    assert_eq!(result["isError"], false);
    let id = result["structuredContent"]["taskId"]
        .as_str()
        .expect("an id");
    let text = result["content"][0]["text"].as_str().expect("a text");
    let expect = format!(
        "\nprogress: 40 %, half\nIt waits for an answer: Which boolean?; a person answers it in a terminal by `b answer \
         {id}`.\n\n"
    );
    assert!(text.contains(&expect), "{text}");
}

#[test]
fn what_a_job_reports_takes_the_place_of_its_last_line() {
    for (report, expect) in [
        ("40 compiling", "progress: 40 %, compiling"),
        ("255", "progress: 100 %"),
        ("- nearly done", "progress: nearly done"),
        ("- a\u{202e}b\tc", "progress: a b c"),
        ("-", "last line: a"),
    ] {
        let mut scene = Scene::new(&format!(
            "report 1 first; sleep 1; echo a; report {report}; sleep 9"
        ));
        scene.expect(
            &json!({}),
            "working: running for 0 ms; progress: 1 %, first",
        );
        scene.world.clock += 2_000;
        scene.expect(&json!({}), &format!("working: running for 2 s; {expect}"));
    }
}

#[test]
fn an_ill_typed_set_of_answers_is_an_error() {
    let mut scene = Scene::new("ask boolean");
    for wrong in [json!(null), json!([]), json!("q1")] {
        let reply = scene.ask("tasks/update", &json!({}), &wrong);
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
    }
}

#[test]
fn what_a_job_waits_for_at_its_terminal_is_a_form_with_one_line() {
    let mut scene = Scene::new("type Your\u{1b}[0m name?");
    let expect = json!({ "p1": {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Your[0m name?",
            "requestedSchema": {
                "type": "object",
                "properties": { "answer": {
                    "type": "string", "minLength": 0, "maxLength": 1000,
                    "description": "typed into the command's terminal, with Enter behind it; who declines types the \
                        end of file (Ctrl-D)",
                } },
                "required": ["answer"],
            },
        },
    } });
    assert_eq!(scene.get()["inputRequests"], expect);
    let how = "a person answers it in a terminal by `b answer ID`";
    let working = format!("working: waits for an answer: Your[0m name?; {how}; running for 0 ms");
    scene.expect(&json!(null), &working);
}

#[test]
fn a_line_is_typed_as_plain_text_and_who_declines_types_the_end() {
    for (answer, typed) in [
        (
            accept(&json!({ "answer": "a \"b\"" })),
            r#"p1 Some("a \"b\"")"#,
        ),
        (accept(&json!({ "answer": "" })), r#"p1 Some("")"#),
        (json!({ "action": "decline" }), "p1 None"),
        (json!({ "action": "cancel" }), "p1 None"),
    ] {
        let mut scene = Scene::new("type Go?; sleep 1");
        scene.update(&json!({ "p1": answer }));
        scene.expect(
            &json!({}),
            &format!("working: running for 0 ms; last line: {typed}"),
        );
    }
}

#[test]
fn a_line_that_does_not_fit_is_not_typed() {
    let mut scene = Scene::new("type Go?");
    for content in [
        json!({}),
        json!({ "answer": 1 }),
        json!({ "answer": "x".repeat(1_001) }),
    ] {
        scene.update(&json!({ "p1": accept(&content) }));
        let outline = scene.outline(&json!({}));
        assert!(
            outline.starts_with("input_required p1: waits for an answer: Go?;"),
            "{outline}"
        );
        assert!(outline.contains("the last answer did not fit"), "{outline}");
    }
}

#[test]
fn a_job_that_shows_nothing_is_asked_for_in_our_words() {
    let words = "The command waits for something to be typed into its terminal";
    for shown in [
        "type",
        "type \u{200b}\u{1b}",
        &format!("type {}", "x".repeat(4_001)),
    ] {
        let task = Scene::new(shown).get();
        assert_eq!(task["inputRequests"]["p1"]["params"]["message"], words);
    }
}

#[test]
fn a_secret_is_asked_of_no_client_and_no_client_can_give_it() {
    let mut scene = Scene::new("secret Pass\u{1b} word?");
    let how = "a person types it in a terminal by `b answer ID`, and no client is asked for it";
    let working = format!("working: waits for a secret: Pass word?; {how}; running for 0 ms");
    for client in [json!(null), json!({}), json!({ "form": {}, "url": {} })] {
        scene.expect(&client, &working);
    }
    scene.update(&json!({ "p1": accept(&json!({ "answer": "x" })) }));
    scene.expect(&json!({}), &working);
}

#[test]
fn a_secret_that_no_command_takes_is_the_end_of_a_task() {
    let mut scene = Scene::with_config("secret Word?", r#"{"directLimitMs":0}"#);
    scene.expect(
        &json!({}),
        "working: waits for a secret: Word?; no client is asked for it, so the task can only be cancelled; running for 0 ms",
    );
}
