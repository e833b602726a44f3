//! From text to a request, a notification or a response, without looking into `params`.
//!
//! Members are kept as the text they were sent in, so that a message costs one pass and few copies
//! however large its parameters are.

use serde::de::{Error as _, IgnoredAny};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::RpcError;
use super::members::present;

/// A request's id: a string or an integer of any size, nothing else.
///
/// Kept as JSON text. An integer is never calculated with, so it comes back as it was sent, also where it fits no
/// type; a string is always written alike, however the client escaped it.
///
/// *Source:* MCP 2026-07-28, Base Protocol, Requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Id(String);

impl Id {
    /// Reads an id; `None` where it is neither a string nor an integer.
    pub(crate) fn parse(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if is_integer(text) {
            return Some(Self(text.to_owned()));
        }
        let string: String = serde_json::from_str(text).ok()?;
        Some(Self(Value::from(string).to_string()))
    }

    /// The id as JSON text.
    pub(crate) fn to_json(&self) -> String {
        self.0.clone()
    }
}

/// Whether a JSON value is a number without fraction and exponent.
fn is_integer(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(&raw).ok_or_else(|| D::Error::custom("an id is a string or an integer"))
    }
}

/// A message that asks for a reply.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// What the reply carries.
    pub(crate) id: Id,
    /// The method's name.
    pub(crate) method: String,
    /// The parameters, known to be an object; `None` where there are none.
    pub(crate) params: Option<&'a RawValue>,
}

/// A message that never gets a reply.
#[derive(Debug)]
pub(crate) struct Notification<'a> {
    /// The method's name.
    pub(crate) method: String,
    /// The parameters, whatever they are.
    pub(crate) params: Option<&'a RawValue>,
}

/// What a client can send.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// A request.
    Request(Request<'a>),
    /// A notification.
    Notification(Notification<'a>),
    /// A response, to a request that this server never sends.
    Response,
}

/// A text that is no message, and the id to answer under where one could be read.
#[derive(Debug)]
pub(crate) struct Rejected {
    /// The id; `None` where it is missing or unreadable.
    pub(crate) id: Option<Id>,
    /// What is wrong.
    pub(crate) error: RpcError,
}

/// The members of any JSON-RPC message.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Reads one message.
///
/// # Errors
/// [`RpcError::NotJson`] and [`RpcError::WrongShape`], with the id where it could be read.
pub(crate) fn parse(body: &str) -> Result<Incoming<'_>, Rejected> {
    let envelope = envelope(body).map_err(|error| Rejected { id: None, error })?;
    if envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some()) {
        return Ok(Incoming::Response);
    }
    let id = envelope.id.and_then(Id::parse);
    classify(&envelope, id.clone()).map_err(|detail| Rejected {
        id,
        error: RpcError::WrongShape(detail),
    })
}

/// Reads the members. serde's derived code would take an array for a struct, so the bracket is checked.
fn envelope(body: &str) -> Result<Envelope<'_>, RpcError> {
    if !body.trim_start().starts_with('{') {
        return Err(match serde_json::from_str::<IgnoredAny>(body) {
            Ok(_) => {
                RpcError::WrongShape("a message is one JSON object, batches are not supported")
            }
            Err(error) => RpcError::NotJson(error.to_string()),
        });
    }
    serde_json::from_str(body).map_err(|error| match error.classify() {
        // A duplicate member is noticed before the text behind it is read.
        Category::Data => match serde_json::from_str::<IgnoredAny>(body) {
            Ok(_) => RpcError::WrongShape("a member is given twice"),
            Err(error) => RpcError::NotJson(error.to_string()),
        },
        Category::Io | Category::Syntax | Category::Eof => RpcError::NotJson(error.to_string()),
    })
}

fn classify<'a>(envelope: &Envelope<'a>, id: Option<Id>) -> Result<Incoming<'a>, &'static str> {
    let version = envelope
        .jsonrpc
        .map(|raw| serde_json::from_str::<String>(raw.get()));
    if !matches!(version, Some(Ok(text)) if text == "2.0") {
        return Err("`jsonrpc` has to be \"2.0\"");
    }
    let Some(method) = envelope.method else {
        return Err("`method` is missing");
    };
    let Ok(method) = serde_json::from_str::<String>(method.get()) else {
        return Err("`method` has to be a string");
    };
    let params = envelope.params;
    if envelope.id.is_none() {
        return Ok(Incoming::Notification(Notification { method, params }));
    }
    let Some(id) = id else {
        return Err("`id` has to be a string or an integer");
    };
    if params.is_some_and(|raw| !raw.get().starts_with('{')) {
        return Err("`params` has to be an object");
    }
    Ok(Incoming::Request(Request { id, method, params }))
}
