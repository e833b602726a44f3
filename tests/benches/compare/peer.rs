//! The driver: one server, and raw lines to and from it.
//!
//! It costs as little as it can: requests are made before the clock runs, replies are neither copied more than
//! once nor parsed, and what can be written at once is written at once.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use backburner_tests::Client;
use serde_json::{Value, json};

/// Large enough for all the replies that are ever outstanding.
const BUFFER_BYTES: usize = 1 << 18;

/// The first id: ids of one width make replies of one width.
const FIRST_ID: u64 = 1_000_000_000;

/// How long any task of the benchmark may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at tasks that run. Short beside the time of a process, and long enough to leave the
/// server its processor.
const PAUSE: Duration = Duration::from_millis(1);

/// A running server.
pub(crate) struct Peer {
    child: Child,
    /// `None` once it was closed.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    next_id: u64,
}

impl Peer {
    /// Starts a process.
    ///
    /// # Errors
    /// Where it does not start.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{command:?} does not start"))?;
        let stdout = child.stdout.take().context("its output is no pipe")?;
        Ok(Self {
            stdin: child.stdin.take(),
            child,
            stdout: BufReader::with_capacity(BUFFER_BYTES, stdout),
            line: Vec::with_capacity(BUFFER_BYTES),
            next_id: FIRST_ID,
        })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends one request and gives the line of its reply.
    ///
    /// # Errors
    /// Where the server ended.
    pub(crate) fn exchange(&mut self, request: &Request) -> anyhow::Result<&str> {
        let mut text = Vec::with_capacity(request.bytes());
        request.write(&mut text, self.take_ids(1));
        self.send(&text)?;
        self.read_line()
    }

    /// Sends a request and gives the result.
    ///
    /// # Errors
    /// Where it failed.
    pub(crate) fn result(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let reply: Value = serde_json::from_str(self.exchange(&Request::new(method, params))?)?;
        match reply.get("result") {
            Some(result) => Ok(result.clone()),
            None => bail!("{method} gave {reply}"),
        }
    }

