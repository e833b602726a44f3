//! How a stdio server is started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::test_dir::TestDir;

/// The variable with the directories in which programs are looked for.
const PATH: &str = "PATH";

/// How a server is started, where it is not as usual.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The program and the arguments that come before those of `serve`; the real binary where this is empty. Servers
    /// of all hosts take the same flags.
    pub program: Vec<OsString>,
    /// Flags of `backburner serve`.
    pub flags: Vec<String>,
    /// Variables beside those of the test.
    pub environment: Vec<(String, OsString)>,
    /// Where the server works; in the test's directory where this is `None`.
    pub directory: Option<PathBuf>,
    /// Where the server keeps what the next one on the same data has to find.
    pub data: Data,
}

/// Where a server keeps its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Data {
    /// In its data directory: another process goes on with it.
    #[default]
    InDirectory,
    /// In its memory: it is told by a line of its input to end for its client and to begin anew, see
    /// [`Real`](crate::party::Real).
    InMemory,
}

impl Setup {
    /// Starts with these flags of `backburner serve`.
    #[must_use]
    pub fn flags(flags: &[&str]) -> Self {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Self {
            flags,
            ..Self::default()
        }
    }

    /// Lets the server and its jobs find the programs of this directory before all others.
    ///
    /// # Panics
    /// Where its name has a colon in it.
    #[must_use]
    pub fn finding(mut self, directory: &Path) -> Self {
        let given = self.environment.iter().rposition(|(name, _)| name == PATH);
        let known = given.map(|place| self.environment.remove(place).1);
        let known = known.or_else(|| std::env::var_os(PATH)).unwrap_or_default();
        let first = std::iter::once(directory.to_owned());
        let all = std::env::join_paths(first.chain(std::env::split_paths(&known)));
        let all = all.expect("the build's directory has no colon in its name");
        self.environment.push((PATH.to_owned(), all));
        self
    }

    /// The process, with the data directory of `dir`, before its streams are set.
    #[must_use]
    pub fn command(&self, dir: &TestDir) -> Command {
        let mut words = self.program.iter();
        let mut command = match words.next() {
            Some(program) => Command::new(program),
            None => crate::program(),
        };
        command
            .args(words)
            .arg("--data-dir")
            .arg(dir.data())
            .arg("serve")
            .args(&self.flags)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.directory.as_deref().unwrap_or(dir.path()));
        command
    }
}
