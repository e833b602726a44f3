//! Tasks as this client reads them: the members that it shows, and the whole for who wants JSON.
//!
//! *Source:* SEP-2663, Tasks.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Client;
use super::output::Output;
use super::plain::plain;
use super::question::{self, Question};

/// What stands between the server's words and the last line of the job.
const LAST_LINE: &str = "; last line: ";

/// A task's state, as the server said it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    pub(super) task_id: String,
    pub(super) status: Status,
    /// What the server says of it in words; `None` where it says nothing.
    pub(super) status_message: Option<String>,
    /// RFC 3339.
    #[serde(default)]
    pub(super) created_at: String,
    /// RFC 3339.
    #[serde(default)]
    pub(super) last_updated_at: String,
    /// After how many milliseconds to ask again; `None` where the server does not care.
    pub(super) poll_interval_ms: Option<u64>,
    /// Only of a completed task.
    pub(super) result: Option<JobResult>,
    /// Only of a failed task.
    pub(super) error: Option<TaskError>,
    /// The whole, as it came.
    #[serde(skip)]
    pub(super) whole: Value,
    /// What it asks, in its order, where that was fetched and can be read.
    #[serde(skip)]
    pub(super) questions: Vec<Question>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Working,
    InputRequired,
    Completed,
    Cancelled,
    Failed,
}

impl Status {
    /// The specification's word.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    pub(super) fn is_terminal(self) -> bool {
        match self {
            Self::Working | Self::InputRequired => false,
            Self::Completed | Self::Cancelled | Self::Failed => true,
        }
    }
}

/// What a call of the tool `run` gave.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobResult {
    #[serde(default)]
    content: Vec<Content>,
    #[serde(default)]
    pub(super) is_error: bool,
    /// `None` where the call was refused and nothing ran.
    pub(super) structured_content: Option<Facts>,
}

#[derive(Debug, Deserialize)]
struct Content {
    #[serde(default)]
    text: String,
}

/// How the job ended, for a program.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Facts {
    pub(super) task_id: Option<String>,
    pub(super) exit_code: Option<u8>,
    /// Such as `SIGKILL`.
    pub(super) signal: Option<String>,
    #[serde(default)]
    pub(super) timed_out: bool,
    #[serde(default)]
    pub(super) cancelled: bool,
    /// How much the command wrote, in bytes; `None` where nothing ran.
    output_bytes: Option<u64>,
    /// Whether the text has not all of it.
    #[serde(default)]
    truncated: bool,
    /// Such as `exited`, `not_started` or `lost`.
    #[serde(default)]
    state: String,
}

impl Facts {
    /// Whether the command was never executed.
    pub(super) fn is_not_started(&self) -> bool {
        self.state == "not_started"
    }
}

/// Why a task failed.
#[derive(Debug, Deserialize)]
pub(super) struct TaskError {
    pub(super) message: String,
}

impl Task {
    /// Reads what `tasks/get` gives, or the handle that stands for a result.
    pub(super) fn parse(whole: Value) -> anyhow::Result<Self> {
        let task =
            Self::deserialize(&whole).context("the server sent something that is no task")?;
        Ok(Self { whole, ..task })
    }

    /// Asks the server for a task.
    pub(super) fn fetch(client: &mut Client, id: &str) -> anyhow::Result<Self> {
        let text = client.request_text("tasks/get", json!({"taskId": id}))?;
        let whole = serde_json::from_str(text.get()).context("the server sent no JSON")?;
        Ok(Self {
            questions: question::parse(&text).unwrap_or_default(),
            ..Self::parse(whole)?
        })
    }

    /// What became of it in words, in one line: never empty. Of a failed task, whatever either of its two messages
    /// says.
    pub(super) fn message(&self) -> String {
        let error = self.error.as_ref().map(|error| error.message.as_str());
        match (self.status_message.as_deref(), error) {
            (None, None) => self.status.name().to_owned(),
            (None, Some(words)) => plain(words),
            // The words of a result are for everybody.
            (Some(said), None) if self.status == Status::Completed => said.to_owned(),
            (Some(said), Some(words)) if !said.contains(words) => {
                plain_but_output(&format!("{said}: {words}"))
            }
            (Some(said), _) => plain_but_output(said),
        }
    }

    /// What became of it in words, with all that its result has to say but the output, and nothing twice. The latter
    /// may be what a job wrote, as its tool says, so it is set in.
    pub(super) fn summary(&self) -> String {
        let mut summary = self.message();
        let words = self.result.as_ref().map(JobResult::words);
        for line in words.iter().flat_map(|words| words.lines()) {
            // The message begins with the task's label.
            if !summary.ends_with(line) {
                summary.push_str("\n    ");
                summary.push_str(line);
            }
        }
        summary
    }

