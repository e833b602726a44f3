//! What becomes of the output of a command, by what its tool says that it is.

use serde_json::{Value, json};

use super::{Output, Recorded, finished};
use crate::imports::{End, JobOutcome, StopCause, Stream};
use crate::task::call_result::CallResult;
use crate::text::written::Written;
use crate::tool::{Ended, raw};
use crate::wording::About;

const ID: &str = "5f0c2d0e-7c1a-4b57-9a39-0a8f6f1f2b11";

fn outcome(end: End, written: &Written) -> JobOutcome {
    JobOutcome {
        started_at: 0,
        ended_at: 1_000,
        duration_ms: 1_000,
        end,
        stopped: None,
        output_bytes: written.total,
        dropped_bytes: 0,
        leftovers: Vec::new(),
    }
}

fn tool(output: Output) -> Recorded {
    Recorded {
        name: "t".to_owned(),
        output,
        output_schema: None,
    }
}

fn with_schema(output: Output, schema: &Value) -> Recorded {
    Recorded {
        output_schema: Some(raw(schema)),
        ..tool(output)
    }
}

fn result_of(tool: &Recorded, mut written: Written, outcome: &JobOutcome) -> Value {
    let ended = Ended {
        id: ID,
        outcome,
        timeout_ms: None,
        about: About::Configured,
    };
    let result = finished(&mut written, tool, ended).expect("the output can be read");
    for part in [Some(&result.content), result.structured.as_ref()]
        .into_iter()
        .flatten()
    {
        assert!(!part.get().contains('\n'), "a result is one line: {part}");
    }
    serde_json::to_value(CallResult::from(result)).expect("a result is JSON")
}

/// The result of a command that printed this and succeeded.
fn printed(tool: &Recorded, output: &str) -> Value {
    let written = Written::text(output).then(Stream::Stderr, b"noise");
    let outcome = outcome(End::Exited(0), &written);
    result_of(tool, written, &outcome)
}

/// What a command that printed this and succeeded is told to have done wrong.
fn check_unusable(tool: &Recorded, output: &str, expect: &str) {
    let result = printed(tool, output);
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(
        text.starts_with("exit code 0 after 1 s, but what the command printed cannot be used: "),
        "{text}"
    );
    assert!(text.contains(expect), "{expect}: {text}");
}

