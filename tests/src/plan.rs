//! What the test program `crashing_server` is told to do, in one variable of its environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::test_dir::TestDir;

/// The variable that carries a [`Plan`] as JSON.
const VARIABLE: &str = "BACKBURNER_TESTS_PLAN";

/// How a server that gets into trouble is put together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The program of its supervisors: the real one.
    pub supervisor: PathBuf,
    /// How long a client with Tasks waits for a direct result, in milliseconds; 0 for not at all.
    pub direct_limit_ms: u64,
    /// What goes wrong.
    pub trouble: Trouble,
}

/// What goes wrong with a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Trouble {
    /// It kills itself with SIGKILL at this point.
    Death(CrashPoint),
    /// Its store has no room for as long as this file exists.
    FullStore(PathBuf),
    /// Its store prints [`NOISE`] to standard output at each look at a record, panics over [`CURSED`], and gives more
    /// than an instance can hold for [`HUGE`].
    HostileStore,
}

/// What a hostile store prints, as a line, and as bytes that are no line.
pub const NOISE: &str = "a library prints";

/// A task that a hostile store panics over.
pub const CURSED: &str = "00000000-0000-4000-8000-00000000dead";

/// A task that a hostile store says is larger than an instance's memory.
pub const HUGE: &str = "00000000-0000-4000-8000-000000000000";

/// How much that is: more than the 128 MiB that an instance may have.
pub const HUGE_BYTES: usize = 192 << 20;

/// An instant in the life of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashPoint {
    /// On which side of the step.
    pub side: Side,
    /// What the server does.
    pub step: Step,
    /// For which time it does it, from 1.
    pub number: u32,
}

/// On which side of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// It has not been done at all.
    Before,
    /// It has been done, and nobody was told.
    After,
}

/// What a server does with its store and its jobs, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// A commit of the store.
    Commit,
    /// The whole start of a job.
    Start,
    /// In the middle of a start, when the job is known: the execution of its supervisor, which does not happen
    /// either on the side before. Always for the first time.
    Supervise,
    /// The wait for a job whose call is to be answered directly.
    Wait,
    /// A request to stop a job.
    Stop,
    /// The deletion of a job.
    Forget,
}

impl CrashPoint {
    /// Before a step, for the first time that it is done.
    #[must_use]
    pub const fn before(step: Step) -> Self {
        Self::at(Side::Before, step)
    }

    /// After a step, for the first time that it is done.
    #[must_use]
    pub const fn after(step: Step) -> Self {
        Self::at(Side::After, step)
    }

    const fn at(side: Side, step: Step) -> Self {
        Self {
            side,
            step,
            number: 1,
        }
    }

    /// The same side of the same step, for the second time that it is done.
    #[must_use]
    pub const fn second(self) -> Self {
        Self { number: 2, ..self }
    }
}

impl Plan {
    /// The program `crashing_server`, which is at `program`, with the data directory of `dir`, before its streams
    /// are set.
    ///
    /// # Panics
    /// Where a path is not UTF-8.
    #[must_use]
    pub fn command(&self, dir: &TestDir, program: &Path) -> Command {
        let text = serde_json::to_string(self).expect("the paths of tests are UTF-8");
        let mut command = Command::new(program);
        command
            .env(VARIABLE, text)
            .env(backburner::data_dir::VARIABLE, dir.data())
            .current_dir(dir.path());
        command
    }

    /// The plan in the environment of this process.
    ///
    /// # Errors
    /// Where there is none, or it cannot be read.
    pub fn of_this_process() -> anyhow::Result<Self> {
        let text = std::env::var(VARIABLE)
            .with_context(|| format!("a test starts this program, with {VARIABLE}"))?;
        Ok(serde_json::from_str(&text)?)
    }
}
