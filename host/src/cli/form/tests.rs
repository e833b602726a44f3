use clap::Parser;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: AskOptions,
}

/// 2026-07-28 12:00:00 UTC, and half a second.
const NOON: u64 = 1_785_240_000_500;

fn form(line: &[&str]) -> Result<Form, String> {
    let line = Line::try_parse_from(["ask", "m"].iter().chain(line));
    Form::of(&line.map_err(|error| error.to_string())?.options, NOON)
}

fn right(line: &[&str]) -> Form {
    form(line).unwrap_or_else(|why| panic!("{line:?}: {why}"))
}

/// The schema that a form has, and its default answer's content.
fn check(line: &[&str], properties: &str, required: &str, default: &Value) {
    let form = right(line);
    let schema = format!(r#"{{"type":"object","properties":{properties},"required":{required}}}"#);
    assert_eq!(
        form.text(),
        format!(r#"{{"message":"m","requestedSchema":{schema}}}"#)
    );
    let content = form.default_content();
    assert_eq!(
        content.map_or(Value::Null, |content| content.value()),
        *default
    );
}

#[test]
fn one_field_has_a_kind_and_maybe_a_default() {
    let none = Value::Null;
    check(&[], "{}", "[]", &none);
    check(
        &["--boolean"],
        r#"{"answer":{"type":"boolean"}}"#,
        r#"["answer"]"#,
        &none,
    );
    check(
        &["--integer", "--default", "3"],
        r#"{"answer":{"default":3,"type":"integer"}}"#,
        r#"["answer"]"#,
        &json!({ "answer": 3 }),
    );
    check(
        &["--text", "--optional"],
        r#"{"answer":{"type":"string"}}"#,
        "[]",
        &none,
    );
    check(
        &["--choice", "a", "--choice", "b=B", "--default", "B"],
        r#"{"answer":{"default":"b","oneOf":[{"const":"a","title":"a"},{"const":"b","title":"B"}],"type":"string"}}"#,
        r#"["answer"]"#,
        &json!({ "answer": "b" }),
    );
    check(
        &["--choice", "a", "--several"],
        r#"{"answer":{"items":{"enum":["a"],"type":"string"},"type":"array"}}"#,
        r#"["answer"]"#,
        &none,
    );
}

#[test]
fn several_fields_keep_their_order() {
    check(
        &[
            "--field",
            "z:a|b=B:Where",
            "--field",
            "a?:number",
            "--default",
            "z=b",
        ],
        r#"{"z":{"default":"b","oneOf":[{"const":"a","title":"a"},{"const":"b","title":"B"}],"title":"Where","type":"string"},"a":{"type":"number"}}"#,
        r#"["z"]"#,
        &json!({ "z": "b" }),
    );
}

#[test]
fn a_page_is_opened_and_not_filled_in() {
    let form = right(&["--url", "https://example.org/"]);
    let text = r#"{"mode":"url","message":"m","url":"https://example.org/"}"#;
    assert_eq!(form.text(), text);
    assert_eq!(form.default_content(), None);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for wrong in [
        &["--boolean", "--text"][..],
        &["--several"],
        &["--default", "x"],
        &["--optional"],
        &["--text", "--default", "a", "--default", "b"],
        &["--integer", "--default", "x"],
        &["--choice", "a", "--choice", "a"],
        &["--choice", "a", "--default", "b"],
        &["--field", "a"],
        &["--field", "a:word"],
        &["--field", ":text"],
        &["--field", "a:text", "--field", "a:text"],
        &["--choice", "a,b", "--several"],
        &["--choice", "a", "--default", "a", "--default", "a"],
        &["--field", "a=b:text"],
        &["--field", "a\u{200b}b:text"],
        &["--field", "a\u{a0}b:text"],
        &["--field", "a\u{3164}b:text"],
        &["--field", " a:text"],
        &["--field", " :text"],
        &["--field", "a:text", "--default", "a"],
        &["--field", "a:text", "--default", "a=1", "--default", "a=2"],
        &["--field", "a:text", "--default", "b=x"],
        &["--url", "example.org"],
        &["--url", "javascript:alert(1)"],
        &["--url", "https://example.org/", "--default", "x"],
        &["--deadline", "0"],
    ] {
        form(wrong).expect_err(&format!("{wrong:?}"));
    }
}

#[test]
fn several_choices_may_be_suggested_together_or_one_by_one() {
    for defaults in [
        &["--default", "a,b"][..],
        &["--default", "a", "--default", "b"],
    ] {
        let line = [&["--choice", "a", "--choice", "b", "--several"], defaults].concat();
        check(
            &line,
            r#"{"answer":{"default":["a","b"],"items":{"enum":["a","b"],"type":"string"},"type":"array"}}"#,
            r#"["answer"]"#,
            &json!({ "answer": ["a", "b"] }),
        );
    }
}

#[test]
fn a_name_may_have_a_blank_and_a_choice_a_comma() {
    right(&["--field", "my name:text"]);
    right(&["--field", "größe-名前_2:text"]);
    right(&["--choice", "a,b"]);
}

#[test]
fn a_name_in_any_script_has_its_marks() {
    for name in [
        "nume\u{301}ro",
        "e\u{323}\u{302}",
        "किताब",
        "क\u{94d}ष",
        "ชื่อ",
        "a\u{20dd}",
        "\u{1b13}\u{1b44}",
    ] {
        assert!(is_name(name), "{name:?}");
        right(&["--field", &format!("{name}:text")]);
    }
    for name in [
        "\u{301}e",
        " \u{301}e",
        "a \u{301}",
        "a-\u{301}",
        "\u{93e}क",
        "a\u{34f}",
        "a\u{fe0f}",
        "a\u{e0100}\u{301}",
        "a\u{3164}",
        "a\u{200d}",
    ] {
        assert!(!is_name(name), "{name:?}");
    }
}

#[test]
fn what_a_server_would_not_read_is_refused() {
    let long = format!("https://example.org/{}", "x".repeat(2000));
    form(&["--url", &long]).expect_err("it is too long");
    let fields: Vec<String> = (0..33).map(|number| format!("f{number}:text")).collect();
    let line: Vec<&str> = fields
        .iter()
        .flat_map(|field| ["--field", field.as_str()])
        .collect();
    form(&line).expect_err("there are too many");
    right(&line[2..]);
}

/// What becomes of this message, with these options.
fn of_message(message: &str, options: &[&str]) -> Result<String, String> {
    let line = ["ask", message];
    let line = Line::try_parse_from(line.iter().chain(options)).expect("it is right");
    Form::of(&line.options, NOON).map(|form| form.message)
}

#[test]
fn a_message_has_words_also_where_a_deadline_adds_some() {
    for blank in ["", " ", "\n\t", "\u{7}", "\u{200b}", "\u{2065}"] {
        for options in [&[][..], &["--deadline", "10m"]] {
            let error = of_message(blank, options).expect_err("it says nothing");
            assert!(error.starts_with("give a message of 1 to "), "{error}");
        }
    }
}

#[test]
fn a_message_that_is_too_long_with_what_a_deadline_adds_is_told_how_long_it_may_be() {
    let deadline = ["--deadline", "10m"];
    let added = of_message("m", &deadline).map(|it| it.chars().count() - 1);
    let room = 4000 - added.expect("it is short");
    let whole = of_message(&"ä".repeat(room), &deadline).expect("it just fits");
    assert_eq!(whole.chars().count(), 4000);
    let error = of_message(&"ä".repeat(room + 1), &deadline).expect_err("it is too long");
    let words = format!("give a message of 1 to {room} characters: what --deadline adds");
    assert!(error.starts_with(&words), "{error}");
    of_message(&"ä".repeat(4000), &[]).expect("it just fits");
    of_message(&"ä".repeat(4001), &[]).expect_err("it is too long");
}

#[test]
fn a_long_default_takes_little_of_the_message() {
    let default = "d".repeat(5000);
    let message = of_message("m", &["--text", "--default", &default, "--deadline", "10m"]);
    let shown = format!("the answer is {}…)", "d".repeat(100));
    assert!(message.expect("it fits").ends_with(&shown));
}

#[test]
fn a_deadline_is_part_of_what_is_asked() {
    let message = |line: &[&str]| right(line).message;
    for (line, words) in [
        (
            &["--boolean", "--default", "no", "--deadline", "10m"][..],
            "2026-07-28 12:10:00 UTC, 10 min after this was asked, the answer is no",
        ),
        (
            &["--text", "--deadline", "90"],
            "2026-07-28 12:01:30 UTC, 1 min 30 s after this was asked, there is no answer",
        ),
        (
            &["--text", "--deadline", "2d"],
            "2026-07-30 12:00:00 UTC, 2 d after this was asked, there is no answer",
        ),
        (
            &[
                "--choice",
                "a",
                "--choice",
                "b",
                "--several",
                "--default",
                "a,b",
                "--deadline",
                "1.5h",
            ],
            "2026-07-28 13:30:00 UTC, 1 h 30 min after this was asked, the answer is a, b",
        ),
        (
            &[
                "--field",
                "n:number:How many",
                "--field",
                "t?:text",
                "--default",
                "n=3",
                "--deadline",
                "700ms",
            ],
            "2026-07-28 12:00:01 UTC, 700 ms after this was asked, the answer is How many: 3",
        ),
    ] {
        assert_eq!(message(line), format!("m\n(if nobody answers by {words})"));
    }
}

#[test]
fn a_deadline_is_said_in_all_its_units() {
    for (ms, words) in [
        (1, "1 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (60_250, "1 min 0.25 s"),
        (3_600_500, "1 h 0.5 s"),
        (93_784_005, "1 d 2 h 3 min 4.005 s"),
        (172_800_000, "2 d"),
    ] {
        assert_eq!(lasting(Duration::from_millis(ms)), words);
    }
}

#[test]
fn a_default_is_said_in_one_line_of_the_message() {
    for line in [
        &["--text", "--default", "a\nb"][..],
        &["--field", "t:text", "--default", "t=a\nb"],
    ] {
        let message = right(&[line, &["--deadline", "10m"]].concat()).message;
        assert_eq!(message.lines().count(), 2, "{message}");
        assert!(message.ends_with("a b)"), "{message}");
    }
}

#[test]
fn a_number_is_suggested_as_it_was_written() {
    for (kind, default, json) in [
        ("number", "1.50", "1.50"),
        ("number", "12345678901234567890.5", "12345678901234567890.5"),
        ("integer", "-0", "0"),
    ] {
        let option = format!("--{kind}");
        let one = right(&[&option, "--default", default, "--deadline", "10m"]);
        assert!(one.message.ends_with(&format!("the answer is {json})")));
        let (field, value) = (format!("n:{kind}"), format!("n={default}"));
        let named = right(&["--field", &field, "--default", &value]);
        for (form, name) in [(&one, "answer"), (&named, "n")] {
            let schema = format!(r#"{{"{name}":{{"default":{json},"type":"{kind}"}}}}"#);
            assert!(form.text().contains(&schema), "{}", form.text());
            let content = form.default_content().map(|it| it.to_string());
            assert_eq!(content, Some(format!(r#"{{"{name}":{json}}}"#)));
        }
    }
}

#[test]
fn an_answer_is_printed_in_one_line() {
    let printed =
        |line: &[&str], content: Value, how| right(line).printed(Some(&content.into()), how);
    let is = |text: &str| Some(text.to_owned());
    let text = json!({ "answer": "a\nb" });
    assert_eq!(printed(&["--text"], text.clone(), Printed::Bare), is("a b"));
    assert_eq!(printed(&["--text"], text, Printed::Json), is(r#""a\nb""#));
    assert_eq!(
        printed(&["--boolean"], json!({ "answer": true }), Printed::Bare),
        is("true")
    );
    assert_eq!(
        printed(&["--text", "--optional"], json!({}), Printed::Bare),
        is("")
    );
    assert_eq!(
        printed(&["--text", "--optional"], json!({}), Printed::Json),
        is("null")
    );
    let fields = ["--field", "b:text", "--field", "a:text"];
    let content = json!({ "b": "x", "a": "y" });
    assert_eq!(
        printed(&fields, content, Printed::Bare),
        is(r#"{"a":"y","b":"x"}"#)
    );
    assert_eq!(printed(&[], json!({}), Printed::Bare), None);
    assert_eq!(right(&[]).printed(None, Printed::Json), is("{}"));
}

#[test]
fn a_number_is_printed_as_it_was_answered() {
    let answered = |name: &str| serde_json::from_str(&format!(r#"{{"{name}":1.50}}"#));
    let printed = |line: &[&str], name: &str, how| {
        right(line).printed(Some(&answered(name).expect("it is JSON")), how)
    };
    for how in [Printed::Bare, Printed::Json] {
        let number = printed(&["--number"], "answer", how);
        assert_eq!(number.as_deref(), Some("1.50"));
        let field = printed(&["--field", "n:number"], "n", how);
        assert_eq!(field.as_deref(), Some(r#"{"n":1.50}"#));
    }
}

#[test]
fn what_cannot_be_chosen_or_is_no_type_is_refused() {
    for (line, words) in [
        (&["--several"][..], "--several needs --choice"),
        (&["--text", "--several"], "--several needs --choice"),
        (
            &["--field", "f:a|b", "--several"],
            "--several needs --choice",
        ),
        (
            &["--url", "https://example.org/", "--several"],
            "--several needs --choice",
        ),
        (&["--choice", "", "--choice", "b"], "a choice is empty"),
        (&["--choice", "=x"], "a choice is empty"),
        (&["--field", "f:a| "], "a choice is empty"),
        (&["--field", "f:int"], "has the unknown type \"int\""),
        (&["--field", "f"], "has no type"),
    ] {
        let why = form(line).expect_err("it makes no sense");
        assert!(why.contains(words), "{line:?}: {why}");
    }
}

#[test]
fn a_value_has_nothing_that_nobody_sees() {
    for line in [
        &["--text", "--default", "a\tb"][..],
        &["--text", "--default", "one\ntwo\u{200b}"],
        &["--choice", "a\u{202e}", "--choice", "b"],
        &["--choice", "a\u{200d}"],
        &["--field", "z:a\u{ad}|b"],
        &["--field", "z:text", "--default", "z=\r1"],
    ] {
        let why = form(line).expect_err("it was taken");
        assert!(why.contains("nobody sees"), "{why}");
    }
    right(&["--text", "--default", "one\ntwo ä😀"]);
    right(&["--choice", "👨\u{200d}👩", "--choice", "می\u{200c}خواهم"]);
}
