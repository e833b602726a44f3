//! What a configured tool says its output is.

use serde_json::Value;
use serde_json::value::RawValue;

use super::arguments::{Input, schema_at};
use super::command::Reading;
use super::recorded::{Output, Recorded};
use super::schema::Schema;
use super::template::Template;
use crate::config::{ConfigError, Members, Node};
use crate::text::{as_path, is_scheme};
use crate::tool::given::Given;

/// What the output of a tool is, before a call fills its templates.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    form: Form,
    schema: Option<Box<RawValue>>,
}

#[derive(Clone, Debug)]
enum Form {
    /// This, whatever the arguments are.
    Fixed(Output),
    /// A resource, whose name has arguments in it.
    Resource { uri: Template, mime_type: String },
}

impl Kind {
    /// Reads `output` and `outputSchema`.
    ///
    /// # Errors
    /// Where one of them is wrong.
    pub(super) fn read(
        members: &Members<'_>,
        verbatim: Option<&RawValue>,
        input: &Input,
    ) -> Result<Self, ConfigError> {
        let form = match members.get("output") {
            None => Form::Fixed(Output::Text),
            Some(node) => form(&node, input)?,
        };
        let Some(node) = members.get("outputSchema") else {
            return Ok(Self { form, schema: None });
        };
        if !matches!(form, Form::Fixed(Output::Json | Output::Content)) {
            return Err(node.error("is for an `output` of \"json\" or \"content\" only"));
        }
        let (schema, listed) = schema_at(&node, verbatim)?;
        Schema::compile(&schema).map_err(|bad| bad.at_node(&node))?;
        Ok(Self {
            form,
            schema: Some(listed),
        })
    }

    /// Whether it is what a terminal would show, and nothing else.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.form, Form::Fixed(Output::Text))
    }

    /// The schema as it is listed.
    pub(super) fn schema(&self) -> Option<&RawValue> {
        self.schema.as_deref()
    }

    /// What is recorded for a call of the tool of this name; `None` where an argument in the name of its resource is
    /// absent.
    pub(super) fn for_call(&self, name: &str, arguments: &Given) -> Option<Recorded> {
        let output = match &self.form {
            Form::Fixed(output) => output.clone(),
            Form::Resource { uri, mime_type } => Output::Resource {
                uri: uri.render_as(arguments, |_, text| as_path(text))?,
                mime_type: mime_type.clone(),
            },
        };
        Some(Recorded {
            name: name.to_owned(),
            output,
            output_schema: self.schema.clone(),
        })
    }
}

fn form(node: &Node<'_>, input: &Input) -> Result<Form, ConfigError> {
    const EXPECTED: &str = "has to be \"text\", \"json\", \"content\", or a table with a `type` of \"image\", \
        \"audio\" or \"resource\"";
    match node.value() {
        Value::String(name) => Ok(Form::Fixed(match name.as_str() {
            "text" => Output::Text,
            "json" => Output::Json,
            "content" => Output::Content,
            "image" | "audio" | "resource" => {
                return Err(node.error(format!(
                    "needs a type of its content: write {{ type = \"{name}\", mimeType = … }}"
                )));
            }
            _ => return Err(node.error(EXPECTED)),
        })),
        Value::Object(_) => table(node, input),
        _ => Err(node.error(EXPECTED)),
    }
}

fn table(node: &Node<'_>, input: &Input) -> Result<Form, ConfigError> {
    let members = node.members(&["type", "mimeType", "uri"])?;
    let kind = members.required("type")?;
    let mime_type = mime_type(&members.required("mimeType")?)?;
    let uri = members.get("uri");
    match (kind.value().as_str(), uri) {
        (Some("image"), None) => Ok(Form::Fixed(Output::Image { mime_type })),
        (Some("audio"), None) => Ok(Form::Fixed(Output::Audio { mime_type })),
        (Some("image" | "audio"), Some(uri)) => Err(uri.error("is for a resource only")),
        (Some("resource"), None) => Err(members.error_here("`uri` is missing")),
        (Some("resource"), Some(node)) => {
            let uri = uri_template(&node, input)?;
            Ok(Form::Resource { uri, mime_type })
        }
        _ => Err(kind.error("has to be \"image\", \"audio\" or \"resource\"")),
    }
}

fn mime_type(node: &Node<'_>) -> Result<String, ConfigError> {
    let text = node.line()?;
    let is_type = text
        .split_once('/')
        .is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
    match is_type {
        true => Ok(text.to_owned()),
        false => Err(node.error("has to be a MIME type, for example \"image/png\"")),
    }
}

/// The name of a resource. Every argument in it has to be required: without it, the resource would have no name.
fn uri_template(node: &Node<'_>, input: &Input) -> Result<Template, ConfigError> {
    let reading = Reading {
        base: None,
        known: input.names(),
    };
    let template = reading.template(node)?;
    if let Some(name) = template.arguments().find(|name| !input.requires(name)) {
        let reason = format!(
            "has `{{{name}}}` in it, so `inputSchema` has to have `{name}` in its `required`"
        );
        return Err(node.error(reason));
    }
    let scheme = template
        .beginning()
        .split_once(':')
        .map(|(scheme, _)| scheme);
    match scheme.is_some_and(is_scheme) {
        true => Ok(template),
        false => Err(node.error(
            "has to be a URI that begins with its scheme, for example \"report:///{name}\"",
        )),
    }
}