    /// Sends one request after the other, never more than `depth` unanswered, and gives each reply to `look`.
    ///
    /// # Errors
    /// What `look` gives, or where the server ended.
    pub(crate) fn pipeline(
        &mut self,
        requests: &[Request],
        depth: usize,
        mut look: impl FnMut(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut waiting = requests.iter().zip(self.take_ids(requests.len() as u64)..);
        let mut text = Vec::with_capacity(BUFFER_BYTES);
        for (request, id) in waiting.by_ref().take(depth) {
            request.write(&mut text, id);
        }
        for _ in requests {
            // What was answered is replaced only when no reply is left to read: one write for many.
            if self.stdout.buffer().is_empty() && !text.is_empty() {
                self.send(&text)?;
                text.clear();
            }
            look(self.read_line()?)?;
            if let Some((request, id)) = waiting.next() {
                request.write(&mut text, id);
            }
        }
        Ok(())
    }

    /// Sends the same request `count` times, never more than `depth` unanswered, and says how long it took.
    ///
    /// # Errors
    /// Where two replies are not of the same length, which finds an error among them without reading any.
    pub(crate) fn flood(
        &mut self,
        request: &Request,
        depth: usize,
        count: usize,
    ) -> anyhow::Result<Duration> {
        let expected = self.exchange(request)?.len();
        let requests = vec![request.clone(); count];
        let began = Instant::now();
        self.pipeline(&requests, depth, |reply| {
            ensure!(reply.len() == expected, "not the reply as before: {reply}");
            Ok(())
        })?;
        Ok(began.elapsed())
    }

    /// Polls tasks, the oldest first, until all have completed.
    ///
    /// # Errors
    /// Where one ended otherwise, or too late.
    pub(crate) fn await_tasks(&mut self, ids: &[String], depth: usize) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut open: Vec<Request> = ids.iter().map(|id| Request::get_task(id)).collect();
        while !open.is_empty() {
            let polled = open.len().min(depth);
            let mut completed = Vec::new();
            self.pipeline(&open[..polled], depth, |reply| {
                match status(reply)? {
                    "completed" => completed.push(task_id(reply)?.to_owned()),
                    "working" => {}
                    _ => bail!("the task did not complete: {reply}"),
                }
                Ok(())
            })?;
            open.retain(|request| !completed.iter().any(|id| request.names(id)));
            if completed.is_empty() {
                ensure!(
                    Instant::now() < deadline,
                    "tasks still work after {PATIENCE:?}"
                );
                std::thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// Closes its input and waits for its end.
    ///
    /// # Errors
    /// Where the process cannot be waited for.
    pub(crate) fn close(mut self) -> anyhow::Result<()> {
        self.stdin = None;
        self.child.wait()?;
        Ok(())
    }

    fn take_ids(&mut self, count: u64) -> u64 {
        let first = self.next_id;
        self.next_id += count;
        first
    }

    fn send(&mut self, text: &[u8]) -> anyhow::Result<()> {
        let stdin = self.stdin.as_mut().context("the input was closed")?;
        stdin.write_all(text).context("the server takes no input")
    }

    /// The next line.
    ///
    /// # Errors
    /// Where the server ended.
    pub(crate) fn read_line(&mut self) -> anyhow::Result<&str> {
        self.line.clear();
        self.stdout.read_until(b'\n', &mut self.line)?;
        ensure!(self.line.ends_with(b"\n"), "the server closed its output");
        Ok(std::str::from_utf8(&self.line)?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Both fail only where it has ended before, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request without its id.
#[derive(Clone)]
pub(crate) struct Request {
    before_id: String,
    after_id: String,
}

impl Request {
    /// A request with these parameters.
    pub(crate) fn new(method: &str, params: &Value) -> Self {
        let text = backburner_tests::request(FIRST_ID, method, params, Client::Tasks).to_string();
        let (before_id, after_id) = text
            .split_once(&FIRST_ID.to_string())
            .expect("a request contains its id");
        Self {
            before_id: before_id.to_owned(),
            after_id: format!("{after_id}\n"),
        }
    }

    /// Polls this task.
    pub(crate) fn get_task(id: &str) -> Self {
        Self::new("tasks/get", &json!({ "taskId": id }))
    }

    /// Runs a program without a shell.
    pub(crate) fn run_program(program: &str) -> Self {
        let arguments = json!({ "command": program, "args": [] });
        Self::new("tools/call", &backburner_tests::tool_call(&arguments))
    }

    /// Runs a shell line.
    pub(crate) fn run_line(line: &str) -> Self {
        Self::new("tools/call", &backburner_tests::run_call(line))
    }

    fn names(&self, id: &str) -> bool {
        self.after_id.contains(id) || self.before_id.contains(id)
    }

    fn bytes(&self) -> usize {
        self.before_id.len() + self.after_id.len() + 20
    }

    fn write(&self, text: &mut Vec<u8>, id: u64) {
        text.extend_from_slice(self.before_id.as_bytes());
        text.extend_from_slice(id.to_string().as_bytes());
        text.extend_from_slice(self.after_id.as_bytes());
    }
}

/// The id of the task that a reply speaks of.
///
/// # Errors
/// Where it speaks of none.
pub(crate) fn task_id(reply: &str) -> anyhow::Result<&str> {
    string_after(reply, "\"taskId\":\"")
}

fn status(reply: &str) -> anyhow::Result<&str> {
    string_after(reply, "\"status\":\"")
}

/// Not a parser, which would cost more than the reply: both servers write compact JSON, and what is looked for
/// stands in it once or always with the same value.
fn string_after<'a>(reply: &'a str, name: &str) -> anyhow::Result<&'a str> {
    reply
        .split_once(name)
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(value, _)| value)
        .with_context(|| format!("no {name} in {reply}"))
}
