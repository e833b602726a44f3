//! What of a configured tool is written into the record of a task, so that its result never depends on how the server
//! is configured that makes it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How the result of a job is made.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Recorded {
    /// The tool's name.
    pub(crate) name: String,
    /// What its output is.
    pub(crate) output: Output,
    /// What structured content has to conform to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output_schema: Option<Box<RawValue>>,
}

/// What the standard output of a command is that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Output {
    /// Text for a reader.
    Text,
    /// One JSON value.
    Json,
    /// The content blocks of the result.
    Content,
    /// The bytes of an image.
    Image {
        /// Of this type.
        mime_type: String,
    },
    /// The bytes of a sound.
    Audio {
        /// Of this type.
        mime_type: String,
    },
    /// The content of a resource.
    Resource {
        /// Which has this name.
        uri: String,
        /// And this type.
        mime_type: String,
    },
}
