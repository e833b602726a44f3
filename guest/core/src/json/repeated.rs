//! Names that stand more than once in an object.

use std::collections::BTreeSet;

use crate::limits::JSON_LEVELS;

/// Where in JSON a member is whose name stands in its object before, as a person writes it, such as `a.b[2].c`; `None`
/// where there is none.
///
/// A reader that keeps the last one, as `serde_json` does, and one that keeps the first read different things in the same
/// text: then what was checked here is not what the other one gets.
pub(crate) fn repeated(json: &str) -> Option<String> {
    first(json, JSON_LEVELS)
}

/// As [`repeated`], of the members of the outermost object alone.
pub(crate) fn repeated_outside(json: &str) -> Option<String> {
    first(json, 1)
}

/// The first such place that is in at most this many objects and arrays. Of what is deeper nothing is kept.
fn first(json: &str, depth: usize) -> Option<String> {
    let mut open: Vec<Open> = Vec::new();
    // In how many more objects and arrays this is.
    let mut deeper: usize = 0;
    let mut rest = json;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        let is_full = open.len() >= depth;
        let inner = open.last_mut().filter(|_| deeper == 0);
        match (character, inner) {
            ('{' | '[', _) if deeper > 0 => deeper += 1,
            ('}' | ']', _) if deeper > 0 => deeper -= 1,
            ('{' | '[', _) if is_full => deeper = 1,
            ('{', _) => open.push(Open::object()),
            ('[', _) => open.push(Open::Array { index: 0 }),
            ('}' | ']', _) => {
                open.pop();
            }
            (',', Some(inner)) => inner.go_on(),
            ('"', inner) => {
                length = string_length(rest);
                if inner.is_some_and(|inner| inner.is_again(&rest[..length])) {
                    return Some(place(&open));
                }
            }
            _ => {}
        }
        rest = &rest[length..];
    }
    None
}

/// An object or array of which more follows.
enum Open {
    Object {
        names: BTreeSet<String>,
        /// The name of the member that is read; `None` where it comes next.
        name: Option<String>,
    },
    Array {
        index: usize,
    },
}

impl Open {
    fn object() -> Self {
        Self::Object {
            names: BTreeSet::new(),
            name: None,
        }
    }

    /// Goes on to the next member or item.
    fn go_on(&mut self) {
        match self {
            Self::Object { name, .. } => *name = None,
            Self::Array { index } => *index += 1,
        }
    }

    /// Whether this string is a name that was there before.
    fn is_again(&mut self, string: &str) -> bool {
        let Self::Object {
            names,
            name: name @ None,
        } = self
        else {
            return false;
        };
        // One that is no text, as it has half of a character, is compared as it is written.
        let read = serde_json::from_str(string).unwrap_or_else(|_| string.to_owned());
        *name = Some(read.clone());
        !names.insert(read)
    }
}

/// How long the string is with which a text begins, in bytes, its quotes included.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

fn place(open: &[Open]) -> String {
    let mut place = String::new();
    for part in open {
        match part {
            Open::Object { name, .. } => {
                if !place.is_empty() {
                    place.push('.');
                }
                place.push_str(name.as_deref().unwrap_or_default());
            }
            Open::Array { index } => place.push_str(&format!("[{index}]")),
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::{repeated, repeated_outside};
    use crate::limits::JSON_LEVELS;

    fn check(json: &str, expect: Option<&str>) {
        assert_eq!(repeated(json).as_deref(), expect, "{json}");
    }

    #[test]
    fn a_name_may_stand_in_each_object_once() {
        check(r#"{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}"#, None);
        check(r#"{"a":1,"b":2,"a":3}"#, Some("a"));
        check(r#" { "a" : { "b" : 1 , "b" : 2 } } "#, Some("a.b"));
        check(r#"[1,[],{"a":["x",{"b":1,"b":1}]}]"#, Some("[2].a[1].b"));
        check(r#"{"a":1,"":2,"":3}"#, Some(""));
    }

    #[test]
    fn the_outermost_object_can_be_asked_alone() {
        let json = r#"{"a":{"b":1,"b":2},"c":3,"c":4}"#;
        assert_eq!(repeated(json).as_deref(), Some("a.b"));
        assert_eq!(repeated_outside(json).as_deref(), Some("c"));
        assert_eq!(repeated_outside(r#"{"a":{"b":1,"b":2}}"#), None);
    }

    #[test]
    fn names_are_compared_as_they_are_read() {
        check(r#"{"a":1,"\u0061":2}"#, Some("a"));
        check(r#"{"a\"":1,"a\\":2,"\"":3}"#, None);
        check(r#"{"\ud800":1,"\ud800":2}"#, Some(r#""\ud800""#));
    }

    #[test]
    fn what_is_no_name_may_be_repeated() {
        check(r#"["a","a"]"#, None);
        check(r#"{"a":"a","b":"a","c":"{\"d\":1,\"d\":1}"}"#, None);
        check("1", None);
        check(r#""a""#, None);
    }

    #[test]
    fn what_is_deeper_than_any_reader_goes_is_not_looked_at() {
        let nested = |levels: usize| {
            let (open, close) = ("[".repeat(levels - 1), "]".repeat(levels - 1));
            format!(r#"{open}{{"a":1,"a":1}}{close}"#)
        };
        assert!(repeated(&nested(JSON_LEVELS)).is_some_and(|place| place.ends_with("[0].a")));
        let deeper = nested(JSON_LEVELS + 1);
        assert_eq!(repeated(&deeper), None);
        assert!(serde_json::from_str::<serde_json::Value>(&deeper).is_err());
        assert_eq!(repeated(&"[".repeat(1_000_000)), None);
    }

    #[test]
    fn what_is_deep_hides_nothing_that_is_not() {
        let (open, close) = ("[{\"a\":".repeat(100_000), "}]".repeat(100_000));
        let json = format!(r#"{{"a":{open}1{close},"b":[1,{{"c":1,"c":2}}],"b":3}}"#);
        check(&json, Some("b[1].c"));
        assert_eq!(repeated_outside(&json).as_deref(), Some("b"));
    }
}
