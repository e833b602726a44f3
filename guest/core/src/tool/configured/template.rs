//! Text with places for the arguments of a call.
//!
//! Knows the notation. Does not know what the text is for.

use crate::tool::given::Given;

/// A text in which arguments stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Itself.
    Text(String),
    /// The value of the argument of this name.
    Argument(String),
    /// All arguments, as one line of JSON.
    All,
}

impl Template {
    /// Reads the notation: `{name}` is an argument, `{}` all of them, `{{` and `}}` are braces.
    ///
    /// # Errors
    /// In words: a brace that stands alone, or an argument that `is_known` does not know.
    pub(crate) fn parse(text: &str, is_known: impl Fn(&str) -> bool) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(place) = rest.find(['{', '}']) {
            add_text(&mut parts, &rest[..place]);
            let brace = &rest[place..];
            if let Some(after) = brace.strip_prefix("{{") {
                add_text(&mut parts, "{");
                rest = after;
            } else if let Some(after) = brace.strip_prefix("}}") {
                add_text(&mut parts, "}");
                rest = after;
            } else {
                let (name, after) = placeholder(brace)?;
                parts.push(part(name, &is_known)?);
                rest = after;
            }
        }
        add_text(&mut parts, rest);
        Ok(Self(parts))
    }

    /// The text that it is where there is no argument in it.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// What it begins with before the first argument.
    pub(crate) fn beginning(&self) -> &str {
        match self.0.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// The name of the argument that it is and nothing else.
    pub(crate) fn only_argument(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Argument(name)] => Some(name),
            _ => None,
        }
    }

    /// The names of the arguments in it.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Argument(name) => Some(name.as_str()),
            Part::Text(_) | Part::All => None,
        })
    }

    /// The text for these arguments; `None` where one that stands in it is absent or `null`.
    pub(crate) fn render(&self, arguments: &Given) -> Option<String> {
        self.render_as(arguments, |_, text| text.to_owned())
    }

    /// As [`Template::render`], where each argument stands as this makes it of what stands before it and itself.
    pub(crate) fn render_as(
        &self,
        arguments: &Given,
        shown: impl Fn(&str, &str) -> String,
    ) -> Option<String> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Argument(name) => text += &shown(&text, &arguments.text(name)?),
                Part::All => text += &shown(&text, &arguments.json()),
            }
        }
        Some(text)
    }
}

fn add_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(before)) => before.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

/// The name between braces at the beginning of a text, and what follows them.
fn placeholder(text: &str) -> Result<(&str, &str), String> {
    let Some(inner) = text.strip_prefix('{') else {
        return Err("has a `}` without a `{` before it; the character itself is `}}`".to_owned());
    };
    match inner.split_once('}') {
        Some((name, after)) if !name.contains('{') => Ok((name, after)),
        _ => Err("has a `{` without a `}` behind it; the character itself is `{{`".to_owned()),
    }
}

fn part(name: &str, is_known: impl Fn(&str) -> bool) -> Result<Part, String> {
    match name {
        "" => Ok(Part::All),
        name if is_known(name) => Ok(Part::Argument(name.to_owned())),
        name => Err(format!(
            "names `{{{name}}}`, which is no argument: `inputSchema` has no property `{name}`; the characters \
             themselves are `{{{{` and `}}}}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Template;
    use crate::tool::given::Given;

    fn parse(text: &str) -> Result<Template, String> {
        Template::parse(text, |name| name == "a" || name == "b")
    }

    fn check(text: &str, arguments: &Value, expect: Option<&str>) {
        let template = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let arguments = arguments.as_object().expect("arguments are an object");
        let arguments = Given::from(arguments.clone());
        assert_eq!(template.render(&arguments).as_deref(), expect, "{text}");
    }

    #[test]
    fn arguments_stand_where_their_names_do() {
        check("", &json!({}), Some(""));
        check(
            "x{a}y{b}z{a}",
            &json!({"a": "1", "b": "{a}"}),
            Some("x1y{a}z1"),
        );
        check("{{a}}{{{a}}}", &json!({"a": "1"}), Some("{a}{1}"));
        check(
            "{}",
            &json!({"b": 1, "c": "ä\n"}),
            Some(r#"{"b":1,"c":"ä\n"}"#),
        );
        check("{}", &json!({}), Some("{}"));
    }

    #[test]
    fn what_is_no_string_is_its_json() {
        check("{a} {b}", &json!({"a": 1.5, "b": true}), Some("1.5 true"));
        check(
            "{a} {b}",
            &json!({"a": ["x", 1], "b": {"k": "v"}}),
            Some(r#"["x",1] {"k":"v"}"#),
        );
    }

    #[test]
    fn there_is_no_text_without_the_arguments_in_it() {
        check("x{a}", &json!({}), None);
        check("{a}{b}", &json!({"a": "1", "b": null}), None);
    }

    #[test]
    fn a_brace_alone_and_an_unknown_name_are_refused() {
        for (text, expect) in [
            ("{", "`{{`"),
            ("a}", "`}}`"),
            ("{a", "`{{`"),
            ("{a{b}}", "`{{`"),
            ("{c}", "`{c}`"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(expect), "{text}: {error}");
        }
    }

    #[test]
    fn a_template_tells_what_it_is_made_of() {
        let template = |text| parse(text).expect("a valid template");
        assert_eq!(template("x{{").literal(), Some("x{"));
        assert_eq!(template("").literal(), Some(""));
        assert_eq!(template("{a}").literal(), None);
        assert_eq!(template("{a}").only_argument(), Some("a"));
        assert_eq!(template("{a} ").only_argument(), None);
        assert_eq!(template("x:{a}").beginning(), "x:");
        assert_eq!(
            template("{a}{b}").arguments().collect::<Vec<_>>(),
            ["a", "b"]
        );
    }
}
