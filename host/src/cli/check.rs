//! `backburner check`: whether the configuration is right, and which tools there are then, asked of the component as a
//! client asks a server.

use std::fmt::Write as _;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::process::ExitCode;

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::line::{one_line, shortened};
use super::programs::{self, Absent};
use super::{client, exit_code, terminal};
use crate::config::{self, Found, Loaded, Source};
use crate::engine::{BadConfig, PoolError};
use crate::jobs::{Failure, Fragment, Jobs, Spec, StartError, State, StopReason};
use crate::serve::tell_of_terminals;
use crate::server::{Principal, Server};
use crate::store::MemoryStore;

/// Checks the configuration file that is named, or that is found.
///
/// # Errors
/// Where it cannot be told whether it is right.
pub(super) fn check(config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let found = match config::find(config) {
        Ok(found) => found,
        Err(error) => return Ok(wrong(&error)),
    };
    explain(&found);
    let mut loaded = match Source::new(found.file.clone(), Map::new()).load() {
        Ok(loaded) => loaded,
        Err(error) => return Ok(wrong(&error)),
    };
    tell_of_terminals(&mut loaded);
    match server(&loaded)? {
        Ok(server) => terminal::print(&report(found.file.as_deref(), &tools(&server)?))?,
        Err(error) => return Ok(wrong(&error)),
    }
    advise(&loaded);
    Ok(ExitCode::SUCCESS)
}

/// Says what is right, and may be not what was meant.
fn advise(loaded: &Loaded) {
    let note = |at: String, why: &str| {
        let reason = format!("note: {why}");
        terminal::say(&loaded.explain(BadConfig { at, reason }).to_string());
    };
    if loaded.is_empty_file() {
        note(String::new(), EMPTY);
    }
    // The component has taken it as it is.
    let config = serde_json::from_str(&loaded.json()).unwrap_or_default();
    for Absent { at, why } in programs::absent(&config) {
        note(at, &why);
    }
}

/// What is said of an empty file.
const EMPTY: &str = "the file is empty: a server that is started with it has the defaults, and one that runs when it becomes \
    empty takes that for a mistake: write a comment if nothing is to be configured";

/// Says what is wrong as compilers do, so that an editor finds the place.
fn wrong(error: &config::Error) -> ExitCode {
    terminal::say(&error.to_string());
    exit_code::USAGE.into()
}

/// Says why it is this file, or none.
fn explain(found: &Found) {
    for unused in found.foreign_in_words() {
        terminal::say(&unused);
    }
    for file in &found.not_files {
        terminal::say(&format!("{}: is no file, and is not used", file.display()));
    }
    if found.file.is_none() {
        for file in &found.missing {
            terminal::say(&format!("{}: is not there", file.display()));
        }
    }
}

/// A server with this configuration, or what is wrong with it.
fn server(loaded: &Loaded) -> Result<Result<Server, config::Error>, PoolError> {
    let server = Server::builder()
        .store(MemoryStore::new())
        .jobs(NoJobs)
        .config(&loaded.json())
        .threads(1)
        .build();
    match server {
        Ok(server) => Ok(Ok(server)),
        Err(PoolError::Config(refused)) => Ok(Err(loaded.explain(refused))),
        Err(error) => Err(error),
    }
}

/// A tool, as far as it is shown.
#[derive(Debug, Deserialize)]
struct Tool {
    name: String,
    title: Option<String>,
    #[serde(default)]
    description: String,
}

/// How much of a description is shown, in characters: it is written for a model, and its beginning says which tool it is.
const SHOWN_CHARS: usize = 80;

impl Tool {
    /// What it is called beside its name, in one line.
    fn in_words(&self) -> String {
        match &self.title {
            Some(title) => one_line(title),
            None => {
                let first = self.description.trim().lines().next();
                shortened(&one_line(first.unwrap_or_default()), SHOWN_CHARS)
            }
        }
    }
}

/// The tools that a server offers.
fn tools(server: &Server) -> anyhow::Result<Vec<Tool>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let client = server.client(Principal::new("check")?);
    let request = client::message(1, "tools/list", json!({}));
    let reply = runtime.block_on(client.message(request));
    let reply: Value = serde_json::from_str(&reply.unwrap_or_default())?;
    let tools = Vec::deserialize(&reply["result"]["tools"]);
    tools.with_context(|| format!("the component does not list its tools: {reply}"))
}

/// What is said where a client gets nothing.
const NO_TOOLS: &str = "no tools: `run` is switched off by `enabled = false`, and the file describes none of its own in `[[tools]]`\n";

/// What is right, and which tools there are.
fn report(file: Option<&Path>, tools: &[Tool]) -> String {
    let mut report = match file {
        Some(file) => format!("{}: right\n", file.display()),
        None => "no configuration file: the defaults hold\n".to_owned(),
    };
    if tools.is_empty() {
        report.push_str(NO_TOOLS);
    }
    let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or(0);
    let tools = tools.iter().map(|tool| {
        let line = format!("  {:width$}  {}", tool.name, tool.in_words());
        line.trim_end().to_owned()
    });
    for (number, line) in tools.enumerate() {
        if number == 0 {
            report.push_str("tools:\n");
        }
        // Text takes everything.
        let _ = writeln!(report, "{line}");
    }
    report
}

/// Jobs of a server that is only asked what it offers.
struct NoJobs;

/// Why there are none.
const NO_JOBS: &str = "nothing is run while a configuration is checked";

impl Jobs for NoJobs {
    fn start(&self, _: Uuid, _: &Spec) -> Result<(), StartError> {
        Err(StartError::BadSpec(NO_JOBS.to_owned()))
    }

    fn stop(&self, _: Uuid, _: StopReason) -> Result<(), Failure> {
        let detail = NO_JOBS.to_owned();
        Err(Failure { detail })
    }

    fn inspect(&self, _: Uuid) -> Result<State, Failure> {
        Ok(State::Unknown)
    }

    fn read(&self, _: Uuid, _: u64, _: u32) -> Result<Vec<Fragment>, Failure> {
        Ok(Vec::new())
    }

    fn forget(&self, _: Uuid) -> Result<(), Failure> {
        Ok(())
    }

    fn ended(&self, _: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        Box::pin(std::future::ready(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_file_and_a_line_for_each_tool() {
        let tool = |name: &str, title: Option<&str>, description: &str| Tool {
            name: name.to_owned(),
            title: title.map(str::to_owned),
            description: description.to_owned(),
        };
        let tools = [
            tool("run", Some("Run a command"), "Run it."),
            tool("longer", None, "\nDeploys a branch.\n\nAnd more.\n"),
            tool("long", None, &"x".repeat(81)),
        ];
        let expected = format!(
            "/a/b.toml: right\ntools:\n  run     Run a command\n  longer  Deploys a branch.\n  long    {}…\n",
            "x".repeat(80)
        );
        assert_eq!(report(Some(Path::new("/a/b.toml")), &tools), expected);
        assert_eq!(
            report(None, &tools[..1]),
            "no configuration file: the defaults hold\ntools:\n  run  Run a command\n"
        );
    }

    #[test]
    fn a_report_says_why_there_are_no_tools() {
        let report = report(Some(Path::new("/a/b.toml")), &[]);
        assert_eq!(report, format!("/a/b.toml: right\n{NO_TOOLS}"));
    }
}