#[test]
fn output_in_which_a_member_stands_twice_cannot_be_used() {
    let schema = json!({ "properties": { "a": { "maximum": 1 } } });
    for output in [Output::Json, Output::Content] {
        for tool in [tool(output.clone()), with_schema(output.clone(), &schema)] {
            check_unusable(&tool, r#"{"a":9,"a":1}"#, "`a` stands twice");
            check_unusable(
                &tool,
                r#"[{"b":[{"c":1,"\u0063":2}]}]"#,
                "`[0].b[0].c` stands twice",
            );
        }
    }
    let content = r#"{"content":[],"structuredContent":{"a":{"b":1,"b":2}}}"#;
    check_unusable(
        &tool(Output::Content),
        content,
        "`structuredContent.a.b` stands twice",
    );
}

#[test]
fn text_is_the_only_block_and_nothing_else_is_in_it() {
    let expect = json!({ "content": [{ "type": "text", "text": "one\n\ntwo" }], "isError": false });
    assert_eq!(printed(&tool(Output::Text), "one\n\ntwo\n\n"), expect);
    let nothing = json!({ "content": [{ "type": "text", "text": "" }], "isError": false });
    assert_eq!(printed(&tool(Output::Text), ""), nothing);
}

#[test]
fn long_text_is_shortened() {
    let result = printed(&tool(Output::Text), &"line\n".repeat(100_000));
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(
        text.len() <= 32 * 1024 && text.contains("bytes"),
        "{text:.100}"
    );
    assert_eq!(result["isError"], false);
}

#[test]
fn a_command_that_failed_is_told_as_that_of_run() {
    for output in [
        Output::Text,
        Output::Json,
        Output::Content,
        Output::Image {
            mime_type: "image/png".to_owned(),
        },
    ] {
        let written = Written::text("[]\n").then(Stream::Stderr, b"oops\n");
        let failed = outcome(End::Exited(3), &written);
        let expect = json!({ "content": [{ "type": "text", "text": "exit code 3 after 1 s\n\n[]\noops" }], "isError": true });
        assert_eq!(result_of(&tool(output), written, &failed), expect);
    }
    let written = Written::text("1");
    let stopped = JobOutcome {
        stopped: Some(StopCause::TimedOut),
        ..outcome(End::Exited(0), &written)
    };
    assert_eq!(
        result_of(&tool(Output::Json), written, &stopped)["isError"],
        true
    );
}

#[test]
fn any_json_value_is_structured_content() {
    for value in [
        json!({"b": 1, "a": [1.5, null]}),
        json!([1]),
        json!("x"),
        json!(7),
        json!(true),
        Value::Null,
    ] {
        let text = serde_json::to_string_pretty(&value).expect("it is JSON");
        let result = printed(&tool(Output::Json), &format!("\n{text}\n"));
        let expect = json!({
            "content": [{ "type": "text", "text": text }], "structuredContent": value, "isError": false,
        });
        assert_eq!(result, expect);
        let recorded =
            serde_json::from_value::<CallResult>(result.clone()).expect("it can be read again");
        assert_eq!(serde_json::to_value(recorded).expect("it is JSON"), result);
    }
}

#[test]
fn json_is_passed_on_as_it_was_written() {
    let mut written = Written::text("{ \"b\": 10000000000000000000000001,\n \"a\": 1.10 }");
    let outcome = outcome(End::Exited(0), &written);
    let ended = Ended {
        id: ID,
        outcome: &outcome,
        timeout_ms: None,
        about: About::Configured,
    };
    let result = finished(&mut written, &tool(Output::Json), ended).expect("it can be read");
    assert_eq!(
        result.structured.expect("it is there").get(),
        r#"{"b":10000000000000000000000001,"a":1.10}"#
    );
}

#[test]
fn what_is_no_json_is_told_with_its_beginning() {
    check_unusable(&tool(Output::Json), "", "it is empty and not JSON");
    check_unusable(
        &tool(Output::Json),
        "hello",
        "it is not one JSON value: expected",
    );
    check_unusable(&tool(Output::Json), "hello", "\n\nIt printed:\nhello");
    check_unusable(
        &tool(Output::Json),
        "1\n2\n",
        "it is not one JSON value: trailing characters",
    );
    check_unusable(
        &tool(Output::Json),
        "\"\\ud800\"",
        "it is not one JSON value",
    );
    check_unusable(
        &tool(Output::Json),
        &format!("x{}", "y".repeat(5_000)),
        "It printed, and more:\nxyyy",
    );
    let written = Written::nothing().then(Stream::Stdout, b"\"\xff\"");
    let outcome = outcome(End::Exited(0), &written);
    let result = result_of(&tool(Output::Json), written, &outcome);
    assert!(
        result["content"][0]["text"]
            .to_string()
            .contains("it is not UTF-8"),
        "{result}"
    );
}

#[test]
fn json_has_to_conform_to_the_output_schema() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let tool = with_schema(Output::Json, &schema);
    assert_eq!(
        printed(&tool, r#"{"n": 1}"#)["structuredContent"],
        json!({"n": 1})
    );
    check_unusable(
        &tool,
        r#"{"n": "1"}"#,
        "`outputSchema`: `n` is \"1\", it has to be an integer",
    );
    check_unusable(&tool, "[]", "the value is [], it has to be an object");
}

#[test]
fn a_command_may_print_its_content_itself() {
    let tool = tool(Output::Content);
    let blocks = json!([{"type": "text", "text": "a"}, {"type": "image", "data": "Zg==", "mimeType": "image/png"}]);
    let expect = json!({ "content": blocks, "isError": false });
    assert_eq!(
        printed(&tool, &serde_json::to_string_pretty(&blocks).expect("JSON")),
        expect
    );
    let whole = json!({ "content": blocks, "structuredContent": [1], "isError": true });
    assert_eq!(printed(&tool, &whole.to_string()), whole);
    let null = json!({ "content": [], "structuredContent": null, "isError": false });
    assert_eq!(printed(&tool, &null.to_string()), null);
}

#[test]
fn content_of_another_shape_is_refused() {
    let tool = tool(Output::Content);
    check_unusable(
        &tool,
        r#"[{"type": "text"}]"#,
        "`content[0].text` is missing",
    );
    check_unusable(
        &tool,
        r#""text""#,
        "neither an array of content blocks nor an object",
    );
    check_unusable(
        &tool,
        r#"{"structuredContent": 1}"#,
        "missing field `content`",
    );
    check_unusable(
        &tool,
        r#"{"content": [], "more": 1}"#,
        "unknown field `more`",
    );
    check_unusable(&tool, r#"{"content": {}}"#, "`content` is no array");
    check_unusable(&tool, r#"{"content": [], "isError": "no"}"#, "neither");
}

#[test]
fn content_has_to_conform_to_the_output_schema_unless_it_is_an_error() {
    let tool = with_schema(Output::Content, &json!({"type": "integer"}));
    check_unusable(&tool, "[]", "`structuredContent` is missing");
    check_unusable(
        &tool,
        r#"{"content": []}"#,
        "`structuredContent` is missing",
    );
    check_unusable(
        &tool,
        r#"{"content": [], "structuredContent": "1"}"#,
        "has to be an integer",
    );
    assert_eq!(
        printed(&tool, r#"{"content": [], "structuredContent": 1}"#)["isError"],
        false
    );
    assert_eq!(
        printed(&tool, r#"{"content": [], "isError": true}"#),
        json!({ "content": [], "isError": true })
    );
}

#[test]
fn bytes_are_an_image_a_sound_or_a_resource() {
    let media = |output| printed(&tool(output), "foo")["content"].take();
    let image = Output::Image {
        mime_type: "image/png".to_owned(),
    };
    assert_eq!(
        media(image),
        json!([{ "type": "image", "data": "Zm9v", "mimeType": "image/png" }])
    );
    let audio = Output::Audio {
        mime_type: "audio/wav".to_owned(),
    };
    assert_eq!(
        media(audio),
        json!([{ "type": "audio", "data": "Zm9v", "mimeType": "audio/wav" }])
    );
}

#[test]
fn a_resource_is_text_where_it_can_be_read() {
    let resource = |mime_type: &str, bytes: &[u8]| {
        let written = Written::nothing().then(Stream::Stdout, bytes);
        let outcome = outcome(End::Exited(0), &written);
        let output = Output::Resource {
            uri: "x:///a".to_owned(),
            mime_type: mime_type.to_owned(),
        };
        let mut result = result_of(&tool(output), written, &outcome);
        let block = result["content"][0].take();
        assert_eq!(
            (&block["type"], &block["resource"]["uri"]),
            (&json!("resource"), &json!("x:///a"))
        );
        assert_eq!(block["resource"]["mimeType"], mime_type);
        (
            block["resource"]["text"].clone(),
            block["resource"]["blob"].clone(),
        )
    };
    let text = (json!("a\n"), Value::Null);
    for mime_type in [
        "text/plain",
        "Text/HTML; charset=utf-8",
        "application/json",
        "image/svg+xml",
    ] {
        assert_eq!(resource(mime_type, b"a\n"), text, "{mime_type}");
    }
    assert_eq!(
        resource("application/pdf", b"a\n"),
        (Value::Null, json!("YQo="))
    );
    assert_eq!(
        resource("text/plain", b"\xff"),
        (Value::Null, json!("/w=="))
    );
}

#[test]
fn a_result_that_cannot_be_kept_says_the_limit() {
    let json = tool(Output::Json);
    check_unusable(
        &json,
        &format!("\"{}\"", "x".repeat(512 * 1024)),
        "at most 524288 bytes of stdout",
    );
    check_unusable(
        &json,
        &format!("\"{}\"", "x".repeat(500_000)),
        "as a result it is 10",
    );
    let image = tool(Output::Image {
        mime_type: "image/png".to_owned(),
    });
    assert_eq!(printed(&image, &"x".repeat(512 * 1024))["isError"], false);
    check_unusable(
        &image,
        &"x".repeat(512 * 1024 + 1),
        "at most 524288 bytes of stdout",
    );
    let written = Written::text("{}").then_dropped(7);
    let dropped = JobOutcome {
        dropped_bytes: 7,
        ..outcome(End::Exited(0), &written)
    };
    let text = result_of(&json, written, &dropped)["content"][0]["text"].to_string();
    assert!(
        text.contains("7 of the 9 bytes that the command wrote were not kept"),
        "{text}"
    );
}

#[test]
fn what_is_too_much_for_its_schema_is_said_and_not_tried() {
    let alternatives = json!([{ "type": "string" }, { "type": "null" }, { "type": "object" }]);
    let many = with_schema(Output::Json, &json!({ "items": { "anyOf": alternatives } }));
    let numbers = format!("[1{}]", ",1".repeat(250_000));
    check_unusable(&many, &numbers, "too many parts to be held against");
    // Each level doubles the work.
    let items = json!({ "items": { "$ref": "#" } });
    let multiplied = json!({ "type": "array", "anyOf": [items, items] });
    let multiplied = with_schema(Output::Json, &multiplied);
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    check_unusable(&multiplied, &deep, "too many parts to be held against");
    assert_eq!(printed(&multiplied, "[[[]]]")["isError"], false);
    let content = with_schema(
        Output::Content,
        &json!({ "items": { "anyOf": alternatives } }),
    );
    let printed = format!("{{\"content\":[],\"structuredContent\":{numbers}}}");
    check_unusable(&content, &printed, "too many parts to be held against");
}
