//! A data directory, a command that says when it ran and waits to be let go on, and the servers that a test needs.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use backburner::store::{SqliteStore, Store};
use backburner_tests::{
    Client, CrashPoint, PATIENCE, Plan, Server, Setup, TestDir, Trouble, processes_of_task,
    supervisor_of_task, supervisors, tool_call, until,
};
use rustix::fs::OFlags;
use serde_json::{Value, json};

/// Long enough that a call is always answered directly, in milliseconds.
const DIRECTLY_MS: u64 = 60_000;

/// One test's place.
pub(crate) struct Scene {
    pub(crate) dir: TestDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Self {
            dir: TestDir::new(),
        };
        fs::write(scene.path("on"), "").expect("the test's directory can be written");
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A real server that answers every call with a task.
    pub(crate) fn server(&self) -> Server {
        Server::start_with(&self.dir, &Setup::flags(&["--direct-limit", "0"]))
    }

    /// A server that dies at this point, and answers calls with a task.
    pub(crate) fn crashing(&self, point: CrashPoint) -> Server {
        self.troubled(Trouble::Death(point), 0)
    }

    /// A server that dies at this point, and answers calls with their result.
    pub(crate) fn crashing_directly(&self, point: CrashPoint) -> Server {
        self.troubled(Trouble::Death(point), DIRECTLY_MS)
    }

    /// A server that gets into trouble.
    pub(crate) fn troubled(&self, trouble: Trouble, direct_limit_ms: u64) -> Server {
        let plan = Plan {
            supervisor: backburner_tests::binary().to_owned(),
            direct_limit_ms,
            trouble,
        };
        let program = Path::new(env!("CARGO_BIN_EXE_crashing_server"));
        Server::spawn(&mut plan.command(&self.dir, program))
    }

    /// A shell line that adds a line to the log, waits for the gate to be opened, and ends with this code.
    pub(crate) fn line(&self, code: u8) -> String {
        format!(
            "{}; {}; exit {code}",
            self.log_line("run"),
            self.wait_line()
        )
    }

    /// A shell line that adds a line to the log, in one write.
    pub(crate) fn log_line(&self, text: &str) -> String {
        format!("echo {text} >> '{}'", self.path("log").display())
    }

    /// A shell line that waits for the gate; or for the end of the test, should that come first.
    pub(crate) fn wait_line(&self) -> String {
        format!("{}; do sleep 0.02; done", self.while_closed())
    }

    /// The beginning of a shell loop that ends when the gate is opened, or with the test.
    pub(crate) fn while_closed(&self) -> String {
        let (on, gate) = (self.path("on"), self.path("gate"));
        format!(
            "while [ -e '{}' ] && [ ! -e '{}' ]",
            on.display(),
            gate.display()
        )
    }

    /// Lets all commands go on.
    pub(crate) fn open_gate(&self) {
        fs::write(self.path("gate"), "").expect("the test's directory can be written");
    }

    /// What commands have written to the log.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until commands have written so many lines to the log.
    pub(crate) fn wait_for_log(&self, lines: usize) {
        until(PATIENCE, "the command to run", || {
            let log = self.log();
            if log.len() >= lines {
                Ok(())
            } else {
                Err(format!("the log is {log:?}"))
            }
        });
    }

    /// Where the files of a task's job are.
    pub(crate) fn job(&self, id: &str) -> PathBuf {
        self.dir.data().join("jobs").join(id)
    }

    /// Waits until a job has ended under its supervisor, and that too, whatever servers do.
    pub(crate) fn wait_for_job_to_end(&self, id: &str) {
        let [outcome, alive] = ["outcome.json", "alive"].map(|name| self.job(id).join(name));
        until(PATIENCE, "the job to end", || {
            // In this order: a supervisor that has just been started cannot be told from one that has ended. And one that
            // ends has no command line a moment before its files are closed.
            match (outcome.exists(), supervisor_of_task(id), is_held(&alive)) {
                (true, None, false) => Ok(()),
                seen => Err(format!("the outcome, the supervisor, its life: {seen:?}")),
            }
        });
    }

