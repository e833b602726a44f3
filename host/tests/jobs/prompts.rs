//! What a job waits for at its terminal, and the line that is typed there.

use std::path::PathBuf;

use backburner::jobs::{End, Jobs as _, Loss, Prompt, State, StopCause};
use uuid::Uuid;

use crate::durability::kill;
use crate::lab::{Lab, eventually, processes_of};
use crate::questions::files;
use crate::terminal::start;

/// Waits until the job waits for something at its terminal.
fn prompt(lab: &Lab, id: Uuid) -> Prompt {
    eventually("the job waits", || lab.progress(id).prompt)
}

/// Waits for another prompt than that with this key.
fn next_prompt(lab: &Lab, id: Uuid, key: &str) -> Prompt {
    eventually("the job waits for something else", || {
        let prompt = lab.progress(id).prompt;
        prompt.filter(|prompt| prompt.key != key)
    })
}

fn enter(lab: &Lab, id: Uuid, key: &str, line: Option<&str>) {
    lab.jobs.enter(id, key, line).expect("it can be typed");
}

/// Runs a line that waits with this prompt, types `yes`, and compares what the terminal shows.
fn check(line: &str, text: &str, expect: &str) {
    let lab = Lab::new();
    let id = start(&lab, line);
    let found = prompt(&lab, id);
    assert_eq!((found.text.as_str(), found.hidden), (text, false), "{line}");
    enter(&lab, id, &found.key, Some("yes"));
    let outcome = lab.outcome(id);
    assert_eq!(lab.text(id), expect, "{line}");
    assert_eq!(outcome.end, End::Exited { code: 0 }, "{line}");
    assert_eq!(files(&lab, id), [""; 0].map(PathBuf::from), "{line}");
}

