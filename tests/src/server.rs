//! The real binary as a client sees it: a child that is spoken to over its standard streams.

use std::collections::VecDeque;
use std::io::Write;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::deadline::{PATIENCE, until, until_ended};
use crate::message::{Client, VERSION, check_message, request, run_call, tool_call};
use crate::say::say;
use crate::setup::Setup;
use crate::streams::{Line, collect, read_lines};
use crate::test_dir::TestDir;

/// How a server ended.
#[derive(Clone, Debug)]
pub struct Exit {
    /// Its status.
    pub status: ExitStatus,
    /// What it wrote to standard output and nobody had received: messages, in order.
    pub unread: Vec<Value>,
    /// The last of these, byte for byte: what nobody had waited for.
    pub unread_lines: Vec<String>,
    /// All that it wrote to standard error.
    pub stderr: String,
}

/// A running server and the client's ends of its streams. It is killed when this is dropped; its jobs go on.
///
/// Every line that the server writes is checked to be a message, also where no test looks at it: what nobody has received
/// when this is dropped is checked then. Of a server that was killed the last line may be cut.
#[derive(Debug)]
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Line>,
    /// Received while another id was waited for.
    inbox: VecDeque<Value>,
    stderr: Arc<Mutex<String>>,
    next_id: u64,
}

impl Server {
    /// Starts one on the data directory of `dir`.
    ///
    /// # Panics
    /// Where the binary does not build or start.
    #[must_use]
    pub fn start(dir: &TestDir) -> Self {
        Self::start_with(dir, &Setup::default())
    }

    /// Starts one that is set up otherwise than usual.
    ///
    /// # Panics
    /// Where the binary does not build or start.
    #[must_use]
    pub fn start_with(dir: &TestDir, setup: &Setup) -> Self {
        Self::spawn(&mut setup.command(dir))
    }

