//! JSON Schemas of the configuration: compiled, and asked whether a value conforms.
//!
//! The library is `boon`: all of 2020-12 and earlier drafts, formats asserted; a regular expression takes linear time. It
//! loads nothing: a reference that leads out of the schema is refused. What would take it too much time or memory it is
//! not given: see [`effort`](super::effort).

use std::error::Error;
use std::fmt;

use boon::{
    CompileError, Compiler, Draft, ErrorKind, SchemaIndex, Schemas, UrlLoader, ValidationError,
};
use serde_json::{Value, json};

use super::effort::{self, Names};
use super::{misfit, well_formed};

/// Where a schema is that is held against the metaschema of its dialect.
const ELSEWHERE: &str = "backburner:///schema";

/// Where a schema is that is taken for one: the library trusts what the authors of the standard publish. Were it to
/// check that one day, too, only time would be lost.
const TRUSTED: &str = "https://json-schema.org/backburner/schema";

/// A schema that values can be held against.
pub(crate) struct Schema {
    schemas: Schemas,
    root: SchemaIndex,
    source: Value,
    names: Names,
}

/// Why a value is not taken for one that conforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It does not conform, in words.
    Wrong(String),
    /// Nobody knows whether it conforms: it has too many parts.
    TooMuch,
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadSchema {
    /// A JSON pointer into the schema; empty where it is not known.
    pub(crate) at: String,
    /// What is wrong.
    pub(crate) reason: String,
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Where it is none, or needs something that is not in it.
    pub(crate) fn compile(schema: &Value) -> Result<Self, BadSchema> {
        if is_latest(schema) {
            well_formed::check(schema)?;
            Self::trusted(schema)
        } else {
            Self::named(ELSEWHERE, schema)
        }
    }

    /// Compiles what is known to be a schema of 2020-12.
    fn trusted(schema: &Value) -> Result<Self, BadSchema> {
        Self::named(TRUSTED, schema)
    }

    fn named(name: &str, schema: &Value) -> Result<Self, BadSchema> {
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        compiler.enable_format_assertions();
        compiler.use_loader(Box::new(Nothing));
        compiler
            .add_resource(name, schema.clone())
            .map_err(|error| bad(&error, schema))?;
        match compiler.compile(name, &mut schemas) {
            Ok(root) => Ok(Self {
                schemas,
                root,
                source: schema.clone(),
                names: Names::of(schema),
            }),
            Err(error) => Err(bad(&error, schema)),
        }
    }

    /// What is wrong with a regular expression; `None` where it can be used.
    pub(super) fn bad_expression(expression: &str) -> Option<String> {
        // The library takes one that it cannot read for a mistake of its own, unless it is asked before.
        let format = Self::trusted(&json!({ "format": "regex" })).ok()?;
        let expression = expression.into();
        let error = format.mistake(&expression)?;
        Some(invalid("", &error).reason)
    }

    /// The schema as it was given.
    pub(super) fn source(&self) -> &Value {
        &self.source
    }

    /// Holds a value against it. `whole` is what the value is called.
    ///
    /// # Errors
    /// Where it does not conform, or is not held against it.
    pub(crate) fn check(&self, value: &Value, whole: &str) -> Result<(), Unfit> {
        if !effort::is_bearable(&self.source, &self.names, value) {
            return Err(Unfit::TooMuch);
        }
        match self.mistake(value) {
            None => Ok(()),
            Some(error) => Err(Unfit::Wrong(misfit::in_words(&error, value, whole))),
        }
    }

    /// What is wrong with a value, of which it is known that it can be borne; `None` where it conforms.
    fn mistake<'a>(&'a self, value: &'a Value) -> Option<ValidationError<'a, 'a>> {
        self.schemas.validate(value, self.root).err()
    }
}

/// A library of schemas in which nothing is.
struct Nothing;

impl UrlLoader for Nothing {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("{url} is not in it").into())
    }
}

fn bad(error: &CompileError, schema: &Value) -> BadSchema {
    let (url, reason) = match error {
        CompileError::LoadUrlError { url, .. } | CompileError::UnsupportedUrlScheme { url } => {
            let url = without_base(url);
            return BadSchema {
                at: reference_to(schema, &url).unwrap_or_default(),
                reason: format!(
                    "refers to {url}, and nothing is loaded from elsewhere: put it into `$defs` of this schema"
                ),
            };
        }
        CompileError::ValidationError { url, src } => return invalid(url, src),
        CompileError::InvalidRegex { url, regex, src } => {
            (url.as_str(), bad_expression(regex, &src.to_string()))
        }
        CompileError::ParseIdError { loc } | CompileError::ParseAnchorError { loc } => {
            (loc.as_str(), "its name cannot be read".to_owned())
        }
        CompileError::Bug(source) => ("", format!("cannot be used: {source}")),
        other => (
            "",
            format!("cannot be used: {}", without_base(&other.to_string())),
        ),
    };
    BadSchema {
        at: pointer(url),
        reason,
    }
}

/// A text that names no place where no schema is.
fn without_base(text: &str) -> String {
    let bases = [ELSEWHERE, TRUSTED].map(|name| &name[..name.len() - "schema".len()]);
    bases
        .iter()
        .fold(text.to_owned(), |text, base| text.replace(base, ""))
}

/// Whether a schema is of 2020-12, as one is that does not say.
fn is_latest(schema: &Value) -> bool {
    let dialect = schema
        .get("$schema")
        .map(|dialect| dialect.as_str().unwrap_or_default());
    dialect.is_none_or(|dialect| {
        dialect.trim_end_matches('#') == "https://json-schema.org/draft/2020-12/schema"
    })
}

