use serde_json::json;

use super::Form;

/// What a client is sent of this; `None` where it is asked of nobody.
fn asked(text: &str) -> Option<String> {
    Form::parse(text).map(|form| serde_json::to_string(&form).expect("a form has a text"))
}

/// Asked as it is, but for the mode.
fn check_same(rest: &str) {
    let text = format!(r#"{{"message":"m","requestedSchema":{rest}}}"#);
    let expect = format!(r#"{{"mode":"form","message":"m","requestedSchema":{rest}}}"#);
    assert_eq!(asked(&text).as_deref(), Some(expect.as_str()));
}

fn check_unreadable(field: &str) {
    let schema = format!(r#"{{"type":"object","properties":{{"f":{field}}}}}"#);
    let text = format!(r#"{{"message":"m","requestedSchema":{schema}}}"#);
    assert_eq!(asked(&text), None, "{field}");
}

#[test]
fn what_mcp_allows_is_passed_on_in_its_order() {
    check_same(r#"{"type":"object","properties":{}}"#);
    check_same(concat!(
        r#"{"type":"object","properties":{"#,
        r#""z":{"default":"a@b","description":"d","format":"email","maxLength":9,"minLength":1,"title":"t","type":"string"},"#,
        r#""a":{"default":2.5,"maximum":3,"minimum":-1,"type":"number"},"#,
        r#""y":{"default":2,"type":"integer"},"#,
        r#""b":{"default":false,"type":"boolean"},"#,
        r#""x":{"default":"r","enum":["r","g"],"type":"string"},"#,
        r#""c":{"oneOf":[{"const":"r","title":"Red"}],"type":"string"},"#,
        r#""w":{"default":["g"],"items":{"enum":["r","g"],"type":"string"},"maxItems":2,"minItems":1,"type":"array"},"#,
        r#""d":{"items":{"anyOf":[{"const":"r","title":"Red"}]},"type":"array"}"#,
        r#"},"required":["z","b"]}"#,
    ));
}

#[test]
fn a_number_that_is_suggested_stays_as_it_was_written() {
    for number in [
        "1.50",
        "1e2",
        "-0",
        "0.1000000000000000055511151231257827",
        "31.245270191439438",
    ] {
        check_same(&format!(
            r#"{{"type":"object","properties":{{"f":{{"default":{number},"type":"number"}}}}}}"#
        ));
    }
    check_same(
        r#"{"type":"object","properties":{"f":{"default":2.0,"maximum":3,"type":"integer"}}}"#,
    );
    check_unreadable(r#"{"type":"number","default":1.00000000000000000001}"#);
    check_unreadable(r#"{"type":"number","default":"1"}"#);
}

#[test]
fn what_mcp_does_not_know_is_left_out() {
    let text = r#"{"message":"m","x":1,"requestedSchema":{"$schema":"s","type":"object","properties":
        {"f":{"type":"string","pattern":"x","enum":["a"],"enumNames":["A"]}},"additionalProperties":false}}"#;
    let field = r#"{"oneOf":[{"const":"a","title":"A"}],"type":"string"}"#;
    let schema = format!(r#"{{"type":"object","properties":{{"f":{field}}}}}"#);
    let expect = format!(r#"{{"mode":"form","message":"m","requestedSchema":{schema}}}"#);
    assert_eq!(asked(text).as_deref(), Some(expect.as_str()));
}

#[test]
fn a_page_is_asked_by_its_address() {
    let page = r#"{"mode":"url","message":"m","url":"https://example.org/x?y"}"#;
    assert_eq!(asked(page).as_deref(), Some(page));
    for wrong in [
        r#"{"mode":"url","message":"m"}"#,
        r#"{"mode":"url","message":"m","url":"javascript:alert(1)"}"#,
        r#"{"mode":"other","message":"m","url":"https://example.org/"}"#,
    ] {
        assert_eq!(asked(wrong), None, "{wrong}");
    }
}

#[test]
fn a_message_is_what_can_be_seen_of_it() {
    let form = |message: &str| {
        let schema = json!({ "type": "object", "properties": {} });
        let text = json!({ "message": message, "requestedSchema": schema }).to_string();
        Form::parse(&text).map(|form| form.message().to_owned())
    };
    assert_eq!(form(" a\u{202e}\nb\u{1b}c\n").as_deref(), Some("a\nbc"));
    assert_eq!(form(" \n\u{200b}"), None);
    assert!(form(&"ä".repeat(4_000)).is_some());
    assert_eq!(form(&"a".repeat(4_001)), None);
}

#[test]
fn what_makes_no_sense_is_asked_of_nobody() {
    for field in [
        "null",
        "{}",
        r#"{"type":"object"}"#,
        r#"{"type":["string"]}"#,
        r#"{"type":"string","format":"password"}"#,
        r#"{"type":"string","enum":[]}"#,
        r#"{"type":"string","enum":["a","a"]}"#,
        r#"{"type":"string","enum":["a"],"enumNames":[]}"#,
        r#"{"type":"string","enum":["a"],"oneOf":[{"const":"a"}]}"#,
        r#"{"type":"string","default":1}"#,
        r#"{"type":"string","enum":["a"],"default":"b"}"#,
        r#"{"type":"integer","default":1.5}"#,
        r#"{"type":"number","maximum":1,"default":2}"#,
        r#"{"type":"boolean","default":"true"}"#,
        r#"{"type":"array"}"#,
        r#"{"type":"array","items":{"type":"string"}}"#,
        r#"{"type":"array","items":{"enum":["a"]},"default":["b"]}"#,
    ] {
        check_unreadable(field);
    }
    for text in [
        "",
        "null",
        "[]",
        r#"{"message":"m"}"#,
        r#"{"requestedSchema":{"type":"object","properties":{}}}"#,
        r#"{"message":"m","requestedSchema":{"type":"string","properties":{}}}"#,
        r#"{"message":"m","requestedSchema":{"type":"object","properties":{},"required":["f"]}}"#,
        r#"{"message":"m","requestedSchema":{"type":"object","properties":{"":{"type":"string"}}}}"#,
        r#"{"message":"m","requestedSchema":{"type":"object","properties":
            {"f":{"type":"string"},"f":{"type":"string"}}}}"#,
    ] {
        assert_eq!(asked(text), None, "{text}");
    }
}

#[test]
fn a_form_has_a_bounded_number_of_fields_and_bytes() {
    let form = |fields: usize, description: &str| {
        let field = json!({ "type": "string", "description": description });
        let properties: serde_json::Map<_, _> = (0..fields)
            .map(|index| (index.to_string(), field.clone()))
            .collect();
        let schema = json!({ "type": "object", "properties": properties });
        asked(&json!({ "message": "m", "requestedSchema": schema }).to_string())
    };
    assert!(form(32, "").is_some());
    assert!(form(33, "").is_none());
    assert!(form(1, &"x".repeat(65_000)).is_some());
    assert!(form(1, &"x".repeat(66_000)).is_none());
}

#[test]
fn what_a_person_reads_is_what_can_be_seen_of_it() {
    let field = |field: &str| {
        let schema = format!(r#"{{"type":"object","properties":{{"f":{field}}}}}"#);
        let sent = asked(&format!(r#"{{"message":"m","requestedSchema":{schema}}}"#));
        let sent: serde_json::Value = serde_json::from_str(&sent?).expect("it is JSON");
        Some(sent["requestedSchema"]["properties"]["f"].clone())
    };
    let words = r#"{"type":"string","title":"a\u202eb","description":"one\u200b\n\u001btwo","default":"x\ny"}"#;
    let expect =
        json!({ "type": "string", "title": "ab", "description": "one\ntwo", "default": "x\ny" });
    assert_eq!(field(words), Some(expect));
    for titled in [
        r#"{"type":"string","enum":["a"],"enumNames":["A\u202e"]}"#,
        r#"{"type":"string","oneOf":[{"const":"a","title":"\u2066A"}]}"#,
    ] {
        let expect = json!([{ "const": "a", "title": "A" }]);
        assert_eq!(field(titled).expect("it can be asked")["oneOf"], expect);
    }
    for unseen in [
        r#"{"type":"string","default":"a\u202eb"}"#,
        r#"{"type":"string","default":"a\u0007"}"#,
        r#"{"type":"string","enum":["a","a\u200b"]}"#,
        r#"{"type":"string","enum":["a\nb"],"enumNames":["A"]}"#,
        r#"{"type":"string","oneOf":[{"const":"a\u202e","title":"A"}]}"#,
        r#"{"type":"array","items":{"anyOf":[{"const":"\ufeffa","title":"A"}]}}"#,
        r#"{"type":"array","items":{"enum":["a\u2066"]}}"#,
    ] {
        check_unreadable(unseen);
    }
    let family = r#"{"type":"string","enum":["\ud83d\udc68\u200d\ud83d\udc69"]}"#;
    assert!(field(family).is_some(), "a joiner can be seen there");
}
