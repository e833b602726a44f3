//! A job that ends by itself: with what, and what it leaves behind.

use std::fs;
use std::time::Instant;

use backburner::jobs::{End, Jobs, Spec, State};

use crate::lab::{Lab, eventually, fresh_id, processes_of, program, runs, shell, wait_for_end};

fn signalled(signal: &str) -> End {
    End::Signalled {
        signal: signal.to_owned(),
        core_dumped: false,
    }
}

#[test]
fn an_exit_code_is_the_commands_own() {
    let lab = Lab::new();
    for code in [0, 1, 7, 137, 255] {
        let (_, outcome) = lab.run(&shell(&format!("exit {code}")));
        assert_eq!((outcome.end, outcome.stopped), (End::Exited { code }, None));
    }
}

#[test]
fn a_signal_has_its_name() {
    let lab = Lab::new();
    for (name, end) in [("KILL", "SIGKILL"), ("TERM", "SIGTERM"), ("34", "SIG34")] {
        let (_, outcome) = lab.run(&shell(&format!("kill -{name} $$")));
        assert_eq!((outcome.end, outcome.stopped), (signalled(end), None));
    }
    // Whether a core is dumped is the machine's business.
    let (_, outcome) = lab.run(&shell("ulimit -c 0; kill -SEGV $$"));
    assert_eq!(outcome.end, signalled("SIGSEGV"));
}

#[test]
fn times_fit_each_other() {
    let lab = Lab::new();
    let before = Instant::now();
    let (_, outcome) = lab.run(&shell("sleep 0.2"));
    let waited_ms = u64::try_from(before.elapsed().as_millis()).expect("it is a short time");
    // Both are cut to whole milliseconds.
    let possible_ms = 200..=waited_ms + 1;
    assert!(possible_ms.contains(&outcome.duration_ms), "{outcome:?}");
    assert!(outcome.ended_at >= outcome.started_at + 150, "{outcome:?}");
}

#[test]
fn the_largest_numbers_are_no_limits() {
    let lab = Lab::new();
    let spec = Spec {
        timeout_ms: Some(u64::MAX),
        lifetime_ms: Some(u64::MAX),
        grace_ms: u64::MAX,
        output_limit_bytes: u64::MAX,
        ..shell("echo x; sleep 0.05")
    };
    let (id, outcome) = lab.run(&spec);
    assert_eq!(
        (outcome.end, lab.text(id).as_str()),
        (End::Exited { code: 0 }, "x\n")
    );
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let lab = Lab::new();
    for (spec, wanted) in [
        (program(&["no-such-program"]), "no-such-program"),
        (program(&["/no/such/file"]), "/no/such/file"),
        (program(&["/etc/passwd"]), "may not be executed"),
    ] {
        let (_, outcome) = lab.run(&spec);
        let End::NotStarted { detail } = outcome.end else {
            panic!("it cannot have been started: {outcome:?}");
        };
        assert!(detail.contains(wanted), "{detail}");
    }
}

#[test]
fn a_program_gets_its_arguments_unchanged() {
    let lab = Lab::new();
    let (id, _) = lab.run(&program(&["printf", "<%s>", "a b", "$HOME", "", "*"]));
    assert_eq!(lab.text(id), "<a b><$HOME><><*>");
}

#[test]
fn a_line_that_begins_with_a_dash_is_a_line() {
    let lab = Lab::new();
    let (_, outcome) = lab.run(&shell("-x; exit 3"));
    assert_eq!(outcome.end, End::Exited { code: 3 });
}

#[test]
fn standard_input_is_what_was_given_and_then_ends() {
    let lab = Lab::new();
    let (id, _) = lab.run(&Spec {
        stdin: "one\ntwo".into(),
        ..program(&["cat"])
    });
    assert_eq!(lab.text(id), "one\ntwo");
    let (id, _) = lab.run(&program(&["cat"]));
    assert_eq!(lab.text(id), "");
}

