//! The tool `run`: a command as a job that outlives the call.
//!
//! Knows what the model may ask for and what it is told in the end. Does not know how a job is started, and
//! not whether the client gets a task or waits for the result.

mod arguments;
mod definition;
mod misfit;
mod policy;
mod result;
mod schema;
#[cfg(test)]
mod schema_check;
mod structured;
mod summary;

pub(crate) use arguments::Arguments;
pub(crate) use definition::definition;
pub(crate) use policy::Policy;
pub(crate) use result::{Running, finished, still_running, succeeded};
pub(crate) use summary::{failed_earlier, repeated};

/// The arguments that the tool knows, as they are listed to a model that used another. The last one is known only where
/// there are terminals.
const ARGUMENT_NAMES: [&str; 10] = [
    "command",
    "args",
    "cwd",
    "env",
    "stdin",
    "timeoutSeconds",
    "label",
    "ttlSeconds",
    "idempotencyKey",
    "interactive",
];