    /// Starts one from a command that is ready but for its streams.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let stdout = child.stdout.take().expect("standard output is piped");
        let stderr = child.stderr.take().expect("standard error is piped");
        Self {
            stdin: child.stdin.take(),
            child,
            lines: read_lines(stdout),
            inbox: VecDeque::new(),
            stderr: collect(stderr),
            next_id: 1,
        }
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends one message.
    ///
    /// # Panics
    /// Where the server does not take it.
    pub fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    /// Sends bytes as they are; a line ends with a line break.
    ///
    /// # Panics
    /// Where the server does not take them.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self
            .stdin
            .as_mut()
            .expect("standard input was not closed before");
        let sent = stdin.write_all(bytes).and_then(|()| stdin.flush());
        if let Err(error) = sent {
            panic!(
                "the server does not take input: {error}; {}",
                self.last_words()
            );
        }
    }

    /// Sends a request and gives the id that it was given, without waiting for the reply.
    ///
    /// # Panics
    /// Where the server does not take it.
    pub fn post(&mut self, method: &str, params: &Value, client: Client) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&request(id, method, params, client));
        id
    }

    /// Sends a request and gives its reply.
    ///
    /// # Panics
    /// Where there is none in [`PATIENCE`].
    pub fn request(&mut self, method: &str, params: &Value, client: Client) -> Value {
        let id = self.post(method, params, client);
        self.reply(&json!(id))
    }

    /// Sends a request and gives its result.
    ///
    /// # Panics
    /// Where there is no result in [`PATIENCE`].
    pub fn result(&mut self, method: &str, params: &Value, client: Client) -> Value {
        let reply = self.request(method, params, client);
        match reply.get("result") {
            Some(result) => result.clone(),
            None => panic!("{method} failed: {reply}; {}", self.last_words()),
        }
    }

    /// Asks something that every server answers.
    ///
    /// # Panics
    /// Where it does not.
    pub fn assert_alive(&mut self) {
        let result = self.result("server/discover", &json!({}), Client::Plain);
        assert_eq!(result["supportedVersions"], json!([VERSION]));
    }

    /// Runs a shell line as a client with the Tasks extension and gives the task's id, also where the call was
    /// answered directly.
    ///
    /// # Panics
    /// Where the call fails.
    pub fn run(&mut self, command: &str) -> String {
        self.call(&run_call(command)["arguments"])
    }

    /// As [`Server::run`], with all arguments of the tool.
    ///
    /// # Panics
    /// Where the call fails.
    pub fn call(&mut self, arguments: &Value) -> String {
        let result = self.result("tools/call", &tool_call(arguments), Client::Tasks);
        let id = match result["taskId"].as_str() {
            Some(id) => Some(id),
            None => result["structuredContent"]["taskId"].as_str(),
        };
        id.unwrap_or_else(|| panic!("the call gave no task: {result}"))
            .to_owned()
    }

    /// What `tasks/get` gives for a task.
    ///
    /// # Panics
    /// Where it fails.
    pub fn task(&mut self, id: &str) -> Value {
        self.result("tasks/get", &json!({ "taskId": id }), Client::Tasks)
    }

    /// Polls a task until it is not `working` any more.
    ///
    /// # Panics
    /// Where it still is after [`PATIENCE`].
    pub fn ended_task(&mut self, id: &str) -> Value {
        until_ended(|| self.task(id))
    }

    /// The reply to the request with this id; replies to others are kept for later.
    ///
    /// # Panics
    /// Where there is none in [`PATIENCE`].
    pub fn reply(&mut self, id: &Value) -> Value {
        if let Some(place) = self
            .inbox
            .iter()
            .position(|message| message.get("id") == Some(id))
        {
            return self.inbox.remove(place).expect("the place was just found");
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self.next_message(deadline, &format!("the reply to {id}"));
            if message.get("id") == Some(id) {
                return message;
            }
            self.inbox.push_back(message);
        }
    }

    /// The next message, whatever it answers.
    ///
    /// # Panics
    /// Where there is none before `patience` has passed.
    pub fn receive(&mut self, patience: Duration) -> Value {
        match self.inbox.pop_front() {
            Some(message) => message,
            None => self.next_message(Instant::now() + patience, "a message"),
        }
    }

    /// The next message, whatever it answers, byte for byte; one that was received before is not given again.
    ///
    /// # Panics
    /// Where there is none before `patience` has passed.
    pub fn receive_line(&mut self, patience: Duration) -> String {
        let line = self.next_line(Instant::now() + patience, "a message");
        self.checked(&line);
        line
    }

    /// The next message, whatever it answers; `None` where there is none before `patience` has passed.
    ///
    /// # Panics
    /// Where the server has closed its output.
    pub fn receive_within(&mut self, patience: Duration) -> Option<Value> {
        if let Some(message) = self.inbox.pop_front() {
            return Some(message);
        }
        match self.lines.recv_timeout(patience) {
            Ok(line) => Some(self.checked(&line.text)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                panic!("the server closed its output; {}", self.last_words())
            }
        }
    }

    fn next_message(&mut self, deadline: Instant, what: &str) -> Value {
        let line = self.next_line(deadline, what);
        self.checked(&line)
    }

    fn next_line(&mut self, deadline: Instant, what: &str) -> String {
        let patience = deadline.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(patience) {
            Ok(line) => line.text,
            Err(RecvTimeoutError::Timeout) => {
                panic!("waited for {what} in vain; {}", self.last_words())
            }
            Err(RecvTimeoutError::Disconnected) => {
                panic!(
                    "the server closed its output before {what} came; {}",
                    self.last_words()
                )
            }
        }
    }

    fn checked(&self, line: &str) -> Value {
        check_message(line).unwrap_or_else(|error| {
            panic!(
                "the server wrote what is no message: {error}; {}",
                self.last_words()
            )
        })
    }

    /// Closes the server's standard input, as a client does that goes away.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Kills the server and waits until it is gone. Its jobs go on.
    ///
    /// # Panics
    /// Where the system does not let us.
    pub fn kill(&mut self) {
        self.child.kill().expect("our own child can be killed");
        self.child.wait().expect("our own child can be waited for");
    }

    /// Waits until the server has ended by itself.
    ///
    /// # Panics
    /// Where it has not when `patience` has passed, or wrote what is no message.
    pub fn wait_exit(&mut self, patience: Duration) -> Exit {
        let status = until(patience, "the server to exit", || {
            let ended = self
                .child
                .try_wait()
                .expect("our own child can be waited for");
            ended.ok_or_else(|| format!("it runs; {}", self.last_words()))
        });
        let mut unread: Vec<Value> = self.inbox.drain(..).collect();
        let mut unread_lines = Vec::new();
        for line in self.rest() {
            let may_be_cut = status.code().is_none();
            assert!(
                line.is_whole || may_be_cut,
                "a message that does not end: {}",
                line.text
            );
            unread.push(self.checked(&line.text));
            unread_lines.push(line.text);
        }
        Exit {
            status,
            unread,
            unread_lines,
            stderr: self.stderr(),
        }
    }

    /// What the server wrote and nobody received, when it has ended.
    fn rest(&self) -> Vec<Line> {
        // The reading thread ends with the stream, which nobody else holds open: jobs get none of it.
        let deadline = Instant::now() + PATIENCE;
        let mut rest = Vec::new();
        loop {
            let patience = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(patience) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => return rest,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("somebody holds the server's output open after its end")
                }
            }
        }
    }

    /// Closes the server's input and waits for its end.
    ///
    /// # Panics
    /// As [`Server::wait_exit`].
    pub fn close(&mut self) -> Exit {
        self.close_stdin();
        self.wait_exit(PATIENCE)
    }

    /// What it has written to standard error so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.stderr
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn last_words(&self) -> String {
        format!(
            "unread: {:?}; standard error: {:?}",
            self.inbox,
            self.stderr()
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only where it has ended before, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Whoever has the streams from it and waits for input ends with that.
        self.close_stdin();
        if thread::panicking() {
            say(&format!("the server's standard error:\n{}", self.stderr()));
            return;
        }
        for line in self.rest().iter().filter(|line| line.is_whole) {
            self.checked(&line.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// A server that has written this, and that nobody has listened to.
    fn unheard(output: &str) -> Server {
        let mut command = Command::new("sh");
        command
            .args(["-c", "printf %s \"$OUTPUT\"; echo said >&2; exec sleep 60"])
            .env("OUTPUT", output);
        let server = Server::spawn(&mut command);
        until(PATIENCE, "it to have written", || {
            let said = server.stderr();
            said.contains("said").then_some(()).ok_or(said)
        });
        server
    }

    #[test]
    fn whoever_outlives_a_server_and_waits_for_its_input_holds_up_nobody() {
        let mut command = Command::new("sh");
        // Without a descriptor of its own what runs in the background would read nothing.
        command.args(["-c", "exec 3<&0; cat <&3 & echo said >&2; exec sleep 60"]);
        let server = Server::spawn(&mut command);
        until(PATIENCE, "it to have started both", || {
            let said = server.stderr();
            said.contains("said").then_some(()).ok_or(said)
        });
        // It panics where somebody holds the output open.
        drop(server);
    }

    #[test]
    fn what_nobody_listened_to_is_checked_in_the_end() {
        let is_taken = |output: &str| {
            let server = unheard(output);
            catch_unwind(AssertUnwindSafe(|| drop(server))).is_ok()
        };
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete"}});
        assert!(is_taken(&format!("{message}\n")));
        assert!(
            is_taken(r#"{"jsonrpc":"2.0","id""#),
            "a kill may cut the last line"
        );
        assert!(!is_taken("a library prints\n"));
        assert!(!is_taken(&format!(
            "{message}\na library prints\n{message}\n"
        )));
    }
}
