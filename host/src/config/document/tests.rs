//! What becomes of a text, and where it is wrong.

use super::*;

fn json(text: &str) -> String {
    let members = Members::parse(text);
    members
        .unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"))
        .to_string()
}

/// Asserts that a text is refused, at the line and column.
fn refused(text: &str, position: (usize, usize)) -> String {
    let wrong = Members::parse(text).expect_err(text);
    let found = (wrong.position.line, wrong.position.column);
    assert_eq!(found, position, "{text}: {wrong:?}");
    assert!(!wrong.reason.contains('\n'), "{text}: {wrong:?}");
    wrong.reason
}

#[test]
fn every_kind_of_value_becomes_that_of_json() {
    let text = "text = 'a \"b\" \\c'\nlines = \"\"\"\na\nb\"\"\"\nyes = true\nno = false\nnone = 0\nless = -7\n\
        many = 1_000\nhex = 0xff\noctal = 0o17\nbits = 0b101\nhalf = 0.5\nwhole = 2.0\nlarge = 1e3\n\
        list = [1, 'two', [3], {four = 4}]\nempty = []\n";
    let expected = "{\"text\":\"a \\\"b\\\" \\\\c\",\"lines\":\"a\\nb\",\"yes\":true,\"no\":false,\"none\":0,\
        \"less\":-7,\"many\":1000,\"hex\":255,\"octal\":15,\"bits\":5,\"half\":0.5,\"whole\":2.0,\"large\":1000.0,\
        \"list\":[1,\"two\",[3],{\"four\":4}],\"empty\":[]}";
    assert_eq!(json(text), expected);
}

#[test]
fn tables_are_objects_however_they_are_written_and_keep_their_order() {
    let expected = r#"{"z":{"b":1,"a":{"y":2,"x":3}}}"#;
    for text in [
        "[z]\nb = 1\n[z.a]\ny = 2\nx = 3\n",
        "z.b = 1\nz.a.y = 2\nz.a.x = 3\n",
        "z = {b = 1, a = {y = 2, x = 3}}",
    ] {
        assert_eq!(json(text), expected, "{text}");
    }
    let tools = "[[tools]]\nname = 'b'\n[tools.env]\nA = '1'\n[[tools]]\nname = 'a'\n";
    assert_eq!(
        json(tools),
        r#"{"tools":[{"name":"b","env":{"A":"1"}},{"name":"a"}]}"#
    );
}

#[test]
fn a_text_without_members_is_an_empty_object() {
    for text in [
        "",
        "\n",
        "# nothing\n",
        "\u{feff}# a mark of the order of bytes\n",
    ] {
        assert_eq!(json(text), "{}", "{text:?}");
    }
}

#[test]
fn every_mistake_is_found_where_it_is() {
    for (text, position) in [
        ("a = 1\nb = = 2\n", (2, 5)),
        ("a = 1\na = 2\n", (2, 1)),
        ("[a]\n[a]\n", (2, 2)),
        ("a = 'open\nb = 1\n", (1, 10)),
        ("a = [1, 2\nb = 3\n", (2, 1)),
        ("a = {b = 1\nc = 2", (2, 1)),
        ("[a\nb = 1\n", (1, 3)),
        ("a\n", (1, 2)),
        ("a = yes\n", (1, 5)),
        ("a = 01\n", (1, 5)),
        ("a = \"\\q\"\n", (1, 7)),
        ("= 1\n", (1, 1)),
        ("a = 1 b = 2\n", (1, 9)),
        ("a = 1\n[a.b]\n", (2, 2)),
        ("[[a]]\n[a]\n", (2, 2)),
    ] {
        assert!(!refused(text, position).is_empty(), "{text}");
    }
}

#[test]
fn a_value_that_is_not_there_is_missed_and_not_its_quotes() {
    for text in ["a = \n", "a =", "a = # b\n", "a = [1]\n[b]\nc =\n"] {
        let wrong = Members::parse(text).expect_err(text);
        assert!(
            wrong.reason.starts_with("there is no value behind `=`"),
            "{text}: {wrong:?}"
        );
    }
    let unquoted = refused("a = yes\n", (1, 5));
    assert_eq!(unquoted, UNQUOTED);
}

#[test]
fn columns_are_characters() {
    refused("a = 'é😀' b = 1\n", (1, 10));
}

#[test]
fn what_json_has_not_is_refused_with_what_to_write() {
    for date in ["2026-07-28", "12:30:00", "2026-07-28T12:30:00Z"] {
        let reason = refused(&format!("a = 1\n[b]\nc = [1, {date}]\n"), (3, 9));
        assert!(reason.contains("as a string"), "{reason}");
    }
    for number in ["inf", "-inf", "nan", "1e400"] {
        let reason = refused(&format!("a = {number}\n"), (1, 5));
        assert!(reason.contains("finite"), "{number}: {reason}");
    }
    for number in ["9223372036854775808", "0xffffffffffffffff"] {
        let reason = refused(&format!("a = {number}\n"), (1, 5));
        assert!(reason.contains("64 bits"), "{number}: {reason}");
    }
    assert_eq!(
        json("a = -9223372036854775808"),
        r#"{"a":-9223372036854775808}"#
    );
}

#[test]
fn nesting_without_end_is_refused() {
    let deep = format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    Members::parse(&deep).expect_err("nobody nests so deeply");
    let keys = format!("a{} = 1", ".a".repeat(100_000));
    Members::parse(&keys).expect_err("nobody nests so deeply");
}

const TOOLS: &str = "\
graceMs = 1

[run]
enabled = false

[[tools]]
name = 'one'
program = ['a', 'b']

[[tools]]
name = 'two'
program = [
  'c',
  ['d', 'é', '{e}'],
]
inputSchema.properties.'a/b~c'.type = 'string'
";

#[test]
fn a_pointer_leads_to_the_name_of_a_member_or_to_an_element() {
    for (pointer, position) in [
        ("/graceMs", (1, 1)),
        ("/run/enabled", (4, 1)),
        ("/tools/0/program", (8, 1)),
        ("/tools/0/program/1", (8, 17)),
        ("/tools/1/name", (11, 1)),
        ("/tools/1/program/1", (14, 3)),
        ("/tools/1/program/1/2", (14, 14)),
        ("/tools/1/inputSchema/properties/a~1b~0c/type", (16, 32)),
    ] {
        let found = locate(TOOLS, pointer).map(|it| (it.line, it.column));
        assert_eq!(found, Some(position), "{pointer}");
    }
}

#[test]
fn a_pointer_to_what_is_not_there_leads_to_what_it_would_be_in() {
    for (pointer, line) in [
        ("/tools/1", 10),
        ("/tools/1/description", 10),
        ("/tools/1/program/7", 12),
        ("/tools/1/name/x", 11),
        ("/run/cwd", 3),
    ] {
        let found = locate(TOOLS, pointer).map(|it| it.line);
        assert_eq!(found, Some(line), "{pointer}");
    }
    for pointer in ["", "/", "/none", "/none/0", "no pointer"] {
        assert_eq!(locate(TOOLS, pointer), None, "{pointer:?}");
    }
}

#[test]
fn members_that_are_set_win_over_the_text_and_defaults_do_not() {
    let mut members = Members::parse("b = 1\na = 2\n").expect("it is TOML");
    members.set("b", &Value::from("x"));
    members.set("c", &Value::from(3));
    members.set_default("a", &Value::from(4));
    members.set_default("d", &Value::from(5));
    assert_eq!(members.to_string(), r#"{"b":"x","a":2,"c":3,"d":5}"#);
}
