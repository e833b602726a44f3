//! `backburner run`: start a job as an MCP client does, and follow it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::client::Client;
use super::follow::{Followed, follow};
use super::task::{JobResult, Task};
use super::{RunOptions, exit_code, show_command, terminal};

/// Runs a command as a job.
///
/// # Errors
/// Where it was not started, or its end cannot be followed.
pub(super) fn run(data_dir: Option<&Path>, options: RunOptions) -> anyhow::Result<ExitCode> {
    let shape = Shape::of(&options);
    let call = json!({"name": "run", "arguments": arguments(options)?});
    let mut client = Client::start(data_dir)?;
    let id = task_id(client.request("tools/call", call)?)?;
    if shape == Shape::Id {
        terminal::print(&id)?;
        return Ok(ExitCode::SUCCESS);
    }
    terminal::say(&format!("task {id}"))?;
    match follow(&mut client, &id)? {
        Followed::Ended(task) => {
            let code = exit_code::of_task(&task);
            print_end(&task, shape)?;
            terminal::say(&show_command(data_dir, &id))?;
            Ok(code.into())
        }
        Followed::Left(interruption) => {
            terminal::say(&format!(
                "the job goes on; to see it: {}",
                show_command(data_dir, &id)
            ))?;
            Ok(exit_code::of_interruption(interruption).into())
        }
    }
}

/// What is printed to standard output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The id of the task, at once.
    Id,
    /// The task as JSON, when it has ended.
    Json,
    /// What the command wrote, when it has ended.
    Output,
}

impl Shape {
    fn of(options: &RunOptions) -> Self {
        match (options.detach, options.json) {
            (true, _) => Self::Id,
            (false, true) => Self::Json,
            (false, false) => Self::Output,
        }
    }
}

fn print_end(task: &Task, shape: Shape) -> anyhow::Result<()> {
    if shape == Shape::Json {
        terminal::print(&format!("{:#}", task.whole))?;
    } else if let Some(output) = task.output() {
        terminal::print(output)?;
    }
    terminal::say(&task.summary())?;
    Ok(())
}

/// The arguments of the tool `run`.
fn arguments(options: RunOptions) -> anyhow::Result<Value> {
    let mut arguments = Map::new();
    arguments.insert("cwd".to_owned(), directory(options.cwd)?.into());
    let mut command = options.command.into_iter();
    arguments.insert("command".to_owned(), command.next().into());
    let rest: Vec<String> = command.collect();
    if !rest.is_empty() {
        arguments.insert("args".to_owned(), rest.into());
    }
    if !options.env.is_empty() {
        let variables: Map<String, Value> = options
            .env
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        arguments.insert("env".to_owned(), variables.into());
    }
    if let Some(timeout) = options.timeout {
        arguments.insert("timeoutSeconds".to_owned(), timeout.as_secs().into());
    }
    if let Some(label) = options.label {
        arguments.insert("label".to_owned(), label.into());
    }
    Ok(arguments.into())
}

/// The directory to run in: absolute, since the server's own is not what the person means.
fn directory(given: Option<PathBuf>) -> anyhow::Result<String> {
    let directory = match given {
        Some(given) => std::path::absolute(given),
        None => std::env::current_dir(),
    };
    directory
        .context("cannot tell the current directory: give an absolute one with --cwd")?
        .into_os_string()
        .into_string()
        .map_err(|name| {
            anyhow::anyhow!(
                "the directory {} is not UTF-8: choose another with --cwd",
                name.display()
            )
        })
}

/// The id of the task that a call became. A fast command is answered directly; it is a task all the same.
fn task_id(result: Value) -> anyhow::Result<String> {
    if result["resultType"] == "task" {
        return Ok(Task::parse(result)?.task_id);
    }
    let result =
        JobResult::deserialize(&result).context("the server sent something that is no result")?;
    let facts = result.structured_content.as_ref();
    facts
        .and_then(|facts| facts.task_id.clone())
        // Nothing ran: the text says why.
        .ok_or_else(|| anyhow::anyhow!(result.text().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(command: &[&str]) -> RunOptions {
        RunOptions {
            label: None,
            cwd: Some(PathBuf::from("/d")),
            env: Vec::new(),
            timeout: None,
            detach: false,
            json: false,
            command: command.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    #[test]
    fn one_word_is_a_shell_line_and_several_are_a_program() {
        let sent = |command| arguments(options(command)).expect("it is right");
        assert_eq!(sent(&["a && b"]), json!({"cwd": "/d", "command": "a && b"}));
        assert_eq!(
            sent(&["a", "b"]),
            json!({"cwd": "/d", "command": "a", "args": ["b"]})
        );
    }

    #[test]
    fn options_become_arguments() {
        let all = RunOptions {
            label: Some("l".to_owned()),
            env: vec![
                ("A".to_owned(), "1".to_owned()),
                ("A".to_owned(), "2".to_owned()),
            ],
            timeout: Some(std::time::Duration::from_secs(90)),
            ..options(&["a"])
        };
        let expected = json!({"cwd": "/d", "command": "a", "label": "l", "env": {"A": "2"}, "timeoutSeconds": 90});
        assert_eq!(arguments(all).expect("it is right"), expected);
    }

    #[test]
    fn a_relative_directory_is_the_persons_own() {
        let current = std::env::current_dir().expect("a test has a working directory");
        let expected = current
            .join("a")
            .into_os_string()
            .into_string()
            .expect("it is UTF-8");
        assert_eq!(directory(Some("a".into())).expect("it is UTF-8"), expected);
    }

    #[test]
    fn a_handle_and_a_direct_result_both_have_an_id() {
        let handle = json!({"resultType": "task", "taskId": "a", "status": "working"});
        assert_eq!(task_id(handle).expect("it has one"), "a");
        let direct = json!({"content": [], "structuredContent": {"taskId": "a", "exitCode": 0}});
        assert_eq!(task_id(direct).expect("it has one"), "a");
    }

    #[test]
    fn a_refusal_is_an_error_with_its_text() {
        let refusal =
            json!({"content": [{"type": "text", "text": "no such thing"}], "isError": true});
        let error = task_id(refusal).expect_err("nothing ran");
        assert_eq!(error.to_string(), "no such thing");
    }
}
