//! Content blocks that a command prints itself, checked before they are passed on.
//!
//! *Source:* MCP 2026-07-28, Tools, Data Types, Tool Result.

use serde_json::{Map, Value};

use crate::tool::base64;
use crate::tool::quote::quoted;

/// The annotations of a block.
const AUDIENCE: [&str; 2] = ["user", "assistant"];

/// Checks an array of content blocks.
///
/// # Errors
/// In words: the first thing that a client could not read, with its place.
pub(super) fn check(blocks: &Value) -> Result<(), String> {
    let Value::Array(blocks) = blocks else {
        return Err("`content` is no array".to_owned());
    };
    for (index, block) in blocks.iter().enumerate() {
        let block = Block {
            members: block
                .as_object()
                .ok_or_else(|| format!("`content[{index}]` is no object"))?,
            place: format!("content[{index}]"),
        };
        block.check()?;
    }
    Ok(())
}

/// An object somewhere in the content.
struct Block<'a> {
    members: &'a Map<String, Value>,
    place: String,
}

impl<'a> Block<'a> {
    fn check(&self) -> Result<(), String> {
        match self.required_text("type")? {
            "text" => {
                self.required_text("text")?;
            }
            "image" | "audio" => {
                self.required_text("mimeType")?;
                self.base64("data")?;
            }
            "resource_link" => {
                self.required_text("uri")?;
                self.required_text("name")?;
                self.texts(["title", "description", "mimeType"])?;
            }
            "resource" => self
                .below("resource")?
                .ok_or_else(|| self.lacks("resource"))?
                .resource()?,
            _ => {
                let given = quoted(&self.members["type"]);
                return Err(format!(
                    "`{}.type` is {given}, it has to be text, image, audio, resource_link or resource",
                    self.place
                ));
            }
        }
        self.annotations()
    }

    fn resource(&self) -> Result<(), String> {
        self.required_text("uri")?;
        self.texts(["mimeType"])?;
        match (self.members.get("text"), self.members.get("blob")) {
            (Some(_), None) => self.required_text("text").map(|_| ()),
            (None, Some(_)) => self.base64("blob"),
            _ => Err(format!("`{}` needs one of `text` and `blob`", self.place)),
        }
    }

    fn annotations(&self) -> Result<(), String> {
        self.below("_meta")?;
        let Some(annotations) = self.below("annotations")? else {
            return Ok(());
        };
        annotations.texts(["lastModified"])?;
        let is_priority =
            |value: &Value| value.as_f64().is_some_and(|it| (0.0..=1.0).contains(&it));
        let is_role = |value: &Value| value.as_str().is_some_and(|it| AUDIENCE.contains(&it));
        let is_audience = |value: &Value| value.as_array().is_some_and(|it| it.iter().all(is_role));
        annotations.member("priority", is_priority, "a number from 0 to 1")?;
        annotations.member(
            "audience",
            is_audience,
            "an array of \"user\" and \"assistant\"",
        )
    }

    fn required_text(&self, name: &str) -> Result<&'a str, String> {
        match self.members.get(name) {
            None => Err(self.lacks(name)),
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(self.wrong(name, "a string")),
        }
    }

    fn texts<const N: usize>(&self, names: [&str; N]) -> Result<(), String> {
        let mut names = names.iter();
        names.try_for_each(|name| self.member(name, Value::is_string, "a string"))
    }

    fn base64(&self, name: &str) -> Result<(), String> {
        match self.required_text(name)? {
            text if base64::is_valid(text) => Ok(()),
            _ => Err(self.wrong(name, "base64 with its padding, on one line")),
        }
    }

    /// A member that may be missing.
    fn member(
        &self,
        name: &str,
        is_right: impl Fn(&Value) -> bool,
        expected: &str,
    ) -> Result<(), String> {
        match self.members.get(name) {
            Some(value) if !is_right(value) => Err(self.wrong(name, expected)),
            _ => Ok(()),
        }
    }

    fn below(&self, name: &str) -> Result<Option<Block<'a>>, String> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(Block {
                members,
                place: format!("{}.{name}", self.place),
            })),
            Some(_) => Err(self.wrong(name, "an object")),
        }
    }

    fn lacks(&self, name: &str) -> String {
        format!("`{}.{name}` is missing", self.place)
    }

    fn wrong(&self, name: &str, expected: &str) -> String {
        format!("`{}.{name}` has to be {expected}", self.place)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    fn check_wrong(block: &Value, expect: &str) {
        let error = check(&json!([block])).expect_err("a block that no client could read");
        assert!(error.contains(expect), "{block}: {error}");
    }

    #[test]
    fn the_blocks_of_the_protocol_pass() {
        let blocks = json!([
            {"type": "text", "text": ""},
            {"type": "image", "data": "Zm8=", "mimeType": "image/png", "_meta": {"k": 1}},
            {"type": "audio", "data": "", "mimeType": "audio/wav", "annotations": {"audience": ["user"], "priority": 1}},
            {"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "t", "mimeType": "text/plain"}},
            {"type": "resource", "resource": {"uri": "file:///a", "blob": "Zg=="}},
        ]);
        assert_eq!(check(&blocks), Ok(()));
        assert_eq!(check(&json!([])), Ok(()));
    }

    #[test]
    fn a_block_that_no_client_could_read_is_refused() {
        assert!(check(&json!({})).is_err());
        check_wrong(&json!("text"), "content[0]");
        check_wrong(&json!({"text": "t"}), "`content[0].type` is missing");
        check_wrong(&json!({"type": "video"}), "\"video\"");
        check_wrong(&json!({"type": "text"}), "`content[0].text` is missing");
        check_wrong(&json!({"type": "text", "text": 1}), "has to be a string");
        check_wrong(
            &json!({"type": "image", "data": "Zg==", "mimeType": null}),
            "mimeType",
        );
        check_wrong(
            &json!({"type": "image", "data": "Zg", "mimeType": "image/png"}),
            "base64",
        );
        check_wrong(
            &json!({"type": "audio", "mimeType": "audio/wav"}),
            "`content[0].data` is missing",
        );
        check_wrong(
            &json!({"type": "resource_link", "uri": "u"}),
            "`content[0].name` is missing",
        );
        check_wrong(
            &json!({"type": "resource"}),
            "`content[0].resource` is missing",
        );
        check_wrong(
            &json!({"type": "resource", "resource": {"text": "t"}}),
            "content[0].resource.uri",
        );
        check_wrong(
            &json!({"type": "resource", "resource": {"uri": "u"}}),
            "one of `text` and `blob`",
        );
        check_wrong(
            &json!({"type": "resource", "resource": {"uri": "u", "blob": "?"}}),
            "base64",
        );
        check_wrong(
            &json!({"type": "text", "text": "", "annotations": {"priority": 2}}),
            "priority",
        );
        check_wrong(
            &json!({"type": "text", "text": "", "annotations": {"audience": ["me"]}}),
            "audience",
        );
    }
}
