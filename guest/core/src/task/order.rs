//! What a call asks for, with what the server's configuration adds to it.

use crate::config::Config;
use crate::imports::JobSpec;
use crate::task::permit::Permit;
use crate::tool::Wanted;
use crate::tool::configured::Recorded;
use crate::wording::About;

/// A job to run as a task.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// What to run.
    pub(crate) spec: JobSpec,
    /// Whether the call named no directory, so that the spec has that of this server.
    pub(crate) in_servers_directory: bool,
    /// What of the configuration of `run` says the directory, in words; `None` where nothing of it does.
    pub(crate) directory_said_by: Option<String>,
    /// What its owner calls it.
    pub(crate) label: Option<String>,
    /// How long the task is kept after its creation, in milliseconds; `None` for ever.
    pub(crate) ttl_ms: Option<u64>,
    /// What makes a repeated call the same call.
    pub(crate) idempotency_key: Option<String>,
    /// What lets its job be started.
    pub(crate) permit: Permit,
    /// How the result is made; `None` for that of `run`.
    pub(crate) tool: Option<Recorded>,
}

impl Order {
    /// Whether neither the call nor the configuration of its tool names a directory.
    pub(crate) fn is_unplaced(&self) -> bool {
        self.in_servers_directory || self.spec.directory.is_none()
    }

    /// The order that this call makes.
    pub(crate) fn new(wanted: Wanted, config: &Config) -> Self {
        let Wanted {
            arguments,
            grace_ms,
            output_limit_bytes,
            tool,
        } = wanted;
        Self {
            in_servers_directory: arguments.directory.is_none()
                && config.working_directory.is_some(),
            directory_said_by: arguments.directory_said_by,
            spec: JobSpec {
                command: arguments.command,
                // Not the one of whichever server starts the job in the end, which a person who confirms it never saw.
                directory: arguments
                    .directory
                    .or_else(|| config.working_directory.clone()),
                environment: arguments.environment,
                stdin: arguments.stdin,
                interactive: arguments.interactive,
                timeout_ms: arguments.timeout_ms,
                // So that the supervisor stops the job in time even where no server runs then.
                lifetime_ms: arguments.ttl_ms,
                grace_ms: grace_ms.unwrap_or(config.grace_ms),
                output_limit_bytes: output_limit_bytes.unwrap_or(config.output_limit_bytes),
            },
            label: arguments.label,
            ttl_ms: arguments.ttl_ms,
            idempotency_key: arguments.idempotency_key,
            permit: Permit::Unneeded,
            tool,
        }
    }

    /// The name of the configured tool that is called; `None` for `run`.
    pub(crate) fn tool_name(&self) -> Option<&str> {
        self.tool.as_ref().map(|tool| tool.name.as_str())
    }

    /// The sort of the tool that is called.
    pub(crate) fn about(&self) -> About {
        About::tool(self.tool.as_ref())
    }
}
