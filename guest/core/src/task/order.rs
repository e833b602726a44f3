//! What a call asks for, with what the server's configuration adds to it.

use crate::config::Config;
use crate::imports::JobSpec;
use crate::task::permit::Permit;
use crate::tool::run::Arguments;

/// A job to run as a task.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// What to run.
    pub(crate) spec: JobSpec,
    /// What its owner calls it.
    pub(crate) label: Option<String>,
    /// How long the task is kept after its creation, in milliseconds; `None` for ever.
    pub(crate) ttl_ms: Option<u64>,
    /// What makes a repeated call the same call.
    pub(crate) idempotency_key: Option<String>,
    /// What lets its job be started.
    pub(crate) permit: Permit,
}

impl Order {
    /// The order that these arguments make.
    pub(crate) fn new(arguments: Arguments, config: &Config) -> Self {
        Self {
            spec: JobSpec {
                command: arguments.command,
                directory: arguments.directory,
                environment: arguments.environment,
                stdin: arguments.stdin,
                timeout_ms: arguments.timeout_ms,
                // So that the supervisor stops the job in time even where no server runs then.
                lifetime_ms: arguments.ttl_ms,
                grace_ms: config.grace_ms,
                output_limit_bytes: config.output_limit_bytes,
            },
            label: arguments.label,
            ttl_ms: arguments.ttl_ms,
            idempotency_key: arguments.idempotency_key,
            permit: Permit::Unneeded,
        }
    }
}