#[test]
fn a_large_input_passes_and_one_that_nobody_reads_does_no_harm() {
    let lab = Lab::new();
    let large = "0123456789".repeat(100_000);
    let (id, _) = lab.run(&Spec {
        stdin: large.clone(),
        ..program(&["wc", "-c"])
    });
    assert_eq!(lab.text(id).trim(), "1000000");
    let (_, outcome) = lab.run(&Spec {
        stdin: large,
        ..shell("exec <&-; exit 4")
    });
    assert_eq!(outcome.end, End::Exited { code: 4 });
}

#[test]
fn what_holds_the_output_open_does_not_hold_the_job() {
    let lab = Lab::new();
    // For longer than the end of a job is waited for.
    let (id, outcome) = lab.run(&shell("sleep 1000 & echo x"));
    assert_eq!(
        (outcome.end, outcome.stopped),
        (End::Exited { code: 0 }, None)
    );
    assert_eq!(lab.text(id), "x\n");
    let commands: Vec<_> = outcome
        .leftovers
        .iter()
        .map(|left| left.command.as_str())
        .collect();
    assert_eq!(commands, ["sleep 1000"]);
    assert_eq!(processes_of(id), [""; 0]);
}

#[test]
fn a_pipelines_tail_may_finish() {
    let lab = Lab::new();
    // It has half a second, which a busy machine may take from it, but not each time.
    let finished = (0..10).any(|_| {
        let (id, outcome) = lab.run(&shell("(sleep 0.01; echo late) & echo early"));
        let text = lab.text(id);
        assert!(text.starts_with("early\n"), "{text}");
        text == "early\nlate\n" && outcome.leftovers.is_empty()
    });
    assert!(finished, "none of ten");
}

#[test]
fn a_daemon_is_found_named_and_stopped() {
    let lab = Lab::new();
    let line = "(setsid sh -c 'trap \"\" TERM; sleep 60' </dev/null >/dev/null 2>&1 &) ; exit 5";
    let (id, outcome) = lab.run(&shell(line));
    assert_eq!(outcome.end, End::Exited { code: 5 });
    assert!(!outcome.leftovers.is_empty(), "{outcome:?}");
    assert_eq!(processes_of(id), [""; 0]);
}

#[test]
fn a_daemon_without_the_jobs_environment_is_found_too() {
    let lab = Lab::new();
    let line = "(env -i setsid sleep 61 </dev/null >/dev/null 2>&1 & echo $!); exit 0";
    let (id, outcome) = lab.run(&shell(line));
    let pid = lab.text(id).trim().to_owned();
    assert!(!runs(&pid), "{pid} runs after {outcome:?}");
}

#[test]
fn children_that_ended_unnoticed_are_no_leftovers() {
    let lab = Lab::new();
    let (id, outcome) = lab.run(&shell("sleep 0 & echo $!; exec sleep 2"));
    assert_eq!(outcome.leftovers, []);
    let pid = lab.text(id).trim().to_owned();
    assert!(!std::path::Path::new("/proc").join(pid).exists());
}

#[test]
fn whoever_waits_is_woken_by_the_end() {
    let lab = Lab::new();
    let gate = lab.fifo("gate");
    let id = lab.start(&shell("read -r line < \"$BACKBURNER_DIR/gate\""));
    assert!(matches!(lab.jobs.inspect(id), Ok(State::Running(_))));
    fs::write(gate, "go\n").expect("the job reads it");
    wait_for_end(&lab.jobs, id);
    assert!(matches!(lab.jobs.inspect(id), Ok(State::Ended(_))));
    wait_for_end(&lab.jobs, id);
    wait_for_end(&lab.jobs, fresh_id());
}

#[test]
fn nothing_of_the_engine_stays_in_the_process_table() {
    let lab = Lab::new();
    lab.run(&shell("true"));
    let own = std::process::id().to_string();
    eventually("no child of ours is left", || {
        let path = format!("/proc/{own}/task");
        let threads = std::fs::read_dir(path)
            .expect("we run")
            .filter_map(Result::ok);
        let children: String = threads
            .map(|thread| {
                std::fs::read_to_string(thread.path().join("children")).unwrap_or_default()
            })
            .collect();
        // Other tests of this program may be starting jobs just now.
        let zombies = children.split_whitespace().filter(|pid| !runs(pid)).count();
        (zombies == 0).then_some(())
    });
}
