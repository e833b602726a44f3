//! What a model may send, and what it is told about the rest.

use serde_json::{Value, json};

use super::{Arguments, Policy};
use crate::imports::Command;
use crate::tool::Terminals;

fn parse(arguments: &Value) -> Result<Arguments, String> {
    let arguments = arguments.as_object().expect("arguments are an object");
    Arguments::parse(Some(arguments), &Policy::default().with(Terminals::There))
}

fn parsed(arguments: &Value) -> Arguments {
    parse(arguments).unwrap_or_else(|error| panic!("{arguments:.200} is refused: {error}"))
}

/// The call is refused, with these words and the advice that follows every refusal.
fn check_refused(arguments: &Value, expect: &str) {
    let expect = format!("{expect}. Nothing was run. Call `run` again with this corrected.");
    assert_eq!(parse(arguments), Err(expect), "{arguments:.200}");
}

/// The call with this argument beside a valid command is refused.
fn check_argument(name: &str, value: &Value, expect: &str) {
    check_refused(&json!({"command": "true", name: value}), expect);
}

#[test]
fn a_command_is_all_that_is_needed() {
    let expect = Arguments {
        command: Command::Shell("make  all\n".to_owned()),
        directory: None,
        directory_said_by: None,
        environment: Vec::new(),
        stdin: String::new(),
        interactive: false,
        timeout_ms: None,
        label: None,
        ttl_ms: None,
        idempotency_key: None,
    };
    assert_eq!(parsed(&json!({"command": "make  all\n"})), expect);
    let nulls = json!({
        "command": "make  all\n", "args": null, "cwd": null, "env": null, "stdin": null,
        "timeoutSeconds": null, "label": null, "ttlSeconds": null, "idempotencyKey": null, "interactive": null,
    });
    assert_eq!(parsed(&nulls), expect);
}