    /// What its command wrote; `None` where it wrote nothing that shows, or has no result.
    pub(super) fn output(&self) -> Option<Output<'_>> {
        let result = self.result.as_ref()?;
        let facts = result.structured_content.as_ref();
        let text = result.parts().output?;
        Some(if facts.is_some_and(|facts| facts.truncated) {
            Output::shortened(text)
        } else {
            Output::whole(text)
        })
    }
}

/// Plain words; the last line of the job, which some messages quote, as it is.
fn plain_but_output(message: &str) -> String {
    match message.split_once(LAST_LINE) {
        Some((words, line)) => format!("{}{LAST_LINE}{line}", plain(words)),
        None => plain(message),
    }
}

/// A result's text, taken apart.
struct Parts<'a> {
    /// How the job ended.
    words: &'a str,
    /// What the command wrote, as a terminal would show it.
    output: Option<&'a str>,
}

impl JobResult {
    /// All text of it.
    pub(super) fn text(&self) -> &str {
        // The server sends one text.
        self.content.first().map_or("", |content| &content.text)
    }

    /// How the job ended.
    pub(super) fn words(&self) -> &str {
        self.parts().words
    }

    /// The words come first, and a blank line behind them: no output can pass for them.
    fn parts(&self) -> Parts<'_> {
        let text = self.text();
        let (words, output) = match text.split_once("\n\n") {
            Some((words, output)) => (words, Some(output)),
            None => (text, None),
        };
        Parts {
            words,
            output: output.filter(|output| !self.is_placeholder(output)),
        }
    }

    /// Whether this is said in place of an output: the same words from a command would be as many bytes.
    fn is_placeholder(&self, output: &str) -> bool {
        let facts = self.structured_content.as_ref();
        let bytes = facts.and_then(|facts| facts.output_bytes);
        match output {
            "(no output)" => bytes == Some(0),
            "(no visible output)" => bytes != Some(output.len() as u64),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(message: &str, text: &str, output_bytes: u64) -> Task {
        let task = json!({
            "taskId": "a", "status": "completed", "statusMessage": message,
            "result": {
                "content": [{"type": "text", "text": text}],
                "structuredContent": {"outputBytes": output_bytes},
            },
        });
        Task::parse(task).expect("it is a task")
    }

    #[test]
    fn an_output_is_what_the_command_wrote_and_nothing_else() {
        let output = |text, bytes| {
            let task = ended("", text, bytes);
            task.output().map(|output| output.head.to_owned())
        };
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(output("exit code 0\n\na\n\nb\n", 5), is("a\n\nb\n"));
        assert_eq!(output("exit code 0\n\n(no output)", 0), None);
        assert_eq!(output("exit code 0\n\n(no output)", 11), is("(no output)"));
        assert_eq!(output("exit code 0\n\n(no visible output)", 4), None);
        assert_eq!(output("could not be started", 0), None);
    }

    #[test]
    fn a_failed_task_says_its_label_and_its_last_line() {
        let failed = |message: Option<&str>| {
            let task = json!({
                "taskId": "a", "status": "failed", "statusMessage": message,
                "error": {"code": -32603, "message": "lost; use a new idempotencyKey"},
            });
            Task::parse(task).expect("it is a task").message()
        };
        let said = "l: lost; use a new idempotencyKey; last line: my idempotencyKey";
        let shown = "l: lost; use a new --key; last line: my idempotencyKey";
        assert_eq!(failed(Some(said)), shown);
        assert_eq!(failed(Some("l: bad")), "l: bad: lost; use a new --key");
        assert_eq!(failed(None), "lost; use a new --key");
    }

    #[test]
    fn a_summary_says_everything_once() {
        let task = ended(
            "l: exit code 0",
            "exit code 0\n1 process was stopped\n\na",
            1,
        );
        let both = "l: exit code 0\n    1 process was stopped";
        assert_eq!(task.summary(), both);
        let of_a_tool = ended("l: exit code 0", "done\ncreated never", 1);
        let set_in = "l: exit code 0\n    done\n    created never";
        assert_eq!(of_a_tool.summary(), set_in);
        let silent = ended("exit code 0", "exit code 0\n\n(no output)", 0);
        assert_eq!(silent.summary(), "exit code 0");
    }
}
