//! The JavaScript host in pages of a browser, which a package of npm has.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::javascript::run;
use super::workbench::Workbench;
use crate::deadline::PATIENCE;
use crate::setup::{Data, Setup};
use crate::streams::read_lines;

/// What tells a server where its page is to be: the line that `pages.js` writes.
const VARIABLE: &str = "BACKBURNER_PAGES";

/// What it needs beside npm and this machine lacks.
#[must_use]
pub fn missing() -> Option<&'static str> {
    if cfg!(target_arch = "x86_64") {
        None
    } else {
        Some("x86-64, for which its package has Chromium,")
    }
}

/// A browser for any number of servers, each of which is a page of its own. It ends when this is dropped.
#[derive(Debug)]
pub struct Pages {
    process: Child,
    /// Where it is, for the servers.
    place: String,
}

impl Pages {
    /// Starts it, on a workbench that is built. Chromium is unpacked to `scratch`.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn open(bench: &Workbench, scratch: &Path) -> Self {
        let words = run(bench, "test/pages.js");
        let log = bench.path().join("pages.log");
        let errors = File::create(&log).expect("the workbench can be written");
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .env("TMPDIR", scratch)
            .current_dir(bench.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors);
        let process = command.spawn();
        let mut pages = Self {
            process: process.unwrap_or_else(|error| panic!("{command:?} does not start: {error}")),
            place: String::new(),
        };
        let output = pages.process.stdout.take();
        let lines = read_lines(output.expect("standard output is piped"));
        let line = lines.recv_timeout(PATIENCE).unwrap_or_else(|error| {
            let said = fs::read_to_string(&log).unwrap_or_default();
            panic!("the browser does not start ({error}): {said}")
        });
        pages.place = line.text;
        pages
    }

    /// How a server is started that is a page, with its store in memory and functions as jobs.
    #[must_use]
    pub fn setup(&self, bench: &Workbench) -> Setup {
        Setup {
            program: run(bench, "test/page-server.js"),
            environment: vec![(VARIABLE.to_owned(), self.place.clone().into())],
            data: Data::InMemory,
            ..Setup::default()
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // This closes its input, with which it ends and ends the browser, if need be by force. It fails only where it
        // has ended before, which is as good.
        let _ = self.process.wait();
    }
}
