//! What every request says of its client in `params._meta`.
//!
//! *Source:* MCP 2026-07-28, Base Protocol, `_meta`.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::input::Modes;
use crate::rpc::members::{object, present, string};
use crate::rpc::{Id, Request, RpcError};

/// The revision that this server speaks.
pub(crate) const PROTOCOL_VERSION: &str = "2026-07-28";

/// The Tasks extension.
///
/// *Source:* SEP-2663, Extension Identifier.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Whether a client understands tasks; said anew with every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Client {
    /// The request declares the Tasks extension.
    Tasks,
    /// It does not, and must never be answered with a task.
    Plain,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    _meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(
        default,
        borrow,
        deserialize_with = "present",
        rename = "io.modelcontextprotocol/protocolVersion"
    )]
    version: Option<&'a RawValue>,
    #[serde(
        default,
        borrow,
        deserialize_with = "present",
        rename = "io.modelcontextprotocol/clientInfo"
    )]
    info: Option<&'a RawValue>,
    #[serde(
        default,
        borrow,
        deserialize_with = "present",
        rename = "io.modelcontextprotocol/clientCapabilities"
    )]
    capabilities: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Progress<'a> {
    #[serde(
        default,
        borrow,
        deserialize_with = "present",
        rename = "progressToken"
    )]
    token: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Capabilities<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    extensions: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    elicitation: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Elicitation<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    form: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    url: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Extensions<'a> {
    #[serde(
        default,
        borrow,
        deserialize_with = "present",
        rename = "io.modelcontextprotocol/tasks"
    )]
    tasks: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Anything {}

/// What a request says of the client that sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<'a> {
    /// Whether it understands tasks.
    pub(crate) client: Client,
    elicitation: Option<&'a RawValue>,
}

/// Reads the request's `_meta`, then checks the revision.
///
/// # Errors
/// [`RpcError::InvalidParams`] that names the missing or ill-typed member,
/// [`RpcError::UnsupportedVersion`].
pub(crate) fn declared<'a>(request: &Request<'a>) -> Result<Declared<'a>, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    let meta: Meta<'_> = object("params._meta", params._meta)?;
    let version = string("io.modelcontextprotocol/protocolVersion", meta.version)?;
    if meta.info.is_some() {
        object::<Anything>("io.modelcontextprotocol/clientInfo", meta.info)?;
    }
    let capabilities: Capabilities<'_> = object(
        "io.modelcontextprotocol/clientCapabilities",
        meta.capabilities,
    )?;
    if version != PROTOCOL_VERSION {
        return Err(RpcError::UnsupportedVersion(version));
    }
    Ok(Declared {
        client: client(&capabilities)?,
        elicitation: capabilities.elicitation,
    })
}

/// What the client calls the progress of a request that it wants to hear of; `None` where it does not. A string or an
/// integer, as a request's id.
///
/// # Errors
/// [`RpcError::InvalidParams`] where it is anything else.
///
/// *Source:* MCP 2026-07-28, Progress.
pub(crate) fn progress_token(request: &Request<'_>) -> Result<Option<Id>, RpcError> {
    let params: Params<'_> = object("params", request.params)?;
    let meta: Progress<'_> = object("params._meta", params._meta)?;
    let Some(token) = meta.token else {
        return Ok(None);
    };
    let wrong =
        || RpcError::InvalidParams("`progressToken` has to be a string or an integer".to_owned());
    Id::parse(token).ok_or_else(wrong).map(Some)
}

fn client(capabilities: &Capabilities<'_>) -> Result<Client, RpcError> {
    if capabilities.extensions.is_none() {
        return Ok(Client::Plain);
    }
    let extensions: Extensions<'_> =
        object("clientCapabilities.extensions", capabilities.extensions)?;
    match extensions.tasks {
        Some(settings) if settings.get().starts_with('{') => Ok(Client::Tasks),
        _ => Ok(Client::Plain),
    }
}

impl Declared<'_> {
    /// How the client can ask its person. Read only where there is something to ask: most requests need it not.
    ///
    /// *Source:* MCP 2026-07-28, Elicitation, Capabilities.
    ///
    /// # Errors
    /// [`RpcError::InvalidParams`] that names the ill-typed member.
    pub(crate) fn modes(self) -> Result<Modes, RpcError> {
        // Anything else declares nothing.
        let declared = |raw: &&RawValue| raw.get().starts_with('{');
        let Some(raw) = self.elicitation.filter(declared) else {
            return Ok(Modes::default());
        };
        let name = "clientCapabilities.elicitation";
        if object::<BTreeMap<String, IgnoredAny>>(name, Some(raw))?.is_empty() {
            return Ok(Modes {
                form: true,
                url: false,
            });
        }
        let elicitation: Elicitation<'_> = object(name, Some(raw))?;
        Ok(Modes {
            form: elicitation.form.is_some_and(|raw| declared(&raw)),
            url: elicitation.url.is_some_and(|raw| declared(&raw)),
        })
    }
}
