//! The server's configuration: parsed once, afterwards known to be in range.

mod error;
mod node;

use std::sync::Arc;

use serde_json::Value;

pub use error::ConfigError;
pub(crate) use node::{Members, Node, Seconds, escaped};

use crate::json::repeated;
use crate::limits::{DIRECT_LIMIT_MS, GRACE_SECONDS, OUTPUT_BYTES, SYNC_SECONDS};
use crate::policy::Rules;
use crate::text::echoed;
use crate::tool::catalogue::Catalogue;

/// All that can be in a configuration, as it is listed to who used another name.
const MEMBERS: [&str; 14] = [
    "syncLimitMs",
    "directLimitMs",
    "graceMs",
    "outputLimitBytes",
    "showCommand",
    "answerCommand",
    "runCommand",
    "terminals",
    "confirm",
    "workingDirectory",
    "baseDirectory",
    "configurationFile",
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
    /// `answerCommand`: the shell command that answers a task's questions when a space and its id are appended; as
    /// `showCommand`.
    pub(crate) answer_command: Option<String>,
    /// `runCommand`: the shell command that runs a command when a space and that are appended; as `showCommand`.
    pub(crate) run_command: Option<String>,
    /// `workingDirectory`: where commands run for which no directory is named, an absolute path. `None`, the default, for
    /// where the host runs them, which nobody can be told then.
    pub(crate) working_directory: Option<String>,
    /// `confirm`: which commands a person has to confirm; none by default.
    pub(crate) confirm: Rules,
    /// `run`, `tools` and `terminals`: what can be called. Shared, as a server is cloned and the tools are not.
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
            answer_command: None,
            run_command: None,
            working_directory: None,
            confirm: Rules::default(),
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
        if let Some(place) = repeated(text) {
            return Err(ConfigError {
                at: String::new(),
                reason: format!(
                    "the configuration has `{}` twice, it has to be there once",
                    echoed(&place)
                ),
            });
        }
        let members = Node::root(&value).members(&MEMBERS)?;
        let mut config = Self::default();
        config.read_limits(&members)?;
        config.read_commands(&members)?;
        let directory = members.optional("workingDirectory", Node::absolute_path)?;
        config.working_directory = directory.map(str::to_owned);
        let rules = members.optional("confirm", Rules::read)?;
        config.confirm = rules.unwrap_or_default();
        config.catalogue = Arc::new(Catalogue::read(&members, text)?);
        Ok(config)
    }

    fn read_limits(&mut self, members: &Members<'_>) -> Result<(), ConfigError> {
        let set = |place: &mut u64, name: &str, min: u64, max: u64| {
            let number = members.optional(name, |node| node.integer(min, max))?;
            *place = number.unwrap_or(*place);
            Ok(())
        };
        let ms = |seconds: u32| u64::from(seconds) * 1_000;
        set(&mut self.sync_limit_ms, "syncLimitMs", 0, ms(SYNC_SECONDS))?;
        set(
            &mut self.direct_limit_ms,
            "directLimitMs",
            0,
            DIRECT_LIMIT_MS,
        )?;
        set(&mut self.grace_ms, "graceMs", 0, ms(GRACE_SECONDS))?;
        let (least, most) = OUTPUT_BYTES;
        let output_limit = &mut self.output_limit_bytes;
        set(output_limit, "outputLimitBytes", least, most)?;
        Ok(())
    }

    fn read_commands(&mut self, members: &Members<'_>) -> Result<(), ConfigError> {
        let line = |name: &str| {
            let line = members.optional(name, Node::line)?;
            Ok(line.map(str::to_owned))
        };
        self.show_command = line("showCommand")?;
        self.answer_command = line("answerCommand")?;
        self.run_command = line("runCommand")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
