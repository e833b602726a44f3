//! Questions from inside a job, answered from a terminal or a script.

use std::io::Write as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

use backburner_tests::{PATIENCE, TestDir, binary, children, collect, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Followed, backburner, declining, show_json, task_id_in};

/// Starts a job that asks this, and gives its id. Where nobody answers, as the test has failed, it ends all the same.
fn start(dir: &TestDir, question: &str) -> String {
    let line = format!("'{}' ask {question}", binary().display());
    let run = backburner(dir, &["run", "--detach", "--timeout", "10m", &line]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let id = run.stdout.trim().to_owned();
    until(PATIENCE, "the job to ask", || {
        let task = show_json(dir, &id);
        match task["status"].as_str() {
            Some("input_required") => Ok(()),
            _ => Err(task.to_string()),
        }
    });
    id
}

/// Waits for the end of the job, and gives its exit code and what it wrote.
pub(super) fn ended(dir: &TestDir, id: &str) -> (Value, String) {
    until(PATIENCE, "the job to end", || {
        let task = show_json(dir, id);
        match task["status"].as_str() {
            Some("completed") => Ok(()),
            _ => Err(task.to_string()),
        }
    });
    let task = show_json(dir, id);
    let output = backburner(dir, &["show", id]).stdout;
    (
        task["result"]["structuredContent"]["exitCode"].clone(),
        output,
    )
}

#[test]
fn a_script_answers_by_options() {
    let dir = TestDir::new();
    let id = start(&dir, "Which? --choice a --choice b=B");
    let unreadable = backburner(&dir, &["answer", &id, "--set", "answer"]);
    assert_eq!(unreadable.status, Some(2), "{unreadable:?}");
    let wrong = backburner(&dir, &["answer", &id, "--set", "answer=c"]);
    assert_eq!(wrong.status, Some(125), "{wrong:?}");
    assert!(wrong.stderr.contains("one of a, b"), "{wrong:?}");
    let unknown = backburner(&dir, &["answer", &id, "--set", "other=a"]);
    assert_eq!(unknown.status, Some(125), "{unknown:?}");
    let unset = backburner(&dir, &["answer", &id, "--accept"]);
    assert_eq!(unset.status, Some(125), "{unset:?}");
    let right = backburner(&dir, &["answer", &id, "--set", "answer=B"]);
    assert_eq!(right.status, Some(0), "{right:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "b\n".to_owned()));
    let late = backburner(&dir, &["answer", &id, "--accept"]);
    assert_eq!(late.status, Some(125), "{late:?}");
    assert!(late.stderr.contains("asks nothing"), "{late:?}");
}

#[test]
fn a_job_does_not_answer_for_a_person() {
    let dir = TestDir::new();
    let id = start(&dir, "Sure?");
    let program = binary().display();
    let run = backburner(&dir, &["run", &format!("'{program}' answer {id} --accept")]);
    assert_eq!(run.status, Some(125), "{run:?}");
    assert!(run.stdout.contains("are for a person"), "{run:?}");
    assert_eq!(show_json(&dir, &id)["status"], "input_required");
    let declined = backburner(&dir, &["answer", &id, "--decline"]);
    assert_eq!(declined.status, Some(0), "{declined:?}");
}

#[test]
fn defaults_are_accepted_and_a_question_is_declined() {
    let dir = TestDir::new();
    let id = start(&dir, "How-many? --integer --default 3");
    let accepted = backburner(&dir, &["answer", &id, "--accept"]);
    assert_eq!(accepted.status, Some(0), "{accepted:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "3\n".to_owned()));
    let id = start(&dir, "Sure?");
    let declined = backburner(&dir, &["answer", &id, "--decline"]);
    assert_eq!(declined.status, Some(0), "{declined:?}");
    assert_eq!(ended(&dir, &id), (1.into(), String::new()));
}

#[test]
fn without_a_terminal_the_answer_has_to_be_given() {
    let dir = TestDir::new();
    let id = start(&dir, "Sure?");
    let asked = backburner(&dir, &["answer", &id]);
    assert_eq!(asked.status, Some(125), "{asked:?}");
    assert!(asked.stderr.contains("--accept"), "{asked:?}");
    backburner(&dir, &["cancel", &id]);
}

/// A person at a terminal, who answers what a task asks.
pub(super) struct Person {
    script: Child,
    keyboard: ChildStdin,
    screen: Arc<Mutex<String>>,
}

impl Person {
    /// One who is being asked.
    pub(super) fn asked(dir: &TestDir, id: &str) -> Self {
        // Ctrl-C is ignored where the test was started in the background of a script.
        let line = format!(
            "exec env --default-signal=INT '{}' --data-dir '{}' answer {id}",
            binary().display(),
            dir.data().display()
        );
        // It makes a terminal for the program, and gives the program's status.
        let mut script = Command::new("script")
            .args([
                "--quiet",
                "--return",
                "--flush",
                "--command",
                &line,
                "/dev/null",
            ])
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("util-linux has it");
        let screen = collect(script.stdout.take().expect("it is piped"));
        let keyboard = script.stdin.take().expect("it is piped");
        let person = Self {
            script,
            keyboard,
            screen,
        };
        person.sees("Ctrl-D leaves the question open");
        person
    }

    pub(super) fn screen(&self) -> String {
        self.screen.lock().expect("nothing panics").clone()
    }

    pub(super) fn sees(&self, words: &str) {
        until(PATIENCE, "the person to see it", || {
            let screen = self.screen();
            screen.contains(words).then_some(()).ok_or(screen)
        });
    }

    pub(super) fn types(&mut self, keys: &str) {
        let typed = self.keyboard.write_all(keys.as_bytes());
        typed.and_then(|()| self.keyboard.flush()).expect("it runs");
    }

    /// The program that asks.
    fn program(&self) -> Pid {
        let children = children(self.script.id());
        let [pid] = children[..] else {
            panic!("there is one: {children:?}");
        };
        Pid::from_raw(pid.cast_signed()).expect("it is no kernel's")
    }

    /// The exit status, with 128 and its number for a signal, when the person has seen these last words.
    pub(super) fn leaves(mut self, words: &str) -> i32 {
        let status = until(PATIENCE, "the program to end", || {
            let ended = self.script.try_wait().expect("it is ours");
            ended.ok_or_else(|| self.screen())
        });
        self.sees(words);
        status.code().expect("it is not killed")
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        // Both fail only where it has ended, which is as good.
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// What a person sees in the end.
const SENT: &str = "the answer was sent";

/// What becomes of a job that asks this, when a person has typed each of these and seen the words that come then.
fn told(dir: &TestDir, question: &str, dialogue: &[(&str, &str)]) -> (Value, String) {
    let id = start(dir, question);
    let mut person = Person::asked(dir, &id);
    for (keys, words) in dialogue {
        person.types(keys);
        person.sees(words);
    }
    assert_eq!(person.leaves(SENT), 0);
    ended(dir, &id)
}

#[test]
fn a_person_types_the_answer_and_declines() {
    let dir = TestDir::new();
    let dialogue = [("x\n", "give a whole number"), ("17\n", SENT)];
    let typed = told(&dir, "Which? --integer", &dialogue);
    assert_eq!(typed, (0.into(), "17\n".to_owned()));
    let declined = told(&dir, "Which? --integer", &[("/decline\n", SENT)]);
    assert_eq!(declined, (1.into(), String::new()));
}

#[test]
fn who_may_not_leave_out_anything_is_told_what_is_right() {
    let dir = TestDir::new();
    let words = "this cannot be left out: give yes or no";
    let dialogue = [("/skip\n", words), ("yes\n", SENT)];
    let agreed = told(&dir, "Sure?", &dialogue);
    assert_eq!(agreed, (0.into(), String::new()));
    let chosen = told(&dir, "Sure? --boolean", &dialogue);
    assert_eq!(chosen, (0.into(), "true\n".to_owned()));
}

#[test]
fn a_default_reaches_the_job_as_it_was_written() {
    let dir = TestDir::new();
    for (question, printed) in [
        ("m --number --default 1.50", "1.50\n"),
        (
            "m --number --default 12345678901234567890.5",
            "12345678901234567890.5\n",
        ),
        ("m --field n:number --default n=1.50", "{\"n\":1.50}\n"),
        ("m --integer --default -0", "0\n"),
    ] {
        let line = format!("'{}' ask {question} --deadline 100ms", binary().display());
        let run = backburner(&dir, &["run", &line]);
        assert_eq!(run.status, Some(0), "{run:?}");
        assert_eq!(run.stdout, printed, "{run:?}");
    }
}

#[test]
fn a_person_leaves_out_an_optional_field_that_has_a_default() {
    let dir = TestDir::new();
    let asked = "Which? --integer --default 3 --optional --json";
    let id = start(&dir, asked);
    let mut person = Person::asked(&dir, &id);
    person.sees("(a whole number) [3] (/skip leaves it out):");
    person.types("/skip\n");
    assert_eq!(person.leaves("the answer was sent"), 0);
    assert_eq!(ended(&dir, &id), (0.into(), "null\n".to_owned()));
    let id = start(&dir, asked);
    let left_out = backburner(&dir, &["answer", &id, "--set", "answer="]);
    assert_eq!(left_out.status, Some(0), "{left_out:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "null\n".to_owned()));
}

#[test]
fn a_number_reaches_the_job_as_it_was_typed() {
    let dir = TestDir::new();
    let id = start(&dir, "How-much? --number");
    let mut person = Person::asked(&dir, &id);
    person.types("1.50\n");
    assert_eq!(person.leaves("the answer was sent"), 0);
    assert_eq!(ended(&dir, &id), (0.into(), "1.50\n".to_owned()));
    let id = start(&dir, "How-much? --field 'a:number' --field b:integer");
    let values = ["--set", "a=-.50", "--set", "b=12345678901234567890"];
    let answered = backburner(&dir, &[&["answer", &id][..], &values].concat());
    assert_eq!(answered.status, Some(0), "{answered:?}");
    let printed = "{\"a\":-0.50,\"b\":12345678901234567890}\n";
    assert_eq!(ended(&dir, &id), (0.into(), printed.to_owned()));
}

#[test]
fn a_page_to_open_is_named_to_a_person() {
    let dir = TestDir::new();
    let asked = "'Sign in' --url https://example.org/sign-in";
    let id = start(&dir, asked);
    let page = "\nopen this page: https://example.org/sign-in\n";
    let shown = backburner(&dir, &["show", &id]);
    assert!(shown.stderr.contains(page), "{shown:?}");
    backburner(&dir, &["cancel", &id]);
    let line = format!("'{}' ask {asked}", binary().display());
    let run = declining(&dir, &["run", &line]);
    assert!(run.stderr.contains(page), "{run:?}");
}

#[test]
fn what_each_of_several_questions_asks_is_shown_with_its_key() {
    let dir = TestDir::new();
    let program = binary();
    let program = program.display();
    let line = format!("'{program}' ask 'Delete a?' & '{program}' ask 'Delete b?'; wait");
    let run = backburner(&dir, &["run", "--detach", &line]);
    let id = run.stdout.trim();
    let requests = || show_json(&dir, id)["inputRequests"].take();
    until(PATIENCE, "both to be asked", || {
        let requests = requests();
        let both = requests.as_object().filter(|both| both.len() == 2);
        both.map(|_| ()).ok_or_else(|| requests.to_string())
    });
    let requests = requests();
    let lines = requests.as_object().expect("it is one").iter();
    let lines: Vec<String> = lines
        .map(|(key, request)| {
            let message = request["params"]["message"].as_str().expect("a text");
            format!("\n  {key}  {message}\n")
        })
        .collect();
    let declined = backburner(&dir, &["answer", id, "--decline"]);
    assert_eq!(declined.status, Some(125), "{declined:?}");
    let shown = backburner(&dir, &["show", id]);
    for line in &lines {
        assert!(declined.stderr.contains(line), "{line}: {declined:?}");
        assert!(shown.stderr.contains(line), "{line}: {shown:?}");
    }
    backburner(&dir, &["cancel", id]);
}

#[test]
fn a_default_may_be_negative() {
    let dir = TestDir::new();
    let id = start(&dir, "How-cold? --integer --default -5");
    let accepted = backburner(&dir, &["answer", &id, "--accept"]);
    assert_eq!(accepted.status, Some(0), "{accepted:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "-5\n".to_owned()));
}

/// Sees that nobody has answered yet, and that nobody has to any more.
fn stays_open(dir: &TestDir, id: &str) {
    assert_eq!(show_json(dir, id)["status"], "input_required");
    backburner(dir, &["cancel", id]);
}

#[test]
fn a_required_text_wants_text_and_an_optional_one_is_left_out_by_enter() {
    let dir = TestDir::new();
    let dialogue = [("\n", "give a text"), ("main\n", SENT)];
    let required = told(&dir, "Which? --text", &dialogue);
    assert_eq!(required, (0.into(), "main\n".to_owned()));
    let optional = told(&dir, "Which? --text --optional --json", &[("\n", SENT)]);
    assert_eq!(optional, (0.into(), "null\n".to_owned()));
}

#[test]
fn a_script_answers_with_an_empty_text() {
    let dir = TestDir::new();
    let id = start(&dir, "Which? --text --json");
    let empty = backburner(&dir, &["answer", &id, "--set", "answer="]);
    assert_eq!(empty.status, Some(0), "{empty:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "\"\"\n".to_owned()));
}

#[test]
fn a_field_that_is_not_there_is_told_with_what_there_is() {
    let dir = TestDir::new();
    for (question, instead) in [
        ("Sure?", "the question has no fields: answer it by --accept"),
        ("Which? --text", "the only one is answer\n"),
        (
            "m --field 'my name:text' --field b:text",
            "there are 'my name', b\n",
        ),
    ] {
        let id = start(&dir, question);
        let wrong = backburner(&dir, &["answer", &id, "--set", "other=a"]);
        assert_eq!(wrong.status, Some(125), "{wrong:?}");
        assert!(wrong.stderr.contains(instead), "{question}: {wrong:?}");
        backburner(&dir, &["cancel", &id]);
    }
}

#[test]
fn several_values_are_picked_one_by_one_and_by_their_numbers() {
    let dir = TestDir::new();
    let choices = "--choice a --choice b=B --choice c --several --default a --default c";
    let id = start(&dir, &format!("Which? {choices}"));
    let twice = ["answer", &id, "--set", "answer=3", "--set", "answer=B"];
    let answered = backburner(&dir, &twice);
    assert_eq!(answered.status, Some(0), "{answered:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "[\"c\",\"b\"]\n".to_owned()));
    let id = start(&dir, &format!("Which? {choices}"));
    let accepted = backburner(&dir, &["answer", &id, "--accept"]);
    assert_eq!(accepted.status, Some(0), "{accepted:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "[\"a\",\"c\"]\n".to_owned()));
    let id = start(&dir, "Which? --text");
    let twice = ["answer", &id, "--set", "answer=a", "--set", "answer=b"];
    let twice = backburner(&dir, &twice);
    assert_eq!(twice.status, Some(125), "{twice:?}");
    assert!(twice.stderr.contains("is set twice"), "{twice:?}");
    backburner(&dir, &["cancel", &id]);
}

#[test]
fn whoever_is_interrupted_at_the_question_has_sent_nothing() {
    let dir = TestDir::new();
    let id = start(&dir, "Which? --text");
    let mut person = Person::asked(&dir, &id);
    person.types("half of it\u{3}");
    assert_eq!(person.leaves("the question stays open"), 128 + 2);
    let person = Person::asked(&dir, &id);
    kill_process(person.program(), Signal::TERM).expect("it runs");
    assert_eq!(person.leaves("the question stays open"), 128 + 15);
    stays_open(&dir, &id);
}

#[test]
fn a_question_that_is_left_open_is_no_success() {
    let dir = TestDir::new();
    let id = start(&dir, "Which? --text");
    let mut person = Person::asked(&dir, &id);
    person.types("\u{4}");
    assert_eq!(person.leaves("the question stays open"), 125);
    stays_open(&dir, &id);
}

#[test]
fn an_answer_that_comes_too_late_is_not_said_to_have_been_given() {
    let dir = TestDir::new();
    let id = start(&dir, "Which? --text");
    let mut person = Person::asked(&dir, &id);
    let other = backburner(&dir, &["answer", &id, "--set", "answer=first"]);
    assert_eq!(other.status, Some(0), "{other:?}");
    person.types("second\n");
    let words = "the question is not open any more";
    assert_eq!(person.leaves(&format!("not sent, since {words}")), 125);
    assert_eq!(ended(&dir, &id), (0.into(), "first\n".to_owned()));
}

#[test]
fn a_run_says_how_to_answer() {
    let dir = TestDir::new();
    let line = format!("'{}' ask Sure? --deadline 60", binary().display());
    let run = declining(&dir, &["run", &line]);
    assert_eq!(run.status, Some(1), "{run:?}");
    let how = format!("answer --data-dir {} ", dir.data().display());
    assert!(
        run.stderr.contains("Sure?") && run.stderr.contains(&how),
        "{run:?}"
    );
    assert_eq!(run.stderr.matches("Sure?").count(), 1, "once: {run:?}");
}

#[test]
fn a_run_says_each_question_also_while_another_one_is_open() {
    let dir = TestDir::new();
    let (program, gate) = (binary(), dir.path().join("gate"));
    let (ask, gate) = (format!("'{}' ask", program.display()), gate.display());
    let second = format!("while [ ! -e '{gate}' ]; do sleep 0.05; done; {ask} 'And b?'");
    let line = format!("{ask} 'Delete a?' & {second}; wait");
    let run = Followed::start(&dir, &["run", "--quiet", "--timeout", "10m", &line]);
    let asked = run.says_how_to_answer(1);
    assert!(!asked.contains("And b?"), "{asked}");
    std::fs::write(gate.to_string(), "").expect("the test's directory can be written");
    let asked = run.says_how_to_answer(2);
    assert!(asked.contains("  And b?"), "behind its key: {asked}");
    let cancelled = backburner(&dir, &["cancel", &task_id_in(&asked)]);
    assert_eq!(cancelled.status, Some(0), "{cancelled:?}");
    let run = run.end();
    assert_eq!(run.stderr.matches("; answer by: ").count(), 2, "{run:?}");
}

#[test]
fn a_wrong_question_is_a_failure_and_not_an_answer() {
    let dir = TestDir::new();
    for line in [
        &["ask"][..],
        &["ask", "m", "--several"],
        &["ask", "m", "--integer", "--default", "x"],
        &["ask", " ", "--deadline", "1m"],
        &["ask", "m", "--choice", "a,b", "--several"],
        &["--config", "/dev/null", "ask", "m", "--bogus"],
        &["--config=/dev/null", "ask", "m", "--bogus"],
    ] {
        let asked = backburner(&dir, line);
        assert_eq!(asked.status, Some(125), "{asked:?}");
    }
}
