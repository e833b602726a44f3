//! Which tool a `tools/call` is for, and what it asks that tool to do.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call_tool::Call;
use crate::config::Config;
use crate::json::repeated;
use crate::limits::{ARGUMENTS_BYTES, LISTED_TOOLS};
use crate::meta::Client;
use crate::rpc::RpcError;
use crate::rpc::members::{object, present, string};
use crate::text::echoed;
use crate::tool::configured::Tool;
use crate::tool::given::{Given, Unreadable};
use crate::tool::run::{Arguments, Policy};
use crate::tool::{Mode, Wanted};

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    /// `null` counts as none, as some models write it for a tool's optional parts.
    #[serde(default, borrow)]
    arguments: Option<&'a RawValue>,
}

/// The tool that is called.
#[derive(Clone, Copy)]
pub(super) enum Called<'a> {
    Run(&'a Policy),
    Configured(&'a Tool),
}

/// The tool that a call is for.
///
/// # Errors
/// [`RpcError::InvalidParams`] where there is no such tool or the parameters cannot be read, and
/// [`RpcError::TaskRequired`] where its client cannot call the tool.
pub(super) fn called<'a>(config: &'a Config, call: Call<'_>) -> Result<Called<'a>, RpcError> {
    let params: Params<'_> = object("params", call.request.params)?;
    let called = find(config, &string("name", params.name)?)?;
    if called.mode() == Mode::Required && call.client == Client::Plain {
        return Err(RpcError::TaskRequired);
    }
    Ok(called)
}

/// The tool of this name.
fn find<'a>(config: &'a Config, name: &str) -> Result<Called<'a>, RpcError> {
    let catalogue = &config.catalogue;
    let run = catalogue.run.as_ref().filter(|_| name == "run");
    let found = match run {
        Some(policy) => Some(Called::Run(policy)),
        None => catalogue.tool(name).map(Called::Configured),
    };
    found.ok_or_else(|| {
        let name = echoed(name);
        let listed: Vec<&str> = catalogue.names().take(LISTED_TOOLS).collect();
        let tools = match listed.as_slice() {
            [] => "there are no tools".to_owned(),
            listed => format!("the tools are: {}", listed.join(", ")),
        };
        RpcError::InvalidParams(format!("unknown tool: {name}, {tools}"))
    })
}

impl<'a> Called<'a> {
    /// Its name.
    pub(super) fn name(self) -> &'a str {
        match self {
            Self::Run(_) => "run",
            Self::Configured(tool) => &tool.name,
        }
    }

    /// How its calls are answered.
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::Run(_) => Mode::Auto,
            Self::Configured(tool) => tool.mode,
        }
    }

    /// The arguments of a call as they came; the text that tells the model what cannot be read of them otherwise.
    ///
    /// # Errors
    /// [`RpcError::InvalidParams`] where they are no object.
    pub(super) fn arguments(self, call: Call<'_>) -> Result<Result<Given, String>, RpcError> {
        let params: Params<'_> = object("params", call.request.params)?;
        let Some(raw) = params.arguments else {
            return Ok(Ok(Given::default()));
        };
        let arguments = object::<BTreeMap<String, &RawValue>>("arguments", Some(raw))?;
        Ok(match repeated(raw.get()) {
            Some(argument) => Err(self.repeated(argument)),
            None => Given::read(arguments)
                .map_err(|unreadable| self.unreadable(unreadable))
                .and_then(|given| self.measured(given)),
        })
    }

    /// The same arguments, and what holds for those that were not given.
    pub(super) fn with_defaults(self, given: Given) -> Given {
        match self {
            // The defaults of `run` are its policy's.
            Self::Run(_) => given,
            Self::Configured(tool) => tool.with_defaults(given),
        }
    }

    /// The same arguments, where they are not too long to be looked at any further; the text that tells the model so
    /// otherwise. Measures the JSON and not the strings: one control character is six bytes in a record. A number counts
    /// as it is passed on: of a few bytes of value there may be any number of digits.
    pub(super) fn measured(self, arguments: Given) -> Result<Given, String> {
        let length = |(name, value): (&String, &Value)| match arguments.written(name) {
            Some(written) => written.len(),
            None => value.to_string().len(),
        };
        let bytes: usize = arguments.values.iter().map(length).sum();
        if bytes <= ARGUMENTS_BYTES {
            return Ok(arguments);
        }
        Err(match self {
            Self::Run(_) => Arguments::too_long(bytes),
            Self::Configured(tool) => tool.too_long(bytes),
        })
    }

    /// What a call with these arguments asks for; the text that tells the model what is wrong with them otherwise.
    pub(super) fn wanted(self, arguments: &Given) -> Result<Wanted, String> {
        match self {
            Self::Run(policy) => {
                Arguments::parse(Some(&arguments.values), policy).map(Wanted::of_run)
            }
            Self::Configured(tool) => tool.wanted(arguments),
        }
    }

    fn repeated(self, argument: String) -> String {
        match self {
            Self::Run(_) => Arguments::repeated(argument),
            Self::Configured(tool) => tool.repeated(&argument),
        }
    }

    fn unreadable(self, unreadable: Unreadable) -> String {
        let Unreadable { argument, why } = unreadable;
        match self {
            Self::Run(_) => Arguments::unreadable(argument, why),
            Self::Configured(tool) => tool.unreadable(&argument, &why),
        }
    }
}
