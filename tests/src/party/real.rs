//! A server that is a program, such as the real binary, with real processes and real time.

use std::collections::VecDeque;

use serde_json::Value;

use super::Party;
use crate::deadline::PATIENCE;
use crate::server::Server;
use crate::setup::Setup;
use crate::test_dir::TestDir;

/// A stdio server on a data directory of its own.
#[derive(Debug)]
pub struct Real {
    dir: TestDir,
    setup: Setup,
    server: Server,
    /// Written by servers that have ended.
    left: VecDeque<String>,
}

impl Real {
    /// Starts the binary. `config` is what the component would get, and is given as flags.
    ///
    /// # Panics
    /// Where it does not start, or `config` has a member that no flag sets.
    #[must_use]
    pub fn new(config: &Value) -> Self {
        Self::with(Setup::default(), config)
    }

    /// Starts a server as `setup` says, with flags for `config` beside its own.
    ///
    /// # Panics
    /// As [`Real::new`].
    #[must_use]
    pub fn with(mut setup: Setup, config: &Value) -> Self {
        let dir = TestDir::new();
        setup.flags.extend(flags(config));
        let server = Server::start_with(&dir, &setup);
        Self {
            dir,
            setup,
            server,
            left: VecDeque::new(),
        }
    }
}

fn flags(config: &Value) -> Vec<String> {
    let members = config.as_object().expect("a configuration is an object");
    let flags = members.iter().flat_map(|(name, value)| {
        let ms = value.as_u64().expect("a limit is a number");
        match name.as_str() {
            "directLimitMs" => ["--direct-limit".to_owned(), ms.to_string()],
            "syncLimitMs" => {
                assert_eq!(ms % 1000, 0, "the flag is in seconds");
                ["--sync-limit".to_owned(), (ms / 1000).to_string()]
            }
            other => panic!("no flag sets `{other}`"),
        }
    });
    flags.collect()
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
