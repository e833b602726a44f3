//! A small MCP client over the standard streams of a server that it starts.
//!
//! Speaks revision 2026-07-28, which has no handshake, and declares the Tasks extension and elicitation with every
//! request. Knows nothing of tools and tasks.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::mem;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Place;
use super::exit_code::{FAILURE, USAGE};
use super::signals;
pub(super) use super::signals::Interruption;

/// The protocol's revision.
const PROTOCOL_VERSION: &str = "2026-07-28";

/// How long a reply may take. The server answers within its direct limit, a fraction of a second by default and at most
/// a minute; the rest is for a machine that is far too busy.
const REPLY_DEADLINE: Duration = Duration::from_secs(120);

/// How long a server may take to end when it is not needed any more. It promises 100 ms.
const END_DEADLINE: Duration = Duration::from_secs(5);

/// The pause between two looks whether it has ended: a person does not notice it.
const END_LOOK: Duration = Duration::from_millis(2);

/// A server, and the conversation with it. The server ends when this is dropped.
#[derive(Debug)]
pub(super) struct Client {
    server: Child,
    /// Closed, and `None`, where the server is to end or has ended.
    input: Option<ChildStdin>,
    events: Receiver<Event>,
    last_id: u64,
    /// Whether the server has closed its output.
    has_ended: bool,
    /// The signal that came while a reply was awaited, which is too short a time to leave.
    interruption: Option<Interruption>,
    /// Whether the server has told something that nobody has heard of yet.
    was_told: bool,
}

/// What happens while this waits.
#[derive(Debug)]
enum Event {
    Line(String),
    /// The server closed its output, or it cannot be read any more.
    End,
    Interruption(Interruption),
}

