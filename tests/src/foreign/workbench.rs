//! Where something in another language is installed and run.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use walkdir::WalkDir;

use crate::deadline::until;

/// How long an installation or a run of tests may take. They take a minute or two on two quiet cores; what takes this
/// long hangs.
const STEP_PATIENCE: Duration = Duration::from_secs(900);

/// How many lines of what a step wrote are shown where it failed: the summaries of test runners are at the end.
const LINES_SHOWN: usize = 150;

/// A directory below that of the build, which is kept: what was installed there is still there in the next run.
#[derive(Debug)]
pub struct Workbench {
    path: PathBuf,
    /// How many steps have begun: each writes a log of its own, since tests of one program may share a workbench.
    steps: AtomicU32,
    /// Locked for as long as this exists: another run of the tests may have the same directory.
    _lock: File,
}

impl Workbench {
    /// Opens the one of this name, when nobody else uses it. `build` is `CARGO_TARGET_TMPDIR`, which only a test is
    /// told.
    ///
    /// # Panics
    /// Where the build's directory cannot be written.
    #[must_use]
    pub fn open(build: &str, name: &str) -> Self {
        let hosts = Path::new(build).join("hosts");
        let path = hosts.join(name);
        fs::create_dir_all(&path).expect("the build's directory can be written");
        let lock = File::create(hosts.join(format!("{name}.lock")));
        let lock = lock.expect("the build's directory can be written");
        lock.lock().expect("files can be locked there");
        Self {
            path,
            steps: AtomicU32::new(0),
            _lock: lock,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes its files those of `source`, and leaves alone what is called as one of `made`: that is installed or built.
    ///
    /// # Panics
    /// Where the one cannot be read or the other not be written.
    pub fn copy(&self, source: &Path, made: &[&str]) {
        let is_made = |name: &std::ffi::OsStr| made.iter().any(|it| name == *it);
        for entry in fs::read_dir(&self.path).expect("the workbench can be listed") {
            let entry = entry.expect("the workbench can be listed");
            if !is_made(&entry.file_name()) {
                remove(&entry.path());
            }
        }
        let all = WalkDir::new(source).min_depth(1).into_iter();
        for entry in all.filter_entry(|entry| !is_made(entry.file_name())) {
            let entry = entry.expect("the project's files can be listed");
            let below = entry.path().strip_prefix(source).unwrap_or(entry.path());
            let copy = self.path.join(below);
            let made = if entry.file_type().is_dir() {
                fs::create_dir(&copy)
            } else {
                fs::copy(entry.path(), &copy).map(|_| ())
            };
            made.unwrap_or_else(|error| panic!("{} cannot be made: {error}", copy.display()));
        }
    }

    /// Runs a step there to its good end.
    ///
    /// # Panics
    /// Where it fails or does not end, with the end of what it wrote.
    pub fn run(&self, command: &mut Command) {
        let Ended { status, text } = self.attempt(command);
        let lines: Vec<&str> = text.lines().collect();
        let end = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
        assert!(status.success(), "{command:?} failed ({status}):\n{end}");
    }

    /// Runs a step there to its end, whatever that is.
    ///
    /// # Panics
    /// Where it does not start or does not end.
    pub fn attempt(&self, command: &mut Command) -> Ended {
        let step = self.steps.fetch_add(1, Ordering::Relaxed);
        let log = self.path.join(format!("step-{step}.log"));
        let output = File::create(&log).expect("the workbench can be written");
        let errors = output.try_clone().expect("a descriptor can be duplicated");
        command
            .current_dir(&self.path)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .process_group(0);
        let status = Step::start(command).end();
        let text = fs::read(&log).expect("what was just written can be read");
        let text = String::from_utf8_lossy(&text).into_owned();
        Ended { status, text }
    }
}

/// How a step ended.
#[derive(Debug)]
pub struct Ended {
    /// By itself or by a signal.
    pub status: ExitStatus,
    /// What it wrote to both of its streams.
    pub text: String,
}

fn remove(path: &Path) {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    removed.unwrap_or_else(|error| panic!("{} cannot be removed: {error}", path.display()));
}

/// A process that leads a group of its own. It is killed with its group where it still runs when this is dropped.
struct Step(Child);

impl Step {
    fn start(command: &mut Command) -> Self {
        let child = command.spawn();
        Self(child.unwrap_or_else(|error| panic!("{command:?} does not start: {error}")))
    }

    fn end(mut self) -> ExitStatus {
        until(STEP_PATIENCE, "a step to end", || {
            let ended = self.0.try_wait().expect("our own child can be waited for");
            ended.ok_or_else(|| "it runs".to_owned())
        })
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            // Both fail only where it has ended meanwhile, which is as good.
            let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
            let _ = self.0.wait();
        }
    }
}
