//! Questions from inside a job, and what it says of itself: who is told, which answer reaches it, and what is left when
//! somebody is killed or a file damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use backburner::jobs::{End, Jobs, Loss, Question};
use uuid::Uuid;

use crate::durability::kill;
use crate::lab::{DEADLINE, Lab, eventually, processes_of, shell};

const YES: &str = r#"{"action":"accept","content":{"answer":"yes"}}"#;

/// A line in which `ask` and `progress` stand for the program's commands.
fn line(text: &str) -> String {
    let program = env!("CARGO_BIN_EXE_backburner");
    format!(
        "ask() {{ '{program}' ask \"$@\"; }}; progress() {{ '{program}' progress \"$@\"; }}; {text}"
    )
}

fn start(lab: &Lab, text: &str) -> Uuid {
    lab.start(&shell(&line(text)))
}

/// Waits until the job asks so many questions.
fn asked(lab: &Lab, id: Uuid, count: usize) -> Vec<Question> {
    eventually("the job asks", || {
        let questions = lab.progress(id).questions;
        (questions.len() == count).then_some(questions)
    })
}

fn the_question(lab: &Lab, id: Uuid) -> Question {
    asked(lab, id, 1).remove(0)
}

fn answer(lab: &Lab, id: Uuid, key: &str, text: &str) {
    lab.jobs.answer(id, key, text).expect("it can be answered");
}

/// The files of the job's questions.
pub(crate) fn files(lab: &Lab, id: Uuid) -> Vec<PathBuf> {
    let entries = fs::read_dir(lab.directory(id).join("questions"));
    let entries = entries.into_iter().flatten();
    entries
        .map(|entry| entry.expect("it can be listed").path())
        .collect()
}

/// Runs a line that asks, answers it, and compares what the line writes.
fn check(text: &str, given: &str, expect: &str) {
    let lab = Lab::new();
    let id = start(&lab, &format!("{text}; echo \"status $?\""));
    let key = the_question(&lab, id).key;
    answer(&lab, id, &key, given);
    lab.outcome(id);
    assert_eq!(lab.text(id), expect, "{text}");
    assert_eq!(files(&lab, id), [""; 0].map(PathBuf::from), "{text}");
}

