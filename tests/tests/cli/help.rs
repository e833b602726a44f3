//! How a person is told what can be typed, and what was typed wrong.

use backburner_tests::{TestDir, program};

use super::backburner;

#[test]
fn help_goes_to_standard_output_and_tells_of_every_command() {
    let dir = TestDir::new();
    let help = backburner(&dir, &["--help"]);
    assert_eq!((help.status, help.stderr.as_str()), (Some(0), ""));
    for command in [
        "serve",
        "run",
        "show",
        "cancel",
        "answer",
        "ask",
        "progress",
        "check",
        "--data-dir",
        "BACKBURNER_DIR",
        "--config",
        "BACKBURNER_CONFIG",
        "ends with status 2",
    ] {
        assert!(
            help.stdout.contains(command),
            "{command} is missing: {}",
            help.stdout
        );
    }
    assert!(
        !help.stdout.contains("supervise"),
        "what is not for people is not shown"
    );
    for (command, words) in [
        (
            "serve",
            ["--sync-limit", "--direct-limit", "--max-message-bytes"],
        ),
        (
            "run",
            ["--timeout", "--detach", "123 where its task was cancelled"],
        ),
        ("show", ["--json", "ID", "Exit status"]),
        ("cancel", ["ID", "Exit status", "--data-dir"]),
        ("check", ["--config", "Exit status", "FILE:LINE:COLUMN"]),
        ("answer", ["ID", "--set <NAME=VALUE>", "Exit status"]),
        (
            "ask",
            ["--deadline", "Never ask for passwords", "Exit status"],
        ),
        ("progress", ["PERCENT", "TEXT", "Exit status"]),
    ] {
        let help = backburner(&dir, &[command, "--help"]);
        assert_eq!(help.status, Some(0));
        for word in words {
            assert!(
                help.stdout.contains(word),
                "{command}: {word} is missing: {}",
                help.stdout
            );
        }
        let other = backburner(&dir, &["help", command]);
        assert_eq!(
            (other.status, other.stdout),
            (Some(0), help.stdout),
            "both ways to ask"
        );
    }
    assert!(!dir.data().exists(), "help touches nothing");
}

#[test]
fn help_can_be_asked_about_itself() {
    let dir = TestDir::new();
    for arguments in [&["help", "--help"][..], &["help", "help"]] {
        let help = backburner(&dir, arguments);
        assert_eq!(help.status, Some(0), "{arguments:?}: {help:?}");
        assert!(
            help.stdout.contains("backburner help [OPTIONS] [COMMAND]"),
            "{help:?}"
        );
    }
    let whole = backburner(&dir, &["help"]);
    assert_eq!(whole.stdout, backburner(&dir, &["--help"]).stdout);
    let unknown = backburner(&dir, &["help", "ran"]);
    assert_eq!((unknown.status, unknown.stdout.as_str()), (Some(2), ""));
}

#[test]
fn an_option_of_a_server_says_its_range_in_the_help_and_where_it_is_wrong() {
    let dir = TestDir::new();
    let help = backburner(&dir, &["serve", "--help"]).stdout;
    for (option, above, unit, range) in [
        ("--sync-limit", "3601", "seconds", "0 to 3600"),
        ("--direct-limit", "60001", "milliseconds", "0 to 60000"),
        ("--grace", "601", "seconds", "0 to 600"),
        (
            "--max-message-bytes",
            "16777217",
            "bytes",
            "1024 to 16777216",
        ),
        (
            "--output-limit",
            "1099511627777",
            "bytes",
            "4096 to 1099511627776",
        ),
    ] {
        assert!(help.contains(range), "{option}: {range} is missing: {help}");
        for wrong in ["x", above] {
            let refused = backburner(&dir, &["serve", option, wrong]);
            assert_eq!(refused.status, Some(2), "{option}: {refused:?}");
            let words = format!("give whole {unit}, {range}\n");
            assert!(refused.stderr.contains(&words), "{refused:?}");
        }
    }
}

#[test]
fn the_version_is_printed() {
    let dir = TestDir::new();
    let version = backburner(&dir, &["--version"]);
    assert_eq!(
        version.stdout.trim(),
        format!("backburner {}", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn a_wrong_command_line_is_explained_with_status_2() {
    let dir = TestDir::new();
    for arguments in [
        &["ran"][..],
        &["run"],
        &["show"],
        &["serve", "--sync-limit", "soon"],
        &["--no-such-flag"],
        &["run", ""],
        &["run", " ", "x"],
        &["run", "--label", "", "true"],
        &["run", "--timeout", "32d", "true"],
        &["run", "--detach", "--json", "true"],
        &["run", "--ttl", "366d", "true"],
        &["run", "--key", "", "true"],
    ] {
        let wrong = backburner(&dir, arguments);
        assert_eq!(wrong.status, Some(2), "{arguments:?}: {wrong:?}");
        assert_eq!(wrong.stdout, "");
        assert!(
            wrong.stderr.contains("--help"),
            "it says where to look: {wrong:?}"
        );
    }
}

#[test]
fn a_negative_duration_is_a_wrong_value_and_not_another_option() {
    let dir = TestDir::new();
    for option in ["--timeout", "--ttl"] {
        for value in ["-1", "-1h"] {
            let wrong = backburner(&dir, &["run", option, value, "true"]);
            assert_eq!(wrong.status, Some(2), "{wrong:?}");
            let words = format!("error: invalid value '{value}' for '{option} ");
            assert!(wrong.stderr.starts_with(&words), "{wrong:?}");
        }
    }
}

#[test]
fn who_tries_a_supervisor_is_told_that_it_is_not_for_people() {
    let output = program().arg("supervise").output();
    let output = output.expect("the binary can be started");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).expect("it prints UTF-8");
    assert!(
        said.contains("not for people") && said.contains("--help"),
        "{said}"
    );
}
