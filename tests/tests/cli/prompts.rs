//! What a program waits for at the terminal of its job, answered from another terminal; and what becomes of a secret.

use std::fs;
use std::path::Path;

use backburner_tests::{PATIENCE, TestDir, supervisor_of_task, until};
use rustix::process::{Pid, Signal, kill_process};

use super::questions::{Person, ended};
use super::{Followed, backburner, show_json, task_id_in};

/// Starts a job with a terminal that runs this line, and waits until its task says these words.
fn interactive(dir: &TestDir, line: &str, words: &str) -> String {
    let options = ["run", "--interactive", "--detach", "--timeout", "10m", line];
    let run = backburner(dir, &options);
    assert_eq!(run.status, Some(0), "{run:?}");
    let id = run.stdout.trim().to_owned();
    says(dir, &id, words);
    id
}

fn says(dir: &TestDir, id: &str, words: &str) {
    until(PATIENCE, "the job to wait", || {
        let task = show_json(dir, id);
        let message = task["statusMessage"].as_str().expect("words");
        let is_said = message.contains(words).then_some(());
        is_said.ok_or_else(|| task.to_string())
    });
}

#[test]
fn what_a_program_waits_for_at_its_terminal_is_answered() {
    let dir = TestDir::new();
    let line = "read -r -p 'Your name? ' x; echo \"<$x>\"";
    let id = interactive(&dir, line, "waits for an answer: Your name?;");
    let answered = backburner(&dir, &["answer", &id, "--set", "answer=a b"]);
    assert_eq!(answered.status, Some(0), "{answered:?}");
    let expect = (0.into(), "Your name? a b\n<a b>\n".to_owned());
    assert_eq!(ended(&dir, &id), expect);
    let id = interactive(&dir, line, "waits for an answer: Your name?;");
    let mut person = Person::asked(&dir, &id);
    // Nothing but Enter is an answer, too.
    person.types("\n");
    assert_eq!(person.leaves("the answer was sent"), 0);
    assert_eq!(ended(&dir, &id), (0.into(), "Your name? \n<>\n".to_owned()));
}

const SECRET: &str = "hunter2";

/// Whether any file below this place has the secret, in whatever format.
fn has_secret(place: &Path) -> bool {
    let entries = fs::read_dir(place).expect("it can be listed").flatten();
    entries.map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return has_secret(&path);
        }
        let bytes = path.is_file().then(|| fs::read(&path).unwrap_or_default());
        bytes.is_some_and(|bytes| {
            let mut parts = bytes.windows(SECRET.len());
            parts.any(|part| part == SECRET.as_bytes())
        })
    })
}

/// Runs a line that waits for a secret and writes how long it is; a person types it, and nobody else ever sees it.
fn check(line: &str, words: &str, warning: Option<&str>, expect: &str) {
    let dir = TestDir::new();
    let go = dir.path().join("go");
    // Nobody looks before its files were looked at.
    let line = format!(
        "{line}; echo \"${{#x}}\"; until test -e '{}'; do sleep 0.01; done",
        go.display()
    );
    let waits = format!("waits for a secret: {words}; a person types it in a terminal by ");
    let id = interactive(&dir, &line, &waits);
    assert_eq!(show_json(&dir, &id)["status"], "working");
    let mut person = Person::asked(&dir, &id);
    assert_eq!(
        warning.is_some(),
        person.screen().contains("SHOW"),
        "{line}"
    );
    person.types("hunter2\n");
    person.sees("it was sent, and the question is not open any more");
    assert!(!person.screen().contains(SECRET), "{}", person.screen());
    assert_eq!(person.leaves("it was sent"), 0);
    says(&dir, &id, "last line: 7");
    assert!(!has_secret(dir.path()), "{line}");
    fs::write(go, "").expect("the test's directory can be written");
    assert_eq!(ended(&dir, &id), (0.into(), expect.to_owned()), "{line}");
    assert!(!show_json(&dir, &id).to_string().contains(SECRET), "{line}");
    assert!(!has_secret(dir.path()), "{line}");
}

#[test]
fn a_secret_that_the_terminal_hides_is_in_no_file_and_no_output() {
    let line = "read -r -s -p 'Word: ' x; echo";
    check(line, "Word:", None, "Word: \n7\n");
    let line = "stty -echo; printf 'Word: '; read -r x; stty echo; echo";
    check(line, "Word:", None, "Word: \n7\n");
}

#[test]
fn a_secret_that_the_terminal_would_show_is_in_no_file_and_no_output() {
    let line = "read -r -p 'API key: ' x";
    check(line, "API key:", None, "API key: \n7\n");
    let line = "echo 'Your API token'; read -r -p '> ' x";
    check(line, "Your API token >", None, "Your API token\n> \n7\n");
}

#[test]
fn a_secret_of_a_program_that_takes_keys_is_in_no_file_and_the_person_is_warned() {
    let line = "read -r -s -N 7 -p 'Token: ' x; echo";
    check(line, "Token:", Some("SHOW"), "Token: \n7\n");
    // Here the terminal would show them.
    let line = "read -r -n 9 -p 'PIN: ' x; echo";
    check(line, "PIN:", Some("SHOW"), "PIN: \n7\n");
}

#[test]
fn a_secret_that_was_not_typed_is_no_success() {
    let dir = TestDir::new();
    let (go, gone) = (dir.path().join("go"), dir.path().join("gone"));
    let line = format!(
        "(read -r -s -p 'Word: ' x < /dev/tty) & exec 2> /dev/null; until test -e '{}'; do sleep 0.01; done; \
         kill $!; wait $!; touch '{}'; sleep 1000",
        go.display(),
        gone.display()
    );
    let id = interactive(&dir, &line, "waits for a secret: Word:");
    let mut person = Person::asked(&dir, &id);
    fs::write(&go, "").expect("the test's directory can be written");
    until(PATIENCE, "nobody to read", || {
        gone.exists().then_some(()).ok_or("it reads".to_owned())
    });
    person.types("hunter2\n");
    // Not even sent, where it was just looked at.
    assert_eq!(person.leaves("it was"), 125);
    backburner(&dir, &["cancel", &id]);
}