#[test]
fn a_job_goes_on_with_the_answer() {
    check("ask m --text", YES, "yes\nstatus 0\n");
    let accepted = r#"{"action":"accept","content":{"b":1,"a":true}}"#;
    let fields = "ask m --field b:integer --field a:boolean";
    check(fields, accepted, "{\"b\":1,\"a\":true}\nstatus 0\n");
    check("ask m", r#"{"action":"accept","content":{}}"#, "status 0\n");
    let page = "ask m --url https://example.org/";
    check(page, r#"{"action":"accept"}"#, "status 0\n");
}

#[test]
fn a_status_says_what_became_of_the_question() {
    check("ask m --text", r#"{"action":"decline"}"#, "status 1\n");
    check("ask m --text", r#"{"action":"cancel"}"#, "status 2\n");
    let lab = Lab::new();
    let (id, _) = lab.run(&shell(&line(
        "ask m --deadline 0.01; echo $?; ask m --integer --default 7 --deadline 0.01; echo $?",
    )));
    assert_eq!(lab.text(id), "2\n7\n0\n");
}

#[test]
fn a_question_says_what_is_asked_and_when() {
    let lab = Lab::new();
    let id = start(&lab, "ask 'Delete 214 files?' --boolean");
    let question = the_question(&lab, id);
    let schema =
        r#"{"type":"object","properties":{"answer":{"type":"boolean"}},"required":["answer"]}"#;
    let form = format!(r#"{{"message":"Delete 214 files?","requestedSchema":{schema}}}"#);
    assert_eq!(question.form, form);
    assert!(question.asked_at >= lab.progress(id).started_at);
    for file in files(&lab, id) {
        let mode = fs::metadata(&file)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn several_questions_are_open_oldest_first_and_each_has_its_own_answer() {
    let lab = Lab::new();
    let go = lab.fifo("go");
    let id = start(
        &lab,
        "ask 1 --text & first=$!; read _ < \"$BACKBURNER_DIR/go\"; ask 2 --text & wait $first; wait",
    );
    let first = the_question(&lab, id);
    fs::write(&go, "\n").expect("the job reads it");
    let questions = asked(&lab, id, 2);
    assert_eq!(questions[0], first);
    answer(&lab, id, &questions[1].key, YES);
    assert_eq!(the_question(&lab, id), first);
    assert_eq!(lab.first_line(id), "yes");
    answer(&lab, id, &first.key, &YES.replace("yes", "no"));
    lab.outcome(id);
    assert_eq!(lab.text(id), "yes\nno\n");
}

#[test]
fn a_question_is_withdrawn_with_its_asker() {
    let lab = Lab::new();
    let program = env!("CARGO_BIN_EXE_backburner");
    let id = start(
        &lab,
        &format!("'{program}' ask m --text & echo $!; wait; exec sleep 60"),
    );
    let asker = lab.first_line(id);
    let key = the_question(&lab, id).key;
    kill(&asker);
    asked(&lab, id, 0);
    answer(&lab, id, &key, YES);
    let left = files(&lab, id);
    let answers = left
        .iter()
        .filter(|it| it.extension().is_some_and(|it| it == "answer"));
    assert_eq!(answers.count(), 0, "{left:?}");
    lab.cancel(id);
}

#[test]
fn of_two_answers_at_once_the_first_one_stays() {
    let lab = Lab::new();
    let other = lab.second_engine();
    let id = start(&lab, "ask m --text");
    let key = the_question(&lab, id).key;
    std::thread::scope(|scope| {
        for number in 0..8 {
            let jobs = if number % 2 == 0 { &lab.jobs } else { &other };
            let text = YES.replace("yes", &number.to_string());
            let key = &key;
            scope.spawn(move || jobs.answer(id, key, &text).expect("it is no error"));
        }
    });
    lab.outcome(id);
    let text = lab.text(id);
    let winner: u32 = text
        .trim_end()
        .parse()
        .unwrap_or_else(|_| panic!("one number: {text:?}"));
    assert!(winner < 8);
}

#[test]
fn an_answered_question_is_not_open_while_its_asker_is_on_its_way() {
    let lab = Lab::new();
    let program = env!("CARGO_BIN_EXE_backburner");
    let id = start(
        &lab,
        &format!("'{program}' ask m --text & echo $!; wait; exec sleep 60"),
    );
    let asker = lab.first_line(id);
    let key = the_question(&lab, id).key;
    let stop = |signal: &str| {
        let stopped = Command::new("kill").args([signal, &asker]).status();
        assert!(stopped.expect("it is there").success());
    };
    stop("-STOP");
    answer(&lab, id, &key, YES);
    assert_eq!(lab.progress(id).questions, []);
    answer(&lab, id, &key, &YES.replace("yes", "no"));
    stop("-CONT");
    eventually("the job has its answer", || {
        lab.text(id).ends_with("\nyes\n").then_some(())
    });
    lab.cancel(id);
}

#[test]
fn who_looks_wakes_an_asker_whose_answer_came_without_a_wake_up() {
    let lab = Lab::new();
    let id = start(&lab, "ask m --text");
    let key = the_question(&lab, id).key;
    // As a server leaves it that is killed in the middle.
    let place = lab
        .directory(id)
        .join("questions")
        .join(format!("{key}.answer"));
    let content = YES.replace('"', "\\\"");
    fs::write(place, format!(r#"{{"format":1,"content":"{content}"}}"#)).expect("there is room");
    lab.jobs.inspect(id).expect("it can be inspected");
    lab.outcome(id);
    assert_eq!(lab.text(id), "yes\n");
}

#[test]
fn a_question_ends_with_its_job() {
    let lab = Lab::new();
    let id = start(&lab, "echo $PPID; ask m --text");
    let supervisor = lab.first_line(id);
    let key = the_question(&lab, id).key;
    kill(&supervisor);
    let kind = Loss::Supervisor;
    assert_eq!(lab.outcome(id).end, End::Lost { kind });
    assert_eq!(processes_of(id), [""; 0]);
    answer(&lab, id, &key, YES);
    let id = start(&lab, "ask m --text");
    the_question(&lab, id);
    lab.cancel(id);
    assert!(lab.outcome(id).stopped.is_some());
}

#[test]
fn a_damaged_question_is_none_and_a_damaged_answer_a_failure() {
    let lab = Lab::new();
    for damage in [
        "",
        "x",
        "{}",
        r#"{"format":1,"content":{"form":1}}"#,
        r#"{"format":9,"content":{}}"#,
    ] {
        let id = start(&lab, "ask m --text");
        let key = the_question(&lab, id).key;
        let path = |what: &str| {
            lab.directory(id)
                .join("questions")
                .join(format!("{key}.{what}"))
        };
        fs::write(path("asked"), damage).expect("it is ours");
        assert_eq!(lab.progress(id).questions, [], "{damage}");
        answer(&lab, id, &key, YES);
        lab.cancel(id);
        let id = start(&lab, "ask m --text; echo $?");
        let key = the_question(&lab, id).key;
        let path = |what: &str| {
            lab.directory(id)
                .join("questions")
                .join(format!("{key}.{what}"))
        };
        fs::write(path("answer"), damage).expect("it is ours");
        lab.jobs.inspect(id).expect("it can be inspected");
        lab.outcome(id);
        assert!(
            lab.text(id).ends_with("\n125\n"),
            "{damage}: {}",
            lab.text(id)
        );
    }
}

#[test]
fn what_somebody_puts_in_the_place_of_the_questions_is_none() {
    let lab = Lab::new();
    let own = "echo x > \"$BACKBURNER_DIR/jobs/$BACKBURNER_TASK_ID/questions\"";
    let (id, _) = lab.run(&shell(&line(&format!(
        "{own}; ask m --text 2>/dev/null; echo $?"
    ))));
    assert_eq!(lab.text(id), "125\n");
    let id = start(&lab, "echo up; exec sleep 60");
    lab.first_line(id);
    let place = lab.directory(id).join("questions");
    std::os::unix::fs::symlink(std::env::temp_dir(), &place).expect("the name is free");
    assert_eq!(lab.progress(id).questions, []);
    answer(&lab, id, "a", YES);
    fs::remove_file(&place).expect("it was just made");
    fs::write(&place, "x").expect("there is room");
    assert_eq!(lab.progress(id).questions, []);
    lab.cancel(id);
}

#[test]
fn an_answer_to_what_is_no_key_leads_to_no_file() {
    let lab = Lab::new();
    let id = start(&lab, "ask m --text");
    the_question(&lab, id);
    let before = files(&lab, id);
    for key in ["", "..", "../x", "a/b", "A", &"a".repeat(65), "unknown"] {
        answer(&lab, id, key, YES);
    }
    assert_eq!(files(&lab, id), before);
    lab.cancel(id);
}

#[test]
fn a_question_that_finds_no_room_is_not_asked() {
    let lab = Lab::new();
    let (id, _) = lab.run(&shell(&line("(ulimit -f 0; ask m --text 2>&1); echo $?")));
    let text = lab.text(id);
    assert!(
        text.starts_with("backburner: the question cannot be asked"),
        "{text}"
    );
    assert!(text.ends_with("\n125\n"), "{text}");
    assert_eq!(files(&lab, id), [""; 0].map(PathBuf::from));
}

#[test]
fn no_job_asks_more_than_it_may() {
    let lab = Lab::new();
    let go = lab.fifo("go");
    let id = start(
        &lab,
        "for i in $(seq 32); do ask $i --text >/dev/null & done; read _ < \"$BACKBURNER_DIR/go\"; ask m --text; echo $?; wait",
    );
    for question in asked(&lab, id, 32) {
        if question.form.contains(r#""message":"32""#) {
            continue;
        }
        assert!(question.key.len() <= 64);
    }
    fs::write(&go, "\n").expect("the job reads it");
    eventually("the last one is refused", || {
        lab.text(id).ends_with("125\n").then_some(())
    });
    lab.cancel(id);
}

#[test]
fn only_a_process_of_a_job_asks() {
    let run = |id: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backburner"));
        command.args(["ask", "m"]).env_remove("BACKBURNER_TASK_ID");
        command.env(
            "BACKBURNER_DIR",
            std::env::temp_dir().join("backburner-none"),
        );
        command.envs(id.map(|id| ("BACKBURNER_TASK_ID", id)));
        let output = command.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let unknown = crate::lab::fresh_id().to_string();
    for (id, expect) in [
        (None, "this is no job"),
        (Some("x"), "this is no job"),
        (Some(unknown.as_str()), "there is no job"),
    ] {
        let (code, said) = run(id);
        assert_eq!(code, Some(125), "{said}");
        assert!(said.contains(expect), "{said}");
    }
    assert!(!std::env::temp_dir().join("backburner-none").exists());
}

#[test]
fn a_job_says_how_far_it_is() {
    let lab = Lab::new();
    let id = start(
        &lab,
        "progress 1 first; progress 40 compiling; echo up; exec sleep 60",
    );
    lab.first_line(id);
    let report = lab.progress(id).report.expect("it said something");
    assert_eq!(
        (report.percent, report.text.as_str()),
        (Some(40), "compiling")
    );
    assert!(report.at >= lab.progress(id).started_at);
    let place = lab.directory(id).join("report.json");
    let mode = fs::metadata(&place)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    for damage in [
        "",
        "x",
        r#"{"format":1,"content":{}}"#,
        r#"{"format":9,"content":{}}"#,
    ] {
        fs::write(&place, damage).expect("it is ours");
        assert_eq!(lab.progress(id).report, None, "{damage}");
    }
    lab.cancel(id);
}

/// Does something, and sees that who waited for what the job asks is woken by it.
#[cfg(target_os = "linux")]
fn assert_wakes(lab: &Lab, id: Uuid, act: impl FnOnce()) {
    let asks = lab.jobs.asks(id);
    act();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let woken = runtime
        .expect("a runtime can be made")
        .block_on(async { tokio::time::timeout(DEADLINE, asks).await });
    assert!(woken.is_ok(), "nobody is woken");
}

#[cfg(target_os = "linux")]
#[test]
fn who_waits_is_woken_when_a_job_asks_and_when_it_is_answered() {
    let lab = Lab::new();
    let place = tempfile::tempdir().expect("there is room");
    let gate = place.path().join("gate");
    let wait = format!("until [ -e '{}' ]; do sleep 0.02; done", gate.display());
    let id = start(
        &lab,
        &format!("{wait}; ask One? --text; ask Two? --text; sleep 60"),
    );
    assert_wakes(&lab, id, || fs::write(&gate, "").expect("there is room"));
    let first = the_question(&lab, id);
    assert_wakes(&lab, id, || answer(&lab, id, &first.key, YES));
    let second = eventually("the second question", || {
        let questions = lab.progress(id).questions;
        questions.into_iter().find(|it| it.key != first.key)
    });
    assert_wakes(&lab, id, || answer(&lab, id, &second.key, YES));
    lab.jobs
        .stop(id, backburner::jobs::StopReason::Cancelled)
        .expect("it can be stopped");
    lab.outcome(id);
}
