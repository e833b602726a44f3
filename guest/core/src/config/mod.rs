//! The server's configuration: parsed once, afterwards known to be in range.

mod error;
mod node;

use std::sync::Arc;

use serde_json::Value;

pub use error::ConfigError;
pub(crate) use node::{Members, Node, Seconds, escaped};

use crate::tool::catalogue::Catalogue;

/// All that can be in a configuration, as it is listed to who used another name.
const MEMBERS: [&str; 8] = [
    "syncLimitMs",
    "directLimitMs",
    "graceMs",
    "outputLimitBytes",
    "showCommand",
    "baseDirectory",
    "run",
    "tools",
];

/// What can be configured. Each member of the JSON object is optional.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// `syncLimitMs`: how long a client without the Tasks extension waits for a job before it is told that
    /// the job goes on, in milliseconds, 0 to 3 600 000; default 30 000.
    pub(crate) sync_limit_ms: u64,
    /// `directLimitMs`: how long a client with the Tasks extension waits for a direct result before it gets
    /// a task, in milliseconds, 0 (never) to 60 000; default 100.
    pub(crate) direct_limit_ms: u64,
    /// `graceMs`: how long a job that is being stopped may take before it is killed, in milliseconds, 0
    /// (killed at once) to 600 000; default 5 000.
    pub(crate) grace_ms: u64,
    /// `outputLimitBytes`: how many bytes of a job's output are kept, 4 096 to 1 099 511 627 776 (1 TiB);
    /// default 67 108 864 (64 MiB).
    pub(crate) output_limit_bytes: u64,
    /// `showCommand`: the shell command that shows a task when a space and its id are appended; one line, not
    /// empty. `None`, the default, where the host has none: then nobody is told of it.
    pub(crate) show_command: Option<String>,
    /// `run` and `tools`: what can be called. Shared, as a server is cloned and the tools are not.
    pub(crate) catalogue: Arc<Catalogue>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sync_limit_ms: 30_000,
            direct_limit_ms: 100,
            grace_ms: 5_000,
            output_limit_bytes: 64 * 1024 * 1024,
            show_command: None,
            catalogue: Arc::default(),
        }
    }
}

impl Config {
    /// Parses a JSON object.
    ///
    /// # Errors
    /// Any [`ConfigError`].
    pub(crate) fn parse(text: &str) -> Result<Self, ConfigError> {
        let value: Value = serde_json::from_str(text).map_err(|error| ConfigError {
            at: String::new(),
            reason: format!("the configuration is not JSON: {error}"),
        })?;
        let members = Node::root(&value).members(&MEMBERS)?;
        let mut config = Self::default();
        config.read_limits(&members)?;
        config.catalogue = Arc::new(Catalogue::read(&members, text)?);
        Ok(config)
    }

    fn read_limits(&mut self, members: &Members<'_>) -> Result<(), ConfigError> {
        let set = |place: &mut u64, name: &str, min: u64, max: u64| {
            let number = members.optional(name, |node| node.integer(min, max))?;
            *place = number.unwrap_or(*place);
            Ok(())
        };
        set(&mut self.sync_limit_ms, "syncLimitMs", 0, 3_600_000)?;
        set(&mut self.direct_limit_ms, "directLimitMs", 0, 60_000)?;
        set(&mut self.grace_ms, "graceMs", 0, 600_000)?;
        let output_limit = &mut self.output_limit_bytes;
        set(output_limit, "outputLimitBytes", 4096, 1 << 40)?;
        let show_command = members.optional("showCommand", Node::line)?;
        self.show_command = show_command.map(str::to_owned);
        Ok(())
    }
}
