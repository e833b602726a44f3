//! A server that is a program, such as the real binary, with real processes and real time.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Party;
use crate::deadline::PATIENCE;
use crate::server::Server;
use crate::setup::{Data, Setup};
use crate::test_dir::TestDir;

/// The line at which a server with its data in its memory ends for its client, and begins anew on this data: no message
/// is like it. It is also in `host/node/test/in-memory.js` and `host/python/tests/in_memory.py`.
const REOPEN: &[u8] = b"\x04\n";

/// A stdio server on a data directory of its own, or on its own memory.
#[derive(Debug)]
pub struct Real {
    dir: TestDir,
    setup: Setup,
    server: Server,
    /// Written by servers that have ended.
    left: VecDeque<String>,
}

impl Real {
    /// Starts the binary. `config` is what the component would get, and is given as flags and a file.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn new(config: &Value) -> Self {
        Self::with(Setup::default(), config)
    }

    /// Starts a server as `setup` says, with flags and a file for `config` beside its own.
    ///
    /// # Panics
    /// As [`Real::new`].
    #[must_use]
    pub fn with(mut setup: Setup, config: &Value) -> Self {
        let dir = TestDir::new();
        let mut in_file = String::new();
        for (name, value) in config.as_object().expect("a configuration is an object") {
            match flag(name, value) {
                Some(flag) => setup.flags.extend(flag),
                // The binary says itself where it works, and other hosts what their file says.
                None if name == "workingDirectory" && setup.program.is_empty() => {
                    setup.directory = value.as_str().map(PathBuf::from);
                }
                None => in_file += &format!("{name} = {}\n", toml(value)),
            }
        }
        if config.get("terminals").is_none() {
            // By default the binary has some, and who answers with the same bytes has not.
            in_file.insert_str(0, "terminals = false\n");
        }
        if !in_file.is_empty() {
            let file = dir.path().join("backburner.toml");
            fs::write(&file, in_file).expect("the test's directory can be written");
            let file = file.to_str().expect("the paths of tests are UTF-8");
            setup.flags.extend(["--config".to_owned(), file.to_owned()]);
        }
        let server = Server::start_with(&dir, &setup);
        Self {
            dir,
            setup,
            server,
            left: VecDeque::new(),
        }
    }
}

/// The flag that sets a member of the configuration, and its value.
fn flag(name: &str, value: &Value) -> Option<[String; 2]> {
    let ms = value.as_u64();
    match name {
        "directLimitMs" => Some(["--direct-limit".to_owned(), ms?.to_string()]),
        "syncLimitMs" => {
            assert_eq!(ms? % 1000, 0, "the flag is in seconds");
            Some(["--sync-limit".to_owned(), (ms? / 1000).to_string()])
        }
        _ => None,
    }
}

/// A value as TOML writes it, in one line.
fn toml(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", list(items.iter().map(toml).collect())),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| format!("{} = {}", json!(name), toml(value)));
            format!("{{ {} }}", list(members.collect()))
        }
        Value::Null => panic!("TOML has no null"),
        // Written alike.
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

impl Party for Real {
    fn send(&mut self, line: &str) {
        self.server.send_raw(format!("{line}\n").as_bytes());
    }

    fn receive(&mut self) -> Option<String> {
        let line = self.left.pop_front();
        Some(line.unwrap_or_else(|| self.server.receive_line(PATIENCE)))
    }

    fn pass(&mut self, _ms: u64) {}

    fn reopen(&mut self) {
        if self.setup.data == Data::InMemory {
            // What the one still answers comes before all that the next one does.
            self.server.send_raw(REOPEN);
            return;
        }
        let exit = self.server.close();
        assert!(exit.status.success(), "the server ended with {exit:?}");
        self.left.extend(exit.unread_lines);
        self.server = Server::start_with(&self.dir, &self.setup);
    }

    fn finish(&mut self) -> Vec<String> {
        let exit = self.server.close();
        assert!(exit.status.success(), "the server ended with {exit:?}");
        self.left.drain(..).chain(exit.unread_lines).collect()
    }
}
