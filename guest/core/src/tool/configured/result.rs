//! What a call of a configured tool gives back.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::content;
use super::recorded::{Output, Recorded};
use super::schema::{Schema, Unfit};
use crate::imports::{Failure, Jobs};
use crate::json::{one_line, repeated};
use crate::text::{rendered, stdout_bytes, stdout_text};
use crate::tool::limits::{RESULT_BYTES, RESULT_STDOUT_BYTES, UNUSABLE_SHOWN_BYTES};
use crate::tool::quote::named;
use crate::tool::{Ended, RawResult, base64, raw, run};
use crate::wording;

/// The result of a job that has ended.
///
/// # Errors
/// [`Failure`] where the host could not read the output.
pub(crate) fn finished(
    jobs: &mut impl Jobs,
    tool: &Recorded,
    ended: Ended<'_>,
) -> Result<RawResult, Failure> {
    let Ended { id, outcome, .. } = ended;
    if !run::succeeded(outcome) {
        let text = run::finished(jobs, ended)?.text;
        return Ok(RawResult::of_text(&text, None).failed());
    }
    match &tool.output {
        Output::Text => Ok(RawResult::of_text(&stdout_text(jobs, id, outcome)?, None)),
        Output::Json => whole(jobs, ended, |bytes| from_json(tool, bytes)),
        Output::Content => whole(jobs, ended, |bytes| from_content(tool, bytes)),
        Output::Image { mime_type } => {
            whole(jobs, ended, |bytes| Ok(media("image", mime_type, bytes)))
        }
        Output::Audio { mime_type } => {
            whole(jobs, ended, |bytes| Ok(media("audio", mime_type, bytes)))
        }
        Output::Resource { uri, mime_type } => {
            whole(jobs, ended, |bytes| Ok(resource(uri, mime_type, bytes)))
        }
    }
}

/// The result that `made` makes of all that the job printed.
fn whole(
    jobs: &mut impl Jobs,
    ended: Ended<'_>,
    made: impl FnOnce(&[u8]) -> Result<RawResult, String>,
) -> Result<RawResult, Failure> {
    let Ended { id, outcome, .. } = ended;
    let Some(bytes) = stdout_bytes(jobs, id, outcome, RESULT_STDOUT_BYTES)? else {
        let shown = stdout_text(jobs, id, outcome)?;
        return Ok(unusable(ended, &not_whole(ended), shown.as_bytes()));
    };
    let made = made(&bytes).and_then(|result| match result.length() {
        length if length > RESULT_BYTES => Err(format!(
            "as a result it is {length} bytes of JSON, which is more than the {RESULT_BYTES} that are kept"
        )),
        _ => Ok(result),
    });
    Ok(made.unwrap_or_else(|reason| unusable(ended, &reason, &bytes)))
}

fn from_json(tool: &Recorded, bytes: &[u8]) -> Result<RawResult, String> {
    let (text, value) = read(bytes)?;
    conforms(tool, &value)?;
    let structured = one_line(text).ok_or("it is not JSON")?;
    Ok(RawResult {
        structured: Some(structured),
        ..RawResult::of_text(text.trim(), None)
    })
}

/// What a command may print that makes its whole result.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Printed<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(default, borrow, deserialize_with = "crate::rpc::members::present")]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: bool,
}

fn from_content(tool: &Recorded, bytes: &[u8]) -> Result<RawResult, String> {
    let (text, value) = read(bytes)?;
    if value.is_array() {
        content::check(&value)?;
        is_structured(tool, None)?;
        return Ok(RawResult {
            content: one_line(text).ok_or("it is not JSON")?,
            structured: None,
            is_error: false,
        });
    }
    let printed: Printed<'_> = serde_json::from_str(text.trim()).map_err(|error| {
        format!(
            "it is neither an array of content blocks nor an object with `content`, and perhaps \
             `structuredContent` and `isError`: {error}"
        )
    })?;
    content::check(&value["content"])?;
    if !printed.is_error {
        is_structured(tool, value.get("structuredContent"))?;
    }
    let line = |json: &RawValue| one_line(json.get()).ok_or("it is not JSON");
    Ok(RawResult {
        content: line(printed.content)?,
        structured: printed.structured_content.map(line).transpose()?,
        is_error: printed.is_error,
    })
}