#[test]
fn every_argument_arrives() {
    let arguments = parsed(&json!({
        "command": "cargo", "args": ["test", "", "a b"], "cwd": "/tmp", "env": {"B": "", "A": "x=1"},
        "stdin": "yes\n", "timeoutSeconds": 0.5, "label": "tests", "ttlSeconds": 60, "idempotencyKey": "k",
        "interactive": true,
    }));
    let program = ["cargo", "test", "", "a b"].map(str::to_owned).to_vec();
    assert_eq!(arguments.command, Command::Program(program));
    assert_eq!(arguments.directory.as_deref(), Some("/tmp"));
    let environment =
        [("A", "x=1"), ("B", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(arguments.environment, environment);
    assert_eq!(arguments.stdin, "yes\n");
    assert!(arguments.interactive);
    assert_eq!(arguments.timeout_ms, Some(500));
    assert_eq!(arguments.label.as_deref(), Some("tests"));
    assert_eq!(arguments.ttl_ms, Some(60_000));
    assert_eq!(arguments.idempotency_key.as_deref(), Some("k"));
}

#[test]
fn no_args_and_empty_args_differ() {
    let program = Command::Program(vec!["ls".to_owned()]);
    assert_eq!(
        parsed(&json!({"command": "ls", "args": []})).command,
        program
    );
    assert_eq!(
        parsed(&json!({"command": "ls"})).command,
        Command::Shell("ls".to_owned())
    );
}

#[test]
fn a_command_has_to_be_there_and_say_something() {
    const EXPECTED: &str =
        "it has to be a shell line, or with `args` a program, for example \"cargo test\"";
    let missing = format!("`command` is missing, {EXPECTED}");
    let advice = ". Nothing was run. Call `run` again with this corrected.";
    assert_eq!(
        Arguments::parse(None, &Policy::default()),
        Err(format!("{missing}{advice}"))
    );
    check_refused(&json!({}), &missing);
    check_refused(&json!({"command": null}), &missing);
    check_refused(
        &json!({"command": ["ls", "-l"]}),
        &format!("`command` is [\"ls\",\"-l\"], {EXPECTED}"),
    );
    check_refused(
        &json!({"command": ""}),
        &format!("`command` is blank, {EXPECTED}"),
    );
    check_refused(
        &json!({"command": " \n"}),
        &format!("`command` is blank, {EXPECTED}"),
    );
}

#[test]
fn an_unknown_argument_is_named_with_the_known_ones() {
    const KNOWN: &str = "command, args, cwd, env, stdin, timeoutSeconds, label, ttlSeconds, idempotencyKey, interactive";
    let unlike_any =
        |name: &str| format!("there is no argument `{name}`; the arguments are: {KNOWN}");
    check_argument("shell", &json!(true), &unlike_any("shell"));
    for (name, meant) in [
        ("timeout", "timeoutSeconds"),
        ("timeout_seconds", "timeoutSeconds"),
        ("Timeout-Seconds", "timeoutSeconds"),
        ("idempotency_key", "idempotencyKey"),
        ("CWD", "cwd"),
    ] {
        let expect = format!(
            "there is no argument `{name}`, did you mean `{meant}`? The arguments are: {KNOWN}"
        );
        check_argument(name, &json!(1), &expect);
    }
    check_argument("", &Value::Null, &unlike_any(""));
    let long = "x".repeat(1_000);
    let shown = format!("{}…", "x".repeat(59));
    check_argument(&long, &json!(1), &unlike_any(&shown));
}

#[test]
fn a_shell_line_with_args_is_told_from_a_program() {
    for (line, args) in [
        ("cargo test", json!([])),
        ("cargo test", json!(["--release"])),
        ("a && b", json!([])),
    ] {
        let expect = format!(
            "`args` is given, so `command` has to be a program alone and not \"{line}\"; leave `args` out to run it as \
             a shell line, or put every word behind the program into `args`"
        );
        check_refused(&json!({"command": line, "args": args}), &expect);
    }
    for program in ["/opt/My Tool/run", "./a b", "ls", "ls\n"] {
        assert!(
            parse(&json!({"command": program, "args": []})).is_ok(),
            "{program}"
        );
    }
}

#[test]
fn args_are_strings() {
    let expected = "it has to be an array of strings, for example [\"test\", \"--release\"]; leave it out to run \
        `command` as a shell line";
    check_argument(
        "args",
        &json!("-l"),
        &format!("`args` is \"-l\", {expected}"),
    );
    check_argument("args", &json!({}), &format!("`args` is {{}}, {expected}"));
    let expected = "it has to be a string; write a number as \"8080\"";
    check_argument(
        "args",
        &json!(["-p", 8080]),
        &format!("`args[1]` is 8080, {expected}"),
    );
    check_argument(
        "args",
        &json!([null]),
        &format!("`args[0]` is null, {expected}"),
    );
}

#[test]
fn a_directory_is_absolute() {
    let expected = "it has to be an absolute path, for example \"/home/me/project\"; `~` and variables are not \
        expanded in it, leave it out for the directory of the server";
    for path in ["", "src", "./src", "~/src", "$HOME"] {
        check_argument(
            "cwd",
            &json!(path),
            &format!("`cwd` is \"{path}\", {expected}"),
        );
    }
    check_argument("cwd", &json!(7), &format!("`cwd` is 7, {expected}"));
}

#[test]
fn variables_have_usable_names_and_string_values_which_are_not_repeated() {
    let expected =
        "it has to be an object with a string for each variable, for example {\"PORT\": \"8080\"}";
    check_argument(
        "env",
        &json!(["A=secret"]),
        &format!("`env` is an array, {expected}"),
    );
    let expected =
        "it has to be a string, for example \"8080\"; leave it out to keep what the server has";
    check_argument(
        "env",
        &json!({"PIN": 1234}),
        &format!("`env.PIN` is a number, {expected}"),
    );
    check_argument(
        "env",
        &json!({"PIN": null}),
        &format!("`env.PIN` is null, {expected}"),
    );
    let rule = "names may not be empty or contain `=` or NUL";
    check_argument(
        "env",
        &json!({"": "x"}),
        &format!("`env` names a variable \"\"; {rule}"),
    );
    check_argument(
        "env",
        &json!({"A=B": "x"}),
        &format!("`env` names a variable \"A=B\"; {rule}"),
    );
    let many: serde_json::Map<_, _> = (0..1_001).map(|n| (format!("V{n}"), json!(""))).collect();
    check_argument(
        "env",
        &many.into(),
        "`env` is 1001 variables, it has to be at most 1000 variables",
    );
}

#[test]
fn a_long_name_of_a_variable_is_not_repeated_whole() {
    let refusal = parse(&json!({"command": "true", "env": {"N".repeat(100_000): 1}}));
    assert!(refusal.is_err_and(|text| text.len() < 400));
}

#[test]
fn a_timeout_is_a_positive_number_of_seconds() {
    for (seconds, ms) in [
        (json!(1), 1_000),
        (json!(0.0001), 1),
        (json!(1.0005), 1_001),
        (json!(2_678_400), 2_678_400_000),
    ] {
        let arguments = parsed(&json!({"command": "true", "timeoutSeconds": seconds}));
        assert_eq!(arguments.timeout_ms, Some(ms));
    }
    let expected = "it has to be a number of seconds above 0 and at most 2678400, for example 600";
    for wrong in [
        json!(0),
        json!(-1),
        json!(2_678_401),
        json!(1e300),
        json!("5m"),
        json!(true),
        json!([]),
    ] {
        check_argument(
            "timeoutSeconds",
            &wrong,
            &format!("`timeoutSeconds` is {wrong}, {expected}"),
        );
    }
}

#[test]
fn a_time_to_live_is_between_a_second_and_a_year() {
    for (seconds, ms) in [
        (json!(1), 1_000),
        (json!(1.5), 1_500),
        (json!(31_536_000), 31_536_000_000),
    ] {
        let arguments = parsed(&json!({"command": "true", "ttlSeconds": seconds}));
        assert_eq!(arguments.ttl_ms, Some(ms));
    }
    let expected = "it has to be a number of seconds from 1 to 31536000, for example 86400";
    for wrong in [json!(0), json!(0.9), json!(31_536_001), json!("1")] {
        check_argument(
            "ttlSeconds",
            &wrong,
            &format!("`ttlSeconds` is {wrong}, {expected}"),
        );
    }
}

#[test]
fn a_label_is_one_line_that_shows_something() {
    let label = "ä".repeat(100);
    let arguments = parsed(&json!({"command": "true", "label": label}));
    assert_eq!(arguments.label.as_ref(), Some(&label));
    let with_blanks = parsed(&json!({"command": "true", "label": format!("  {label} ")}));
    assert_eq!(with_blanks.label, Some(label));
    let expected = "it has to be one line of 1 to 100 characters, none of them a control or format character, for \
        example \"nightly build\"";
    check_argument("label", &json!(""), &format!("`label` is \"\", {expected}"));
    check_argument(
        "label",
        &json!("  "),
        &format!("`label` is \"  \", {expected}"),
    );
    check_argument(
        "label",
        &json!("a\nb"),
        &format!("`label` is \"a\\nb\", {expected}"),
    );
    for (hidden, shown) in [
        ("\u{2028}", "2028"),
        ("\u{202e}", "202e"),
        ("\u{2066}", "2066"),
        ("\u{200b}", "200b"),
        ("\u{feff}", "feff"),
        ("\u{7f}", "007f"),
        ("\u{9b}", "009b"),
    ] {
        let shown = format!("`label` is \"a\\u{shown}b\", {expected}");
        check_argument("label", &json!(format!("a{hidden}b")), &shown);
    }
    // All of Cc but NUL, which no argument may have, and what else counts as white space, wherever it stands.
    let controls = ('\u{1}'..'\u{20}').chain('\u{7f}'..'\u{a0}');
    for hidden in controls.chain(['\u{2028}', '\u{2029}']) {
        for label in [
            format!("a{hidden}b"),
            format!("{hidden}a"),
            format!("a{hidden}"),
            format!(" a {hidden} "),
        ] {
            let text =
                parse(&json!({"command": "true", "label": label})).expect_err("it is hidden");
            assert!(text.starts_with("`label` is \""), "{text}");
            assert!(text.contains(expected), "{text}");
        }
    }
    let nul = parse(&json!({"command": "true", "label": "a\0"})).expect_err("it is hidden");
    assert!(
        nul.starts_with("`label` is text with a NUL character"),
        "{nul}"
    );
    let shown = format!("\"{}…\"", "x".repeat(58));
    check_argument(
        "label",
        &json!("x".repeat(101)),
        &format!("`label` is {shown}, {expected}"),
    );
}

#[test]
fn a_label_may_join_what_shows() {
    for label in [
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} tests",
        "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
    ] {
        let arguments = parsed(&json!({"command": "true", "label": label}));
        assert_eq!(arguments.label.as_deref(), Some(label));
    }
    for label in [
        "\u{200d}",
        "\u{200c}\u{200d}",
        "a\u{200d}",
        "\u{200c}a",
        "a\u{200d} b",
        "a\u{200c}\u{200c}b",
    ] {
        let arguments = json!({"command": "true", "label": label});
        let refused = Arguments::parse(arguments.as_object(), &Policy::default());
        assert!(
            refused.is_err_and(|words| words.contains("`label` is \"")),
            "{label:?}"
        );
    }
}

#[test]
fn an_idempotency_key_has_a_length() {
    let key = "é".repeat(256);
    let arguments = parsed(&json!({"command": "true", "idempotencyKey": key}));
    assert_eq!(arguments.idempotency_key, Some(key));
    let expected = "it has to be 1 to 256 characters, for example \"deploy-2026-07-28\"";
    check_argument(
        "idempotencyKey",
        &json!(""),
        &format!("`idempotencyKey` is \"\", {expected}"),
    );
    check_argument(
        "idempotencyKey",
        &json!(5),
        &format!("`idempotencyKey` is 5, {expected}"),
    );
    let shown = format!("\"{}…\"", "x".repeat(58));
    check_argument(
        "idempotencyKey",
        &json!("x".repeat(257)),
        &format!("`idempotencyKey` is {shown}, {expected}"),
    );
}

#[test]
fn nul_is_refused_everywhere() {
    let expected = "is text with a NUL character, it has to be text without one";
    check_refused(
        &json!({"command": "a\0b"}),
        &format!("`command` {expected}"),
    );
    for name in ["cwd", "stdin", "label", "idempotencyKey"] {
        check_argument(name, &json!("/a\0b"), &format!("`{name}` {expected}"));
    }
    check_argument(
        "args",
        &json!(["a", "b\0"]),
        &format!("`args[1]` {expected}"),
    );
    check_argument("env", &json!({"A": "b\0"}), &format!("`env.A` {expected}"));
    assert!(parse(&json!({"command": "true", "env": {"A\0": "b"}})).is_err());
}

#[test]
fn strings_for_the_operating_system_have_the_length_that_it_takes() {
    let fits = "x".repeat(131_071);
    assert!(parse(&json!({"command": fits, "args": [fits]})).is_ok());
    let long = "x".repeat(131_072);
    let expected = "is 131072 bytes long, it has to be at most 131071; write long text to a file or to `stdin`";
    check_refused(&json!({"command": long}), &format!("`command` {expected}"));
    check_argument("args", &json!([long]), &format!("`args[0]` {expected}"));
    check_argument(
        "cwd",
        &json!(format!("/{}", &long[1..])),
        &format!("`cwd` {expected}"),
    );
    check_argument(
        "env",
        &json!({"AB": &long[3..]}),
        &format!("`env.AB` {expected}"),
    );
    assert!(parse(&json!({"command": "cat", "stdin": long})).is_ok());
}

#[test]
fn a_terminal_is_asked_for_where_there_are_some() {
    let arguments = json!({"command": "true", "interactive": false});
    let refused = Arguments::parse(arguments.as_object(), &Policy::default());
    let refused = refused.expect_err("this host has none");
    assert!(
        refused.starts_with("there is no argument `interactive`"),
        "{refused}"
    );
    assert!(
        !refused.contains("idempotencyKey, interactive"),
        "{refused}"
    );
    let off = Policy::default().of(Some("/a/b.toml")).with(Terminals::Off);
    let refused = Arguments::parse(arguments.as_object(), &off).expect_err("it has none");
    let expect = "there is no argument `interactive`, since terminals are switched off: `terminals` is false in /a/b.toml. ";
    assert!(refused.starts_with(expect), "{refused}");
    check_argument(
        "interactive",
        &json!("yes"),
        "`interactive` is \"yes\", it has to be true or false",
    );
}
