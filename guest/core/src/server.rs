//! The way in.

use crate::config::{Config, ConfigError};
use crate::imports::World;
use crate::outcome::{Context, Outcome, Refusal, Wake};
use crate::{methods, rpc, task};

/// The server: configuration and nothing else, so that any number of equally configured ones can share the
/// work, and each can be dropped between two calls.
#[derive(Clone, Debug, Default)]
pub struct Server {
    config: Config,
}

impl Server {
    /// A server that is configured by a JSON object, which may be empty. Its members, of which the README of the WIT
    /// package says more:
    ///
    /// | member | what | unit | range | default |
    /// |---|---|---|---|---|
    /// | `syncLimitMs` | how long a client without the Tasks extension waits before it is told that its job goes on | ms | 0 to 3 600 000 | 30 000 |
    /// | `directLimitMs` | how long a client with it waits for a direct result before it gets a task; 0: never | ms | 0 to 60 000 | 100 |
    /// | `graceMs` | how long a job that is being stopped may take before it is killed; 0: none | ms | 0 to 600 000 | 5 000 |
    /// | `outputLimitBytes` | how much of a job's output is kept | bytes | 4 096 to 2^40 | 67 108 864 |
    /// | `showCommand` | the shell command that shows a task when a space and its id are appended | – | one line | none |
    /// | `answerCommand` | the shell command that answers a task's questions, as `showCommand` | – | one line | none |
    /// | `runCommand` | the shell command that runs a command when a space and that are appended | – | one line | none |
    /// | `terminals` | whether the host gives an interactive job a terminal | – | boolean | false |
    /// | `workingDirectory` | where commands run for which no directory is named; none: where the host runs them | – | absolute path | none |
    /// | `confirm` | which commands a person has to confirm: `pattern` and `reason` of each rule | – | up to 100 rules | none |
    /// | `baseDirectory` | where relative paths in `run` and `tools` begin | – | absolute path | none |
    /// | `configurationFile` | what people call the file that this comes from: its path | – | one line | none |
    /// | `run` | what holds for the tool `run`, and whether there is one | – | object | `{}` |
    /// | `tools` | tools of the user's own | – | array of objects | `[]` |
    ///
    /// # Errors
    /// Any [`ConfigError`], which names the place.
    pub fn configure(config: &str) -> Result<Self, ConfigError> {
        Config::parse(config).map(|config| Self { config })
    }

    /// Handles one JSON-RPC message of a client; any text is allowed.
    ///
    /// *Source:* MCP 2026-07-28, Base Protocol, Messages.
    pub fn message(&self, world: &mut impl World, cx: &Context, body: &str) -> Outcome {
        methods::dispatch(&self.config, world, cx, body)
    }

    /// Goes on with a request that was kept open; `ticket` is that of its [`crate::Pending`], and
    /// `cx.principal` that of the original call.
    pub fn resume(&self, world: &mut impl World, cx: &Context, ticket: &str, why: Wake) -> Outcome {
        methods::resume_call::resume(&self.config, world, cx, ticket, why)
    }

    /// The reply to a message that was not handled; `None` where it gets none. `body` is the message, or
    /// empty where the host does not have it.
    #[must_use]
    pub fn refuse(body: &str, why: Refusal) -> Option<String> {
        rpc::refuse::refuse(body, why)
    }

    /// Looks after tasks that nobody asks about: a bounded amount of work. Gives the moment at which to
    /// call it again, in milliseconds since 1970, which may be `now`; `None` where only a new task can
    /// make it necessary. `now` is the present, in milliseconds since 1970.
    pub fn sweep(&self, world: &mut impl World, now: u64) -> Option<u64> {
        task::sweep::sweep(world, now)
    }
}