/// Whether structured content is there where it has to be, and right.
fn is_structured(tool: &Recorded, structured: Option<&Value>) -> Result<(), String> {
    match (structured, &tool.output_schema) {
        (Some(value), _) => conforms(tool, value),
        (None, Some(_)) => Err(
            "`structuredContent` is missing, which the tool's `outputSchema` describes".to_owned(),
        ),
        (None, None) => Ok(()),
    }
}

/// A text as JSON. It is passed on as it was written, so that no two readers may find different things in it.
fn read(bytes: &[u8]) -> Result<(&str, Value), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
    let value = serde_json::from_str(text).map_err(|error| match text.trim() {
        "" => "it is empty and not JSON".to_owned(),
        _ => format!("it is not one JSON value: {error}"),
    })?;
    match repeated(text) {
        None => Ok((text, value)),
        Some(place) => Err(format!(
            "it is JSON in which the member `{}` stands twice in its object",
            named(&place)
        )),
    }
}

fn conforms(tool: &Recorded, value: &Value) -> Result<(), String> {
    let Some(schema) = &tool.output_schema else {
        return Ok(());
    };
    let schema = serde_json::from_str(schema.get())
        .ok()
        .and_then(|schema| Schema::compile(&schema).ok())
        .ok_or("the tool's `outputSchema` was damaged in the task's record")?;
    schema.check(value, "the value").map_err(|unfit| match unfit {
        Unfit::Wrong(words) => {
            format!("it does not conform to the tool's `outputSchema`: {words}")
        }
        Unfit::TooMuch => {
            "it has too many parts to be held against the tool's `outputSchema`: print less of it at once, or have it \
             written to a file"
                .to_owned()
        }
    })
}

fn media(kind: &str, mime_type: &str, bytes: &[u8]) -> RawResult {
    block(&json!({ "type": kind, "data": base64::encode(bytes), "mimeType": mime_type }))
}

fn resource(uri: &str, mime_type: &str, bytes: &[u8]) -> RawResult {
    let mut resource = json!({ "uri": uri, "mimeType": mime_type });
    match std::str::from_utf8(bytes) {
        Ok(text) if is_textual(mime_type) => resource["text"] = text.into(),
        _ => resource["blob"] = base64::encode(bytes).into(),
    }
    block(&json!({ "type": "resource", "resource": resource }))
}

/// Whether what has this MIME type is for reading. Parameters such as `charset` do not decide.
fn is_textual(mime_type: &str) -> bool {
    const OTHERS: [&str; 9] = [
        "application/json",
        "application/xml",
        "application/javascript",
        "application/ecmascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/sql",
        "application/x-sh",
    ];
    let essence = mime_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    essence.starts_with("text/")
        || essence.ends_with("+json")
        || essence.ends_with("+xml")
        || essence.ends_with("+yaml")
        || OTHERS.contains(&essence.as_str())
}

fn block(block: &Value) -> RawResult {
    RawResult {
        content: raw(&json!([block])),
        structured: None,
        is_error: false,
    }
}

/// Why the output of a job is not there whole.
fn not_whole(ended: Ended<'_>) -> String {
    let written = ended.outcome.output_bytes;
    match ended.outcome.dropped_bytes {
        0 => format!(
            "it is too long: at most {RESULT_STDOUT_BYTES} bytes of stdout make a result, and the command wrote \
             {written} bytes in all"
        ),
        dropped => format!(
            "{dropped} of the {written} bytes that the command wrote were not kept, as there were too many"
        ),
    }
}

/// The result of a command that succeeded and printed what cannot be its result.
fn unusable(ended: Ended<'_>, reason: &str, bytes: &[u8]) -> RawResult {
    let beginning = &bytes[..bytes.len().min(UNUSABLE_SHOWN_BYTES)];
    let shown = rendered(beginning);
    let shown = match shown.trim_end() {
        "" => "It printed nothing that can be seen.".to_owned(),
        shown if bytes.len() > UNUSABLE_SHOWN_BYTES => format!("It printed, and more:\n{shown}"),
        shown => format!("It printed:\n{shown}"),
    };
    let end = wording::end(ended.outcome, None, ended.about);
    let text = format!("{end}, but what the command printed cannot be used: {reason}\n\n{shown}");
    RawResult::of_text(&text, None).failed()
}

#[cfg(test)]
mod tests;