#[test]
fn who_is_interrupted_when_the_secret_was_sent_is_told_so() {
    let dir = TestDir::new();
    let line = "read -r -s -p 'Word: ' x; echo \"${#x}\"";
    let id = interactive(&dir, line, "waits for a secret: Word:");
    let supervisor = supervisor_of_task(&id).and_then(|pid| Pid::from_raw(pid.cast_signed()));
    let supervisor = supervisor.expect("the job runs");
    let mut person = Person::asked(&dir, &id);
    kill_process(supervisor, Signal::STOP).expect("it runs");
    let before = person.screen().len();
    person.types("hunter2\n");
    until(PATIENCE, "the line to be read", || {
        let screen = person.screen();
        (screen.len() > before).then_some(()).ok_or(screen)
    });
    person.types("\u{3}");
    let status = person.leaves("it was sent, and may still be typed");
    kill_process(supervisor, Signal::CONT).expect("it runs");
    assert_eq!(status, 128 + 2);
    assert_eq!(ended(&dir, &id), (0.into(), "Word: 7\n".to_owned()));
}

#[test]
fn a_secret_is_no_part_of_the_next_prompt() {
    let dir = TestDir::new();
    let line = "read -r -p 'API key: ' x; read -r y; echo \"${#x} <$y>\"";
    let id = interactive(&dir, line, "waits for a secret: API key:");
    let mut person = Person::asked(&dir, &id);
    person.types("hunter2\n");
    assert_eq!(person.leaves("it was sent"), 0);
    says(
        &dir,
        &id,
        "waits for an answer: The command waits for something",
    );
    let answered = backburner(&dir, &["answer", &id, "--set", "answer=plain"]);
    assert_eq!(answered.status, Some(0), "{answered:?}");
    let expect = (0.into(), "API key: \nplain\n7 <plain>\n".to_owned());
    assert_eq!(ended(&dir, &id), expect);
    assert!(!has_secret(dir.path()));
}

#[test]
fn a_secret_is_given_by_no_option_and_declined_by_one() {
    let dir = TestDir::new();
    let line = "read -r -s -p 'Word: ' x || echo end";
    let id = interactive(&dir, line, "waits for a secret: Word:");
    let script = backburner(&dir, &["answer", &id, "--set", "answer=hunter2"]);
    assert_eq!(script.status, Some(125), "{script:?}");
    assert!(script.stderr.contains("in a terminal"), "{script:?}");
    let mut person = Person::asked(&dir, &id);
    person.types("\u{4}");
    assert_eq!(person.leaves("the question stays open"), 125);
    let declined = backburner(&dir, &["answer", &id, "--decline"]);
    assert_eq!(declined.status, Some(0), "{declined:?}");
    assert_eq!(ended(&dir, &id), (0.into(), "Word: end\n".to_owned()));
}

#[test]
fn keys_that_would_stop_or_end_the_reader_are_part_of_no_accident() {
    let dir = TestDir::new();
    let line = "read -r -s -p 'Word: ' x; echo; echo \"${#x}\"";
    let id = interactive(&dir, line, "waits for a secret: Word:");
    let mut person = Person::asked(&dir, &id);
    // They are refused as what no secret has.
    person.types("a\u{1a}\u{1c}b\n");
    assert_eq!(person.leaves("without control characters"), 125);
    backburner(&dir, &["cancel", &id]);
}

#[test]
fn a_run_says_once_that_its_command_waits_for_a_secret() {
    let dir = TestDir::new();
    let line = "read -r -s -p 'Word: ' x; read -r -s -p 'Again: ' x; sleep 1";
    let run = Followed::start(&dir, &["run", "--interactive", line]);
    for (times, words) in [
        (1, "waits for a secret: Word:"),
        (2, "waits for a secret: Again:"),
    ] {
        let said = run.says_how_to_answer(times);
        assert!(said.contains(words), "{said}");
        let id = task_id_in(&said);
        let mut person = Person::asked(&dir, &id);
        person.types("hunter2\n");
        assert_eq!(person.leaves("it was sent"), 0);
    }
    let done = run.end();
    assert_eq!(done.status, Some(0), "{done:?}");
    assert_eq!(done.stderr.matches("; answer by: ").count(), 2, "{done:?}");
    let mut told = done
        .stderr
        .lines()
        .filter(|line| line.contains("; answer by: "));
    assert!(
        told.all(|line| line.matches(" answer --data-dir ").count() == 1),
        "{done:?}"
    );
}

#[test]
fn who_cancels_is_not_told_how_to_answer() {
    let dir = TestDir::new();
    let config = dir.path().join("grace.toml");
    fs::write(&config, "graceMs = 1000\n").expect("the test's directory can be written");
    let config = config.to_str().expect("the paths of tests are UTF-8");
    let line = "trap '' TERM; read -r -s -p 'Word: ' x";
    let run = backburner(
        &dir,
        &["--config", config, "run", "--interactive", "--detach", line],
    );
    let id = run.stdout.trim();
    says(&dir, id, "waits for a secret: Word:");
    let cancelled = backburner(&dir, &["cancel", id]);
    assert_eq!(cancelled.status, Some(0), "{cancelled:?}");
    assert!(!cancelled.stderr.contains("answer"), "{cancelled:?}");
    assert!(cancelled.stderr.contains("being stopped"), "{cancelled:?}");
}
