//! The bridge from HTTP to stdio, `tests/clients/bridge.js`, as a process.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};

use backburner_tests::foreign::Workbench;
use backburner_tests::{PATIENCE, Setup, TestDir, until};

use crate::packages::{command, programs};

/// A bridge that runs. It is killed where it is dropped and not ended.
pub(crate) struct Bridge {
    process: Child,
    url: String,
    /// What it and its servers write to their standard error.
    log: PathBuf,
}

impl Bridge {
    /// Starts one, to servers that `setup` starts, with the data directory of `dir`.
    pub(crate) fn start(bench: &Workbench, dir: &TestDir, setup: &Setup) -> Self {
        let log = dir.path().join("bridge.log");
        let server = setup.command(dir);
        let environment = setup.environment.iter();
        let mut command = command("node", &programs(bench));
        command
            .arg(bench.path().join("bridge.js"))
            .arg(server.get_program())
            .args(server.get_args())
            .envs(environment.map(|(name, value)| (name, value)))
            .current_dir(dir.path())
            // It ends with this.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).expect("the test's directory can be written"));
        let mut process = command.spawn().expect("the installed Node starts");
        let output = process.stdout.take().expect("it is piped");
        let mut url = String::new();
        let read = BufReader::new(output).read_line(&mut url);
        read.expect("the URL is text");
        let bridge = Self {
            process,
            url: url.trim_end().to_owned(),
            log,
        };
        assert!(!bridge.url.is_empty(), "no URL: {}", bridge.said());
        bridge
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Ends it.
    ///
    /// # Panics
    /// Where it saw a message that has not the shape that the official Tasks package gives it.
    pub(crate) fn end(mut self) {
        drop(self.process.stdin.take());
        let status: ExitStatus = until(PATIENCE, "the bridge to end", || {
            let ended = self
                .process
                .try_wait()
                .expect("our own child can be waited for");
            ended.ok_or_else(|| "it runs".to_owned())
        });
        assert!(status.success(), "the bridge complains: {}", self.said());
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_else(|error| error.to_string())
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // Both fail only where it has ended, which is as good. Its servers end with their input.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
