//! The native host's jobs, with what the kit needs to ask from within them.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use backburner::jobs::{
    Failure, Fragment, Jobs, Spec, StartError, State, StopReason, SupervisedJobs,
};
use backburner_tests::binary;
use uuid::Uuid;

/// Jobs whose variables name the scripts of the need `questions`.
pub(crate) struct Asking {
    jobs: SupervisedJobs,
    variables: [(String, String); 2],
}

impl Asking {
    /// These jobs, with scripts that [`write_scripts`] wrote to this directory.
    pub(crate) fn new(jobs: SupervisedJobs, directory: &Path) -> Self {
        let variables = SCRIPTS.map(|(variable, _)| {
            let path = script(directory, variable).display().to_string();
            (variable.to_owned(), path)
        });
        Self { jobs, variables }
    }
}

/// The scripts: the variable that names each, and what it does with the program.
const SCRIPTS: [(&str, &str); 2] = [
    ("KIT_ASK", "ask \"$1\" --text"),
    ("KIT_PROGRESS", "progress \"$1\" \"$2\""),
];

/// Writes the scripts to a directory, once for all who open it.
pub(crate) fn write_scripts(directory: &Path) {
    for (variable, command) in SCRIPTS {
        let line = format!("exec '{}' {command}\n", binary().display());
        fs::write(script(directory, variable), line).expect("the test's directory can be written");
    }
}

fn script(directory: &Path, variable: &str) -> PathBuf {
    directory.join(variable)
}

impl Jobs for Asking {
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        let mut spec = spec.clone();
        // In front, so that a job's own variables win.
        spec.environment.splice(0..0, self.variables.clone());
        self.jobs.start(id, &spec)
    }

    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure> {
        self.jobs.stop(id, reason)
    }

    fn inspect(&self, id: Uuid) -> Result<State, Failure> {
        self.jobs.inspect(id)
    }

    fn answer(&self, id: Uuid, key: &str, answer: &str) -> Result<(), Failure> {
        self.jobs.answer(id, key, answer)
    }

    fn enter(&self, id: Uuid, key: &str, line: Option<&str>) -> Result<(), Failure> {
        self.jobs.enter(id, key, line)
    }

    fn read(&self, id: Uuid, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        self.jobs.read(id, offset, limit)
    }

    fn forget(&self, id: Uuid) -> Result<(), Failure> {
        self.jobs.forget(id)
    }

    fn ended(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.jobs.ended(id)
    }
}
