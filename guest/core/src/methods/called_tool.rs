//! Which tool a `tools/call` is for, and what it asks that tool to do.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::call_tool::Call;
use crate::config::Config;
use crate::limits::{ECHOED_CHARS, LISTED_TOOLS};
use crate::meta::Client;
use crate::rpc::RpcError;
use crate::rpc::members::{object, present, read, repeated, string};
use crate::text::shorten;
use crate::tool::configured::Tool;
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

/// The argument of `run` that is an object itself.
#[derive(Deserialize)]
struct Inner<'a> {
    #[serde(default, borrow)]
    env: Option<&'a RawValue>,
}

/// The tool that is called.
#[derive(Clone, Copy)]
enum Called<'a> {
    Run(&'a Policy),
    Configured(&'a Tool),
}

/// What a call asks for, and how it is answered; or the text that tells the model what is wrong with its arguments.
///
/// # Errors
/// [`RpcError::InvalidParams`] where there is no such tool or the parameters cannot be read, and
/// [`RpcError::TaskRequired`] where its client cannot call the tool.
pub(super) fn wanted(
    config: &Config,
    call: Call<'_>,
) -> Result<Result<(Wanted, Mode), String>, RpcError> {
    let params: Params<'_> = object("params", call.request.params)?;
    let called = called(config, &string("name", params.name)?)?;
    let mode = called.mode();
    if mode == Mode::Required && call.client == Client::Plain {
        return Err(RpcError::TaskRequired);
    }
    let Some(raw) = params.arguments else {
        return Ok(called.wanted(None).map(|wanted| (wanted, mode)));
    };
    let arguments = object::<BTreeMap<String, &RawValue>>("arguments", Some(raw))?;
    let wanted = match called.given_twice(raw) {
        Some(argument) => Err(called.repeated(argument)),
        None => called
            .values(arguments)
            .and_then(|arguments| called.wanted(Some(&arguments))),
    };
    Ok(wanted.map(|wanted| (wanted, mode)))
}

/// The tool of this name.
fn called<'a>(config: &'a Config, name: &str) -> Result<Called<'a>, RpcError> {
    let catalogue = &config.catalogue;
    let run = catalogue.run.as_ref().filter(|_| name == "run");
    let found = match run {
        Some(policy) => Some(Called::Run(policy)),
        None => catalogue.tool(name).map(Called::Configured),
    };
    found.ok_or_else(|| {
        let name = shorten(name, ECHOED_CHARS);
        let listed: Vec<&str> = catalogue.names().take(LISTED_TOOLS).collect();
        let tools = match listed.as_slice() {
            [] => "there are no tools".to_owned(),
            listed => format!("the tools are: {}", listed.join(", ")),
        };
        RpcError::InvalidParams(format!("unknown tool: {name}, {tools}"))
    })
}

impl Called<'_> {
    fn mode(self) -> Mode {
        match self {
            Self::Run(_) => Mode::Auto,
            Self::Configured(tool) => tool.mode,
        }
    }

    fn wanted(self, arguments: Option<&Map<String, Value>>) -> Result<Wanted, String> {
        match self {
            Self::Run(policy) => Arguments::parse(arguments, policy).map(Wanted::of_run),
            Self::Configured(tool) => tool.wanted(arguments),
        }
    }

    /// The arguments as values; the text that tells the model which one cannot be read otherwise.
    fn values(self, arguments: BTreeMap<String, &RawValue>) -> Result<Map<String, Value>, String> {
        let read = |(name, raw)| match read(raw) {
            Ok(value) => Ok((name, value)),
            Err(why) => Err(self.unreadable(name, why)),
        };
        arguments.into_iter().map(read).collect()
    }

    /// The first argument, or variable in the `env` of `run`, that is given twice.
    fn given_twice(self, arguments: &RawValue) -> Option<String> {
        if let Some(name) = repeated(arguments) {
            return Some(name);
        }
        let Self::Run(_) = self else {
            return None;
        };
        let inner: Inner<'_> = serde_json::from_str(arguments.get()).ok()?;
        Some(format!("env.{}", repeated(inner.env?)?))
    }

    fn repeated(self, argument: String) -> String {
        match self {
            Self::Run(_) => Arguments::repeated(argument),
            Self::Configured(tool) => tool.repeated(&argument),
        }
    }

    fn unreadable(self, argument: String, why: String) -> String {
        match self {
            Self::Run(_) => Arguments::unreadable(argument, why),
            Self::Configured(tool) => tool.unreadable(&argument, &why),
        }
    }
}
