//! A data directory of its own for each test, and ways to run a job in it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use backburner::jobs::{
    Command, Fragment, Jobs, Outcome, Progress, Spec, State, StopReason, SupervisedJobs,
};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use uuid::Uuid;

/// After so long a test has failed; generous, since machines that run tests are busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// An engine on a directory that goes away with the test.
pub(crate) struct Lab {
    pub(crate) jobs: SupervisedJobs,
    path: PathBuf,
    started: std::cell::RefCell<Vec<Uuid>>,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self::at(scratch())
    }

    /// A lab inside this directory.
    pub(crate) fn on(parent: &Path) -> Self {
        Self::at(parent.join("lab"))
    }

    /// A lab whose supervisors are started through a shell script of these lines.
    pub(crate) fn with_prelude(prelude: &str) -> Self {
        Self::prepared(scratch(), prelude)
    }

    /// Such a lab inside this directory.
    pub(crate) fn on_with_prelude(parent: &Path, prelude: &str) -> Self {
        Self::prepared(parent.join("lab"), prelude)
    }

    fn prepared(path: PathBuf, prelude: &str) -> Self {
        std::fs::create_dir(&path).expect("the name is new");
        let script = path.join("prelude");
        let program = env!("CARGO_BIN_EXE_backburner");
        let text = format!("#!/bin/sh\n{prelude}\nexec '{program}' \"$@\"\n");
        std::fs::write(&script, text).expect("it is writable");
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(&script, mode).expect("it was just made");
        Self {
            jobs: engine(&path, &script),
            path,
            started: std::cell::RefCell::default(),
        }
    }

    fn at(path: PathBuf) -> Self {
        std::fs::create_dir(&path).expect("the name is new");
        let jobs = engine(&path, Path::new(env!("CARGO_BIN_EXE_backburner")));
        Self {
            jobs,
            path,
            started: std::cell::RefCell::default(),
        }
    }

    /// Another engine on the same directory, as another server would have.
    pub(crate) fn second_engine(&self) -> SupervisedJobs {
        engine(&self.path, Path::new(env!("CARGO_BIN_EXE_backburner")))
    }

    pub(crate) fn directory(&self, id: Uuid) -> PathBuf {
        self.path.join("jobs").join(id.to_string())
    }

    pub(crate) fn data_directory(&self) -> &Path {
        &self.path
    }

    /// A FIFO in the data directory, which every job finds by its environment.
    pub(crate) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        mkfifo(&path).expect("`mkfifo` is there");
        path
    }

    pub(crate) fn start(&self, spec: &Spec) -> Uuid {
        let id = fresh_id();
        self.started.borrow_mut().push(id);
        self.jobs.start(id, spec).expect("it can be started");
        id
    }

    /// Starts a job, waits for its end, and gives what became of it.
    pub(crate) fn run(&self, spec: &Spec) -> (Uuid, Outcome) {
        let id = self.start(spec);
        (id, self.outcome(id))
    }

    /// As [`Lab::run`], and waits for the end of its supervisor too. That says that the job has ended a moment before
    /// it ends itself; who finds it without an outcome then takes the files for damaged, as they are.
    pub(crate) fn run_with_supervisor(&self, spec: &Spec) -> (Uuid, Outcome) {
        let (id, outcome) = self.run(spec);
        eventually("the supervisor has ended too", || {
            (!is_named_in_a_command_line(id)).then_some(())
        });
        (id, outcome)
    }

    /// Waits for the end of a job, woken and not polling.
    pub(crate) fn outcome(&self, id: Uuid) -> Outcome {
        wait_for_end(&self.jobs, id);
        match self.jobs.inspect(id).expect("it can be inspected") {
            State::Ended(outcome) => outcome,
            other => panic!("job {id} has ended and is {other:?}"),
        }
    }

    pub(crate) fn progress(&self, id: Uuid) -> Progress {
        match self.jobs.inspect(id).expect("it can be inspected") {
            State::Running(progress) => progress,
            other => panic!("job {id} runs and is {other:?}"),
        }
    }

    pub(crate) fn cancel(&self, id: Uuid) {
        self.jobs
            .stop(id, StopReason::Cancelled)
            .expect("it can be stopped");
    }

    pub(crate) fn fragments(&self, id: Uuid) -> Vec<Fragment> {
        let mut all = Vec::new();
        let mut offset = 0;
        loop {
            let more = self
                .jobs
                .read(id, offset, u32::MAX)
                .expect("it can be read");
            let Some(last) = more.last() else { return all };
            offset = last.offset + last.bytes.len() as u64;
            all.extend(more);
        }
    }

    /// All output as text.
    pub(crate) fn text(&self, id: Uuid) -> String {
        let bytes: Vec<u8> = self
            .fragments(id)
            .into_iter()
            .flat_map(|it| it.bytes)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until the job has written a whole line, and gives what it has written.
    pub(crate) fn first_line(&self, id: Uuid) -> String {
        eventually("the job writes a line", || {
            let text = self.text(id);
            text.split_once('\n').map(|(line, _)| line.to_owned())
        })
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for id in self.started.borrow().iter() {
            // A failed test leaves jobs; what it was about is in its panic.
            let _failed = self.jobs.stop(*id, StopReason::Expired);
            if !std::thread::panicking() {
                wait_for_end(&self.jobs, *id);
            }
        }
        let _left = std::fs::remove_dir_all(&self.path);
    }
}

