//! From text to steps.

use serde_json::Value;

/// A conversation.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The file's name without its extension.
    pub name: String,
    /// How the server is configured: the JSON object that its component gets.
    pub config: Value,
    /// Its lines, to be written again.
    pub(super) lines: Vec<String>,
    /// What happens, in order.
    pub(super) steps: Vec<Step>,
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The first of its lines, from 0.
    pub(super) first_line: usize,
    /// The number of its lines.
    pub(super) line_count: usize,
    /// What it is.
    pub(super) action: Action,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// The client sends this text, after placeholders are filled in.
    Send(String),
    /// The server answers like this.
    Expect(Value),
    /// The server does not answer what was sent last.
    Silence,
    /// The client asks for this task until it is not `working`.
    Poll(String),
    /// The server ends, and another one begins on the same data.
    Reopen,
}

impl Transcript {
    /// Reads a transcript.
    ///
    /// # Errors
    /// The number of the first wrong line, from 1, and what is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut transcript = Self {
            name: name.to_owned(),
            config: Value::Object(serde_json::Map::new()),
            steps: Vec::new(),
            lines,
        };
        let mut next = 0;
        while next < transcript.lines.len() {
            let (entry, line_count) = entry(&transcript.lines[next..]);
            transcript
                .add(&entry, next, line_count)
                .map_err(|error| format!("{}: {error}", next + 1))?;
            next += line_count;
        }
        Ok(transcript)
    }

    fn add(&mut self, entry: &str, first_line: usize, line_count: usize) -> Result<(), String> {
        let (word, rest) = entry.split_once(' ').unwrap_or((entry, ""));
        let action = match (word, rest) {
            ("", "") => return Ok(()),
            (comment, _) if comment.starts_with('#') => return Ok(()),
            ("config", rest) => {
                self.config = json(rest)?;
                return Ok(());
            }
            (">", message) => Action::Send(message.to_owned()),
            // Nothing is expected yet: the play fails, and blessing fills it in.
            ("<", "") => Action::Expect(Value::Null),
            ("<", reply) => Action::Expect(json(reply)?),
            ("silence", "") => Action::Silence,
            ("poll", id) => Action::Poll(id.to_owned()),
            ("reopen", "") => Action::Reopen,
            _ => return Err(format!("not understood: {entry}")),
        };
        self.steps.push(Step {
            first_line,
            line_count,
            action,
        });
        Ok(())
    }
}

/// The entry that begins at the first line, and how many lines it has: those that begin with a blank go on with it.
fn entry(lines: &[String]) -> (String, usize) {
    let mut entry = lines[0].trim_end().to_owned();
    let mut count = 1;
    while lines.get(count).is_some_and(|line| line.starts_with(' ')) {
        entry.push(' ');
        entry.push_str(lines[count].trim());
        count += 1;
    }
    (entry, count)
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}
