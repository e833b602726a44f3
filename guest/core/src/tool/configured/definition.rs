//! What the client and its model are told about a configured tool.
//!
//! *Source:* MCP 2026-07-28, Tools, Data Types, Tool.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::config::{ConfigError, Members, Node};
use crate::tool::limits::TOOL_NAME_CHARS;

const HINTS: [&str; 5] = [
    "title",
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Definition<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a Value>,
}

/// The tool's name.
///
/// # Errors
/// Where it is missing or no name.
pub(super) fn name(members: &Members<'_>) -> Result<String, ConfigError> {
    let node = members.required("name")?;
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-');
    match node.value().as_str() {
        Some(name)
            if (1..=TOOL_NAME_CHARS).contains(&name.len()) && name.chars().all(is_allowed) =>
        {
            Ok(name.to_owned())
        }
        _ => Err(node.error(format!(
            "has to be a name of 1 to {TOOL_NAME_CHARS} letters, digits, `_`, `.` and `-`"
        ))),
    }
}

/// The tool as `tools/list` shows it.
///
/// # Errors
/// Where one of its words is missing or wrong.
pub(super) fn read(
    members: &Members<'_>,
    input: &RawValue,
    output: Option<&RawValue>,
) -> Result<Box<RawValue>, ConfigError> {
    let annotations = members.get("annotations");
    if let Some(node) = &annotations {
        check_annotations(node)?;
    }
    let definition = Definition {
        name: &name(members)?,
        title: members.optional("title", Node::words)?,
        description: members.required("description")?.words()?,
        input_schema: input,
        output_schema: output,
        annotations: annotations.as_ref().map(Node::value),
    };
    Ok(to_raw_value(&definition).expect("strings and JSON alone, whose serializers do not fail"))
}

fn check_annotations(node: &Node<'_>) -> Result<(), ConfigError> {
    for (name, hint) in node.members(&HINTS)?.all() {
        match name {
            "title" => {
                hint.words()?;
            }
            _ => {
                hint.switch()?;
            }
        }
    }
    Ok(())
}