#[test]
fn what_a_program_reads_is_told_and_the_line_typed() {
    check(
        "read -r -p 'Your name? ' x; echo \"<$x>\"",
        "Your name?",
        "Your name? yes\r\n<yes>\r\n",
    );
    check(
        "printf 'Proceed? [y/N] '; read -r x < /dev/tty; echo \"<$x>\"",
        "Proceed? [y/N]",
        "Proceed? [y/N] yes\r\n<yes>\r\n",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn who_reads_waits_whatever_it_has_written() {
    check(
        "echo one; echo 'Your name:'; read -r x; echo \"<$x>\"",
        "Your name:",
        "one\r\nYour name:\r\nyes\r\n<yes>\r\n",
    );
    check("read -r x; echo \"<$x>\"", "", "yes\r\n<yes>\r\n");
}

/// Whether a program is there; a test that needs it says where it is not.
#[cfg(target_os = "linux")]
fn has_python() -> bool {
    use std::io::Write as _;
    let version = std::process::Command::new("python3").arg("-V").output();
    if version.is_err() {
        let _ = writeln!(std::io::stderr(), "NOT RUN: there is no python3");
    }
    version.is_ok()
}

#[cfg(target_os = "linux")]
#[test]
fn whatever_a_program_waits_with_is_seen() {
    if !has_python() {
        return;
    }
    let after = "; print('<' + sys.stdin.readline().strip() + '>')\"";
    let poll = "p=select.poll(); p.register(0, select.POLLIN); p.poll()";
    let stopped = "p=select.poll(); p.register(0, select.POLLIN); \
                   os.fork() or (time.sleep(0.3), os.kill(os.getppid(), 19), time.sleep(0.1), \
                   os.kill(os.getppid(), 18), os._exit(0)); p.poll(100000)";
    let epoll = "p=select.epoll(); p.register(0, select.EPOLLIN); p.poll()";
    let thread = "t=threading.Thread(target=lambda: select.select([0],[],[])); t.start(); t.join()";
    for how in [
        "select.select([0], [], [])",
        "select.select([0], [], [], 100)",
        poll,
        stopped,
        epoll,
        thread,
    ] {
        let line = format!(
            "python3 -c \"import os, select, sys, threading, time; print('Go? ', end='', flush=True); {how}{after}"
        );
        check(&line, "Go?", "Go? yes\r\n<yes>\r\n");
    }
    check(
        "python3 -c \"print('<' + input('Input: ') + '>')\"",
        "Input:",
        "Input: yes\r\n<yes>\r\n",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn who_does_something_else_waits_for_nothing() {
    let lab = Lab::new();
    let lines = [
        "printf 'Working... '; sleep 1000",
        "printf 'Building... '; sleep 1000 < /dev/null & wait",
        // Stopped, since it is in the background.
        "printf 'Later? '; set -m; (read -r x < /dev/tty) & sleep 1000",
        // It watches, and would be stopped when it reads.
        "printf 'Building... '; set -m; (read -r -t 1000 x < /dev/tty) & sleep 1000",
    ];
    let ids = lines.map(|line| start(&lab, line));
    eventually("they write", || {
        let all = ids.iter().all(|id| !lab.text(*id).is_empty());
        all.then_some(())
    });
    // Longer than an unfinished line would take where nobody sees what they do.
    let begun = std::time::Instant::now();
    eventually("time passes", || {
        let told = ids.map(|id| lab.progress(id).prompt);
        assert_eq!(told, [const { None }; 4]);
        (begun.elapsed().as_millis() > 5_000).then_some(())
    });
    for id in ids {
        lab.cancel(id);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn who_reads_in_a_session_of_its_own_is_in_no_background() {
    check(
        "printf 'Name? '; setsid --wait sh -c 'read -r x; echo \"<$x>\"'",
        "Name?",
        "Name? yes\r\n<yes>\r\n",
    );
}

#[test]
fn the_same_words_behind_another_line_are_another_prompt() {
    let lab = Lab::new();
    let go = lab.fifo("go");
    let reads = "(read -r -p 'Go on? ' x < /dev/tty; echo \"A <$x>\") & reader=$!";
    let wait = "read -r _ < \"$BACKBURNER_DIR/go\"";
    let second =
        "kill $reader; wait $reader; printf '\\nB:\\n'; read -r -p 'Go on? ' y; echo \"B <$y>\"";
    let id = start(&lab, &format!("{reads}; {wait}; {second}"));
    let first = prompt(&lab, id);
    std::fs::write(&go, "\n").expect("the job reads it");
    eventually("it asks something else", || {
        lab.text(id).ends_with("B:\r\nGo on? ").then_some(())
    });
    enter(&lab, id, &first.key, Some("one"));
    let second = next_prompt(&lab, id, &first.key);
    assert_eq!(second.text, first.text);
    enter(&lab, id, &second.key, Some("two"));
    lab.outcome(id);
    let text = lab.text(id);
    assert!(
        text.ends_with("B <two>\r\n") && !text.contains("one"),
        "{text:?}"
    );
}

#[test]
fn a_program_that_takes_keys_gets_those_of_the_line() {
    // Readline, which shows them itself.
    let lab = Lab::new();
    let id = start(&lab, "read -r -e -p 'Line? ' x; echo \"<$x>\"");
    let found = prompt(&lab, id);
    assert_eq!(found.text, "Line?");
    enter(&lab, id, &found.key, Some("yes"));
    lab.outcome(id);
    assert!(lab.text(id).ends_with("<yes>\r\n"), "{:?}", lab.text(id));
}

#[test]
fn one_prompt_after_the_other_has_a_key_of_its_own() {
    let lab = Lab::new();
    let line = "read -r -p 'Same? ' a; read -r -p 'Same? ' b; echo \"<$a$b>\"";
    let id = start(&lab, line);
    let first = prompt(&lab, id);
    enter(&lab, id, &first.key, Some("one"));
    let second = next_prompt(&lab, id, &first.key);
    assert_eq!(second.text, "Same?");
    // Too late for it, and not for the other one.
    enter(&lab, id, &first.key, None);
    assert_eq!(prompt(&lab, id), second);
    enter(&lab, id, &second.key, Some("two"));
    lab.outcome(id);
    assert!(lab.text(id).ends_with("<onetwo>\r\n"), "{}", lab.text(id));
}

#[test]
fn a_menu_is_told_with_its_lines() {
    let lab = Lab::new();
    let id = start(&lab, "select x in red blue; do break; done; echo \"<$x>\"");
    let found = prompt(&lab, id);
    assert_eq!(found.text, "1) red\n2) blue\n#?");
    enter(&lab, id, &found.key, Some("2"));
    lab.outcome(id);
    assert!(lab.text(id).ends_with("<blue>\r\n"), "{}", lab.text(id));
}

#[test]
fn no_line_is_the_end_of_the_file() {
    let lab = Lab::new();
    let id = start(&lab, "read -r -p 'Name? ' x || echo end");
    let key = prompt(&lab, id).key;
    enter(&lab, id, &key, None);
    lab.outcome(id);
    assert!(lab.text(id).ends_with("end\r\n"), "{:?}", lab.text(id));
}

#[test]
fn a_line_that_is_too_long_fails_and_the_prompt_stays() {
    let lab = Lab::new();
    let id = start(&lab, "read -r -p 'Name? ' x; echo \"${#x}\"");
    let found = prompt(&lab, id);
    let long = "ä".repeat(1001);
    let failed = lab.jobs.enter(id, &found.key, Some(&long));
    assert!(failed.is_err(), "{failed:?}");
    assert_eq!(prompt(&lab, id), found);
    enter(&lab, id, &found.key, Some(&"ä".repeat(1000)));
    lab.outcome(id);
    assert!(lab.text(id).ends_with("\r\n1000\r\n"), "{:?}", lab.text(id));
}

#[test]
fn an_answer_that_crosses_with_what_the_job_writes_is_typed_into_nothing_else() {
    let lab = Lab::new();
    let go = lab.fifo("go");
    let reads = "(read -r -p 'First? ' x < /dev/tty; echo \"first <$x>\") & reader=$!";
    let wait = "read -r _ < \"$BACKBURNER_DIR/go\"";
    let second = "kill $reader; wait $reader; echo; read -r -p 'Second? ' y; echo \"second <$y>\"";
    let id = start(&lab, &format!("{reads}; {wait}; {second}"));
    let first = prompt(&lab, id);
    std::fs::write(&go, "\n").expect("the job reads it");
    eventually("it asks something else", || {
        lab.text(id).ends_with("Second? ").then_some(())
    });
    // Before it was looked at whether the first one is still waited for.
    enter(&lab, id, &first.key, Some("one"));
    let second = next_prompt(&lab, id, &first.key);
    assert_eq!(second.text, "Second?");
    enter(&lab, id, &second.key, Some("two"));
    lab.outcome(id);
    let text = lab.text(id);
    assert!(text.ends_with("second <two>\r\n"), "{text:?}");
    assert!(!text.contains("one"), "{text:?}");
}

#[test]
fn a_prompt_is_taken_back_when_the_program_goes_on() {
    let lab = Lab::new();
    let go = lab.fifo("go");
    let reads = "(read -r -p 'Quick? ' x < /dev/tty) & reader=$!";
    let wait = "read -r _ < \"$BACKBURNER_DIR/go\"";
    let id = start(
        &lab,
        &format!("{reads}; {wait}; kill $reader; echo on; sleep 1000"),
    );
    prompt(&lab, id);
    std::fs::write(&go, "\n").expect("the job reads it");
    eventually("it waits for nothing more", || {
        lab.progress(id).prompt.is_none().then_some(())
    });
    eventually("its files are gone", || {
        files(&lab, id).is_empty().then_some(())
    });
    lab.cancel(id);
}

#[test]
fn a_hidden_prompt_is_told_as_one_and_no_line_answers_it() {
    let lab = Lab::new();
    for line in [
        "read -r -s -p 'Word: ' x; echo \"<$x>\"",
        "read -r -p 'API key: ' x; echo \"<$x>\"",
        "echo 'API token'; read -r -p '> ' x; echo \"<$x>\"",
    ] {
        let id = start(&lab, line);
        let found = prompt(&lab, id);
        assert!(found.hidden, "{found:?}");
        enter(&lab, id, &found.key, Some("hunter2"));
        lab.jobs
            .answer(id, &found.key, r#"{"action":"accept"}"#)
            .expect("it changes nothing");
        let begun = std::time::Instant::now();
        eventually("time passes", || {
            assert_eq!(prompt(&lab, id), found);
            assert!(!lab.text(id).contains('<'), "{}", lab.text(id));
            (begun.elapsed().as_millis() > 1_000).then_some(())
        });
        lab.cancel(id);
        lab.outcome(id);
        assert!(!lab.text(id).contains("hunter2"), "{}", lab.text(id));
    }
}

#[test]
fn a_job_that_waits_is_cancelled_and_waits_for_nothing_more() {
    let lab = Lab::new();
    let id = start(
        &lab,
        "trap '' TERM; while :; do read -r -p 'Name? ' x; done",
    );
    let key = prompt(&lab, id).key;
    lab.cancel(id);
    eventually("it waits for nothing", || match lab.jobs.inspect(id) {
        Ok(State::Running(progress)) => progress.prompt.is_none().then_some(()),
        _ => Some(()),
    });
    assert_eq!(lab.outcome(id).stopped, Some(StopCause::Cancelled));
    assert_eq!(files(&lab, id), [""; 0].map(PathBuf::from));
    enter(&lab, id, &key, Some("yes"));
}

#[test]
fn what_a_job_waits_for_goes_with_its_supervisor() {
    let lab = Lab::new();
    let id = start(&lab, "echo $PPID; read -r -p 'Name? ' x");
    let supervisor = lab.first_line(id).trim().to_owned();
    let key = prompt(&lab, id).key;
    kill(&supervisor);
    let kind = Loss::Supervisor;
    assert_eq!(lab.outcome(id).end, End::Lost { kind });
    assert_eq!(processes_of(id), [""; 0]);
    enter(&lab, id, &key, Some("yes"));
}

#[test]
fn a_prompt_needs_no_server() {
    let lab = Lab::new();
    let id = start(&lab, "read -r -p 'Name? ' x; echo \"<$x>\"");
    let key = prompt(&lab, id).key;
    let other = lab.second_engine();
    other.enter(id, &key, Some("yes")).expect("it can be typed");
    lab.outcome(id);
    assert_eq!(lab.text(id), "Name? yes\r\n<yes>\r\n");
}