/// The last line of the reason says what is wrong; those before it show where with a row of carets.
fn bad_expression(expression: &str, why: &str) -> String {
    let why = why.lines().next_back().unwrap_or(why).trim();
    format!("the regular expression {expression:?} cannot be used: {why}")
}

/// A schema that does not conform to its dialect.
fn invalid(url: &str, error: &ValidationError<'_, '_>) -> BadSchema {
    let mut leaf = error;
    while let Some(cause) = leaf.causes.first() {
        leaf = cause;
    }
    let reason = match &leaf.kind {
        ErrorKind::Format {
            got: expression,
            want: "regex",
            err,
        } => bad_expression(expression.as_str().unwrap_or_default(), &err.to_string()),
        kind => format!("is no JSON Schema: {kind}"),
    };
    BadSchema {
        at: format!("{}{}", pointer(url), leaf.instance_location),
        reason,
    }
}

/// The JSON pointer in the fragment of an URL.
fn pointer(url: &str) -> String {
    let fragment = url.split_once('#').map_or("", |(_, fragment)| fragment);
    percent_decoded(fragment)
}

/// A text without the percent-encoding of an URL.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let decoded = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match decoded.filter(|_| byte == b'%') {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where a schema refers to this URL, by a pointer; `None` where it says so in other words.
fn reference_to(schema: &Value, url: &str) -> Option<String> {
    let below = |step: String, value: &Value| {
        reference_to(value, url).map(|pointer| format!("/{step}{pointer}"))
    };
    match schema {
        Value::Object(members) => members.iter().find_map(|(name, value)| match value {
            Value::String(text) if name.starts_with('$') && without_fragment(text) == url => {
                Some(format!("/{}", crate::config::escaped(name)))
            }
            value => below(crate::config::escaped(name), value),
        }),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| below(index.to_string(), item))
        }
        _ => None,
    }
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Schema;

    fn check_bad(schema: &Value, at: &str, reason: &str) {
        let error = Schema::compile(schema).expect_err("a bad schema");
        assert_eq!(error.at, at, "{error:?}");
        assert!(error.reason.contains(reason), "{error:?}");
    }

    #[test]
    fn what_is_no_schema_is_refused_with_its_place() {
        check_bad(&json!({"type": "strin"}), "/type", "one of \"null\"");
        check_bad(
            &json!({"properties": {"a b": {"minimum": "1"}}}),
            "/properties/a b/minimum",
            "has to be a number",
        );
        check_bad(
            &json!({"properties": {"a": {"pattern": "("}}}),
            "/properties/a/pattern",
            "the regular expression \"(\" cannot be used: error: unclosed group",
        );
    }

    #[test]
    fn an_earlier_dialect_is_checked_by_its_metaschema() {
        let dialect = "http://json-schema.org/draft-07/schema#";
        check_bad(
            &json!({"$schema": dialect, "items": 1}),
            "/items",
            "no JSON Schema",
        );
        check_bad(
            &json!({"$schema": dialect, "pattern": "("}),
            "/pattern",
            "regular expression",
        );
    }

    #[test]
    fn a_regular_expression_that_has_to_go_back_is_refused() {
        check_bad(
            &json!({"properties": {"a": {"pattern": "(a)\\1"}}}),
            "/properties/a/pattern",
            "backreferences are not supported",
        );
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        check_bad(
            &json!({"properties": {"a": {"$ref": "https://example.com/a.json#/x"}}}),
            "/properties/a/$ref",
            "https://example.com/a.json",
        );
        check_bad(
            &json!({"allOf": [{"$ref": "file:///etc/passwd"}]}),
            "/allOf/0/$ref",
            "$defs",
        );
        check_bad(&json!({"$ref": "other.json"}), "/$ref", "other.json");
        check_bad(
            &json!({"$schema": "https://example.com/dialect"}),
            "/$schema",
            "example.com",
        );
        check_bad(
            &json!({"$ref": "#/$defs/missing"}),
            "",
            "cannot be used: json-pointer in",
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_comes_to_an_end() {
        for schema in [json!({"$ref": "#"}), json!({"anyOf": [{"$ref": "#"}]})] {
            let schema = Schema::compile(&schema).expect("it can be compiled");
            assert!(schema.mistake(&json!({})).is_some());
        }
        let deep = (0..100).fold(json!(1), |inner, _| json!({ "a": [inner] }));
        let tree = json!({"properties": {"a": {"items": {"$ref": "#"}}}, "type": "object"});
        let tree = Schema::compile(&tree).expect("it can be compiled");
        assert!(tree.mistake(&deep).is_some());
    }

    #[test]
    fn references_within_formats_and_dialects_are_understood() {
        let schema = json!({
            "$defs": {"address": {"$anchor": "address", "type": "string", "format": "email"}},
            "properties": {"to": {"$ref": "#address"}, "tree": {"$ref": "#"}},
            "unevaluatedProperties": false,
        });
        let schema = Schema::compile(&schema).expect("a good schema");
        assert!(
            schema
                .mistake(&json!({"to": "a@b.example", "tree": {"to": "c@d.example"}}))
                .is_none()
        );
        for wrong in [json!({"to": "nobody"}), json!({"tree": {"tree": {"x": 1}}})] {
            assert!(schema.mistake(&wrong).is_some(), "{wrong}");
        }
        let draft7 = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]});
        let draft7 = Schema::compile(&draft7).expect("another dialect");
        assert!(draft7.mistake(&json!([1])).is_some());
    }
}