pub(crate) fn engine(path: &Path, program: &Path) -> SupervisedJobs {
    let data = Dir::open_ambient_dir(path, ambient_authority()).expect("it was just made");
    SupervisedJobs::open(&data, path, program.to_owned()).expect("it can be opened")
}

/// A place that nobody uses.
fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("backburner-lab-{}", fresh_id()))
}

/// An id that no other test uses.
pub(crate) fn fresh_id() -> Uuid {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = now.expect("it is after 1970").subsec_nanos();
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Uuid::from_u64_pair(
        u64::from(std::process::id()) << 32 | u64::from(nanos),
        number,
    )
}

/// Makes a FIFO where there is nothing yet.
pub(crate) fn mkfifo(path: &Path) -> std::io::Result<()> {
    let made = std::process::Command::new("mkfifo").arg(path).status()?;
    assert!(made.success(), "{} is a name that is free", path.display());
    Ok(())
}

/// A shell line with half a second of grace.
pub(crate) fn shell(line: &str) -> Spec {
    Spec {
        command: Command::Shell(line.to_owned()),
        directory: Some("/".to_owned()),
        environment: Vec::new(),
        stdin: String::new(),
        interactive: false,
        timeout_ms: None,
        lifetime_ms: None,
        grace_ms: 500,
        output_limit_bytes: 1 << 20,
    }
}

pub(crate) fn program(words: &[&str]) -> Spec {
    let words = words.iter().map(ToString::to_string).collect();
    Spec {
        command: Command::Program(words),
        ..shell("")
    }
}

/// Waits for a job's end with what an engine offers for it.
pub(crate) fn wait_for_end(jobs: &SupervisedJobs, id: Uuid) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime
        .expect("a runtime can be made")
        .block_on(async { tokio::time::timeout(DEADLINE, jobs.ended(id)).await });
    assert!(
        ended.is_ok(),
        "job {id} has not ended: {:?}",
        jobs.inspect(id)
    );
}

/// Waits for a condition that nothing announces.
pub(crate) fn eventually<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(Instant::now() < deadline, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The processes that were started with this job's id in their environment.
pub(crate) fn processes_of(id: Uuid) -> Vec<String> {
    let wanted = format!("BACKBURNER_TASK_ID={id}");
    let entries = std::fs::read_dir("/proc")
        .expect("it is there")
        .filter_map(Result::ok);
    entries
        .filter(|entry| {
            let mut environments = environments(&entry.path());
            environments.any(|it| {
                it.split(|byte| *byte == 0)
                    .any(|it| it == wanted.as_bytes())
            })
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Whether some process was started with this id as an argument, as a supervisor is.
fn is_named_in_a_command_line(id: Uuid) -> bool {
    let wanted = id.to_string();
    let mut entries = std::fs::read_dir("/proc")
        .expect("it is there")
        .filter_map(Result::ok);
    entries.any(|entry| {
        // What has ended meanwhile has none.
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|word| word == wanted.as_bytes())
    })
}

/// The environment of a process as each of its threads shows it: one that has ended shows none.
fn environments(process: &Path) -> impl Iterator<Item = Vec<u8>> + use<> {
    let threads = std::fs::read_dir(process.join("task"));
    let threads = threads.into_iter().flatten().flatten();
    threads.map(|thread| std::fs::read(thread.path().join("environ")).unwrap_or_default())
}

/// Whether any thread of a process runs, zombies not counted.
pub(crate) fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, rest)) = stat.rsplit_once(')') else {
        return false;
    };
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // The state is that of the main thread, the 18th after the name the number of all.
    fields[0] != "Z" || fields[17] != "1"
}