    /// Waits until no command of the scene runs any more, those that nobody was told of included.
    pub(crate) fn wait_for_all_to_go(&self) {
        until(PATIENCE, "all supervisors to end", || {
            let mut left = supervisors();
            left.retain(|(_, id)| self.job(id).exists());
            if left.is_empty() {
                Ok(())
            } else {
                Err(format!("{left:?}"))
            }
        });
    }

    /// Waits until nothing is kept of a job.
    pub(crate) fn wait_for_deletion(&self, id: &str) {
        let files = self.job(id);
        until(PATIENCE, "the job's files to be deleted", || {
            if files.exists() {
                Err(format!("{} is there", files.display()))
            } else {
                Ok(())
            }
        });
    }

    /// The ids of all tasks, as the store has them.
    pub(crate) fn recorded(&self) -> Vec<String> {
        let store = SqliteStore::open(&self.dir.data().join("backburner.db"));
        let store = store.expect("the store can be opened");
        let found = store.scan("task/", None, 100).expect("it can be read");
        let keys = found.into_iter().map(|entry| entry.key);
        keys.map(|key| key.replacen("task/", "", 1)).collect()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Where it cannot be removed, it goes with the whole directory.
        let _ = fs::remove_file(self.path("on"));
    }
}

/// Whether somebody has a FIFO open for writing.
fn is_held(fifo: &Path) -> bool {
    let opened = File::options()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(fifo);
    let read = opened.and_then(|mut fifo| fifo.read(&mut [0]));
    read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

/// A call that is always the same one, for the client and the server.
pub(crate) fn keyed_call(line: &str) -> Value {
    json!({ "command": line, "idempotencyKey": "the only one" })
}

/// Sends a call and sees the server die of it, without an answer.
pub(crate) fn dies_of_call(mut server: Server, arguments: &Value) {
    server.post("tools/call", &tool_call(arguments), Client::Tasks);
    assert_killed(server);
}

/// Sends a request about a task and sees the server die of it, without an answer.
pub(crate) fn dies_of(mut server: Server, method: &str, id: &str) {
    server.post(method, &json!({ "taskId": id }), Client::Tasks);
    assert_killed(server);
}

/// Waits until the server has killed itself, and sees that it has told nobody anything.
pub(crate) fn assert_killed(mut server: Server) {
    let exit = server.wait_exit(PATIENCE);
    assert_eq!(exit.status.signal(), Some(9), "{exit:?}");
    assert_eq!(exit.unread, Vec::<Value>::new());
}

pub(crate) fn cancel(server: &mut Server, id: &str) {
    server.result("tasks/cancel", &json!({ "taskId": id }), Client::Tasks);
}

/// Sees that a task has ended with its command's exit code.
pub(crate) fn assert_exit_code(task: &Value, code: u8) {
    assert_eq!(task["status"], "completed", "{task}");
    let result = &task["result"];
    assert_eq!(result["structuredContent"]["exitCode"], code, "{task}");
    assert_eq!(result["isError"], code != 0, "{task}");
}

/// Sees that a task has failed, and that its message says this.
pub(crate) fn assert_failed(task: &Value, words: &str) {
    assert_eq!(task["status"], "failed", "{task}");
    assert_eq!(task["error"]["code"], -32603, "{task}");
    let message = task["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains(words), "{task}");
}

/// Sees that nothing runs of a job that has ended, and that its supervisor goes.
pub(crate) fn assert_nothing_left(id: &str) {
    assert_eq!(processes_of_task(id), []);
    until(PATIENCE, "the supervisor to end", || {
        supervisor_of_task(id).map_or(Ok(()), |pid| Err(format!("{pid} runs")))
    });
}
