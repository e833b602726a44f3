//! JSON on one line.

use serde_json::value::RawValue;

/// The same JSON without the blanks between its tokens, so without line breaks; `None` where it is none.
pub(crate) fn one_line(json: &str) -> Option<Box<RawValue>> {
    let mut line = String::with_capacity(json.len());
    let mut is_in_string = false;
    let mut is_escaped = false;
    for character in json.chars() {
        if !is_in_string && matches!(character, ' ' | '\t' | '\r' | '\n') {
            continue;
        }
        line.push(character);
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_in_string,
            '"' => is_in_string = !is_in_string,
            _ => {}
        }
    }
    // Blanks separate nothing in JSON: what was none stays none, but for two numbers that come together, and who asks
    // has read it as JSON before.
    RawValue::from_string(line).ok()
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn only_what_separates_is_left_out() {
        let json = "{ \"b\\\" \\\\\" : [ 1.50 ,\n\t1e400, \"a \\n b\" ], \"a\": null }\r\n";
        let line = one_line(json).expect("it is JSON");
        assert_eq!(line.get(), r#"{"b\" \\":[1.50,1e400,"a \n b"],"a":null}"#);
        assert!(one_line("{").is_none());
    }
}