/// Why there is no reply. A person reads the words, who knows nothing of methods and codes; what to do next depends on
/// what was asked for.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClientError {
    /// No server could be started.
    #[error("cannot start a server")]
    Start(#[source] io::Error),
    /// The system has no thread to give.
    #[error("cannot start a thread: end some of your processes, then try again")]
    Thread(#[source] io::Error),
    /// The server cannot serve, and has said why on its standard error, which is ours.
    #[error("the server cannot serve")]
    Unable,
    /// The same, because of its configuration.
    #[error("the server's configuration is wrong")]
    Misconfigured,
    /// The server ended for another reason.
    #[error("the server ended without an answer")]
    Gone,
    /// The server does not answer.
    #[error("the server gave no answer for {} seconds", REPLY_DEADLINE.as_secs())]
    Silent,
    /// Whoever used this pressed Ctrl-C twice.
    #[error("interrupted before the server answered")]
    Interrupted(#[source] Interruption),
    /// The server answered with an error.
    #[error("{message}")]
    Refused { code: i64, message: String },
    /// The answer is none.
    #[error("the server sent something that cannot be read")]
    Malformed(#[source] serde_json::Error),
}

#[derive(Deserialize)]
struct Message {
    /// Only of a notification: a server has no requests.
    method: Option<String>,
    id: Option<Value>,
    result: Option<Box<RawValue>>,
    error: Option<ErrorObject>,
}

#[derive(Deserialize)]
struct ErrorObject {
    code: i64,
    message: String,
}

impl Client {
    /// Starts a server of this same program.
    ///
    /// # Errors
    /// [`ClientError::Start`] and [`ClientError::Thread`].
    pub(super) fn start(place: Place<'_>) -> Result<Self, ClientError> {
        let mut command = Command::new(std::env::current_exe().map_err(ClientError::Start)?);
        command.arg("serve");
        let options = [("--data-dir", place.data_dir), ("--config", place.config)];
        for (option, path) in options {
            if let Some(path) = path {
                command.arg(option).arg(path);
            }
        }
        Self::spawn(command)
    }

    /// Starts any server.
    ///
    /// # Errors
    /// [`ClientError::Start`] and [`ClientError::Thread`].
    fn spawn(mut command: Command) -> Result<Self, ClientError> {
        let (sender, events) = mpsc::channel();
        forward_signals(sender.clone())?;
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A group of its own: Ctrl-C is for this program, which still has something to ask then.
            .process_group(0)
            .spawn()
            .map_err(ClientError::Start)?;
        let output = server
            .stdout
            .take()
            .expect("a piped stream is there until it is taken");
        let input = server.stdin.take();
        let client = Self {
            server,
            input,
            events,
            last_id: 0,
            has_ended: false,
            interruption: None,
            was_told: false,
        };
        spawn(move || forward_lines(output, &sender))?;
        Ok(client)
    }

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    /// Any other [`ClientError`].
    pub(super) fn request(
        &mut self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Value, ClientError> {
        let result = self.request_text(method, params)?;
        serde_json::from_str(result.get()).map_err(ClientError::Malformed)
    }

    /// As [`Client::request`]; the result as the server wrote it, with its members in their order.
    pub(super) fn request_text(
        &mut self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Box<RawValue>, ClientError> {
        let id = self.post(method, params)?;
        let give_up_at = Instant::now() + REPLY_DEADLINE;
        loop {
            let line = self.line(give_up_at)?;
            let message: Message = serde_json::from_str(&line).map_err(ClientError::Malformed)?;
            self.was_told |= message.method.is_some();
            // Anything else is an answer that came too late for an earlier request.
            if message.id.as_ref().and_then(Value::as_u64) == Some(id) {
                return answer(message);
            }
        }
    }

    /// Sends a request whose result nobody waits for, and gives its id.
    ///
    /// # Errors
    /// [`ClientError::Unable`] and [`ClientError::Gone`].
    pub(super) fn post(
        &mut self,
        method: &str,
        params: impl Serialize,
    ) -> Result<u64, ClientError> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&message(id, method, params))?;
        Ok(id)
    }

    /// Waits until the server tells something, or for as long as `duration`; the person may end that.
    pub(super) fn pause(&mut self, duration: Duration) -> Result<(), Interruption> {
        let until = Instant::now() + duration;
        loop {
            if let Some(interruption) = self.interruption {
                return Err(interruption);
            }
            if mem::take(&mut self.was_told) {
                return Ok(());
            }
            match self
                .events
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(Event::Interruption(interruption)) => self.interruption = Some(interruption),
                Ok(Event::Line(line)) => self.was_told = is_notification(&line),
                // The next request fails of it.
                Ok(Event::End) => self.has_ended = true,
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    unreachable!("the thread that forwards signals never ends")
                }
            }
        }
    }

    fn send(&mut self, message: &str) -> Result<(), ClientError> {
        // A server that has ended closes the pipe: an error of the write says no more than that.
        let sent = self
            .input
            .as_mut()
            .is_some_and(|input| writeln!(input, "{message}").is_ok());
        if sent { Ok(()) } else { Err(self.gone()) }
    }

    /// Why a server does not take or give messages any more. It has closed a stream, so it is about to end; one that
    /// stays is ended.
    fn gone(&mut self) -> ClientError {
        let status = self.end().ok().and_then(|status| status.code());
        match status.map(u8::try_from) {
            Some(Ok(FAILURE)) => ClientError::Unable,
            Some(Ok(USAGE)) => ClientError::Misconfigured,
            _ => ClientError::Gone,
        }
    }

    fn line(&mut self, give_up_at: Instant) -> Result<String, ClientError> {
        while !self.has_ended {
            let left = give_up_at.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(Event::Line(line)) => return Ok(line),
                Ok(Event::End) => self.has_ended = true,
                Ok(Event::Interruption(again)) if self.interruption.is_some() => {
                    return Err(ClientError::Interrupted(again));
                }
                Ok(Event::Interruption(interruption)) => self.interruption = Some(interruption),
                Err(_) => return Err(ClientError::Silent),
            }
        }
        Err(self.gone())
    }

    /// Has the server end: by itself where it does so in time. Gives how it ended, also where that was earlier.
    fn end(&mut self) -> io::Result<ExitStatus> {
        drop(self.input.take());
        self.await_end(Instant::now() + END_DEADLINE);
        // No job is lost: they do not need a server. It fails where the server has ended by itself.
        let _ = self.server.kill();
        self.server.wait()
    }

    /// Waits until the server has ended, at most until the deadline or the next signal. That it has closed its output
    /// is not enough: it may live on, or be about to say on standard error why it ends.
    fn await_end(&mut self, deadline: Instant) {
        while matches!(self.server.try_wait(), Ok(None)) && Instant::now() < deadline {
            if let Ok(Event::Interruption(_)) = self.events.recv_timeout(END_LOOK) {
                return;
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It fails only where somebody else has waited for the server.
        let _ = self.end();
    }
}

/// A request as JSON, with what this revision wants every request to say of its client. Its parameters have members.
///
/// *Source:* MCP 2026-07-28, Base Protocol, `_meta`; SEP-2663, Capability Negotiation.
pub(super) fn message(id: u64, method: &str, params: impl Serialize) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
        "io.modelcontextprotocol/clientInfo": {
            "name": "backburner", "version": env!("CARGO_PKG_VERSION"),
        },
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {"form": {}, "url": {}},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        },
    });
    let request = Request {
        jsonrpc: "2.0",
        id,
        method,
        params: Params {
            of_method: params,
            meta,
        },
    };
    serde_json::to_string(&request)
        .expect("members have names, and all of their values can be written")
}

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: Params<P>,
}

#[derive(Serialize)]
struct Params<P> {
    #[serde(flatten)]
    of_method: P,
    #[serde(rename = "_meta")]
    meta: Value,
}

/// Whether this is a notification; what is no message at all is none.
fn is_notification(line: &str) -> bool {
    serde_json::from_str::<Message>(line).is_ok_and(|message| message.method.is_some())
}

fn answer(message: Message) -> Result<Box<RawValue>, ClientError> {
    match message.error {
        Some(ErrorObject { code, message }) => Err(ClientError::Refused { code, message }),
        None => Ok(message.result.unwrap_or_else(|| RawValue::NULL.to_owned())),
    }
}

fn forward_lines(output: ChildStdout, events: &Sender<Event>) {
    for line in BufReader::new(output).lines() {
        let Ok(line) = line else { break };
        if events.send(Event::Line(line)).is_err() {
            return;
        }
    }
    // Fails where the client is gone, and nobody waits for it.
    let _ = events.send(Event::End);
}

/// Makes signals that ask this program to end into events. The thread lives as long as the program.
fn forward_signals(events: Sender<Event>) -> Result<(), ClientError> {
    let taken = signals::take().map_err(ClientError::Start)?;
    spawn(move || {
        signals::forward(taken, |interruption| {
            // Fails where the client is gone: the program is about to end anyway.
            let _ = events.send(Event::Interruption(interruption));
        });
    })
}

/// Starts a thread that nobody waits for.
fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), ClientError> {
    let thread = thread::Builder::new().spawn(work);
    thread.map(drop).map_err(ClientError::Thread)
}

#[cfg(test)]
mod tests;
