//! What the core needs from whoever embeds it, as traits, and the values that cross them.
//!
//! These mirror the interfaces `store` and `jobs` of the WIT package, whose comments are the contract:
//! what is durable, atomic, blocking and idempotent is said there once. The core knows nothing of how
//! they are kept.

/// Durable, ordered, transactional storage of small text values.
pub trait Store {
    /// Reads one key.
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`] or [`StoreErrorKind::Other`].
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreError>;

    /// Reads at most `limit` (1 to 1000) keys that start with `prefix` and are greater than `after`, in
    /// ascending order.
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`] or [`StoreErrorKind::Other`].
    fn scan(
        &mut self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Makes all changes, or none; power-safe on return.
    ///
    /// # Errors
    /// Any [`StoreErrorKind`]; then nothing has changed.
    fn commit(&mut self, changes: Vec<Change>) -> Result<(), StoreError>;
}

/// Work that outlives the instance that started it. Ids are UUIDs in their 36 character form.
pub trait Jobs {
    /// Starts a job; each id at most once, ever.
    ///
    /// # Errors
    /// Any [`StartErrorKind`]; then the job has not run.
    fn start(&mut self, id: &str, spec: &JobSpec) -> Result<(), StartError>;

    /// Asks a job to stop; an unknown id is thereby known, ended and never started.
    ///
    /// # Errors
    /// [`Failure`] where the host could not record the request; trying again is safe.
    fn stop(&mut self, id: &str, reason: StopReason) -> Result<(), Failure>;

    /// Says what is known of a job now.
    ///
    /// # Errors
    /// [`Failure`] where the host could not look.
    fn inspect(&mut self, id: &str) -> Result<JobState, Failure>;

    /// Answers a question of a job that runs; one that is not open is left as it is.
    ///
    /// # Errors
    /// [`Failure`] where the host could not keep the answer; trying again is safe.
    fn answer(&mut self, id: &str, key: &str, answer: &str) -> Result<(), Failure>;

    /// Types a line into the terminal of a job that waits for one, `None` for the end of the file; what it does not wait for
    /// any more, or is hidden, is left as it is.
    ///
    /// # Errors
    /// [`Failure`] where the host could not keep the line; trying again is safe.
    fn enter(&mut self, id: &str, key: &str, line: Option<&str>) -> Result<(), Failure>;

    /// Reads at most `limit` (1 to 262144) bytes of output from the first kept byte at or after `offset`.
    ///
    /// # Errors
    /// [`Failure`] where the host could not read.
    fn read(&mut self, id: &str, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure>;

    /// Deletes everything that is kept of a job that has ended.
    ///
    /// # Errors
    /// [`Failure`] where the job runs or the host could not delete.
    fn forget(&mut self, id: &str) -> Result<(), Failure>;
}

/// Unpredictable bytes, for ids that nobody can guess.
pub trait Entropy {
    /// Gives 16 fresh bytes of cryptographic quality.
    fn random_bytes(&mut self) -> [u8; 16];
}

/// Everything that the core needs, in one value.
pub trait World: Store + Jobs + Entropy {}

impl<T: Store + Jobs + Entropy> World for T {}

/// A value and the writing that it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// What was written.
    pub value: String,
    /// The writing, for a later [`Expectation`].
    pub version: u64,
}

/// One row of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The whole key, the scanned prefix included.
    pub key: String,
    /// What was written under it.
    pub value: String,
    /// The writing, for a later [`Expectation`].
    pub version: u64,
}

/// What has to be true of a key at the moment of the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Nothing: write in any case.
    Anything,
    /// The key does not exist.
    Absent,
    /// The key exists and was last written by this writing.
    WrittenBy(u64),
}

/// One step of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Write a value, whether the key exists or not.
    Put {
        /// 1 to 512 bytes, without NUL.
        key: String,
        /// At most 1 MiB.
        value: String,
        /// The precondition.
        expect: Expectation,
    },
    /// Remove a key; one that does not exist is no error unless the expectation says so.
    Remove {
        /// The key.
        key: String,
        /// The precondition.
        expect: Expectation,
    },
}

/// What can be done about a failure of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// An expectation did not hold: read again and decide anew.
    Conflict,
    /// The disk or a quota is full.
    NoSpace,
    /// A key or value is longer than allowed.
    TooLarge,
    /// The stored data cannot be read.
    Corrupt,
    /// Anything else.
    Other,
}

/// A failure of the store; nothing of the call has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// What can be done.
    pub kind: StoreErrorKind,
    /// For a log.
    pub detail: String,
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A line for the host's shell.
    Shell(String),
    /// A program and its arguments, at least one element, without a shell.
    Program(Vec<String>),
}

/// Everything that a job needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSpec {
    /// What to run.
    pub command: Command,
    /// The working directory, an absolute path; `None` for the host process's.
    pub directory: Option<String>,
    /// Variables beside the host's environment; a later one wins.
    pub environment: Vec<(String, String)>,
    /// What the job reads before end of file, or what is typed first where it is interactive.
    pub stdin: String,
    /// Whether it has a terminal.
    pub interactive: bool,
    /// How long it may run, in milliseconds; `None` for no limit.
    pub timeout_ms: Option<u64>,
    /// After how many milliseconds nobody wants it any more; `None` for never.
    pub lifetime_ms: Option<u64>,
    /// How long it may take to end when it is stopped, in milliseconds; 0 kills at once.
    pub grace_ms: u64,
    /// How many bytes of output are kept.
    pub output_limit_bytes: u64,
}

/// What can be done about a job that did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartErrorKind {
    /// The id was started or stopped before.
    AlreadyKnown,
    /// The working directory cannot be used.
    BadDirectory,
    /// The spec cannot be carried out as it is.
    BadSpec,
    /// The disk or a quota is full.
    NoSpace,
    /// Anything else.
    Other,
}

/// Why a job did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError {
    /// What can be done.
    pub kind: StartErrorKind,
    /// Words that may be shown to who asked for the job.
    pub detail: String,
}

/// Why somebody wants a job to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Its owner asked for it.
    Cancelled,
    /// Its task's time to live has passed.
    Expired,
}

/// Why a job was stopped instead of ending by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// It ran for its timeout.
    TimedOut,
    /// Its owner asked for it.
    Cancelled,
    /// It reached its lifetime.
    Expired,
    /// Its supervisor was asked to end, as at the machine's shutdown.
    ShutDown,
}

/// A failure of the host itself; trying again is safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// For a log.
    pub detail: String,
}

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// No such id was started or stopped here, or it was forgotten.
    Unknown,
    /// It runs, is about to, or its last processes are being stopped.
    Running(Progress),
    /// It has ended.
    Ended(JobOutcome),
}

/// What is known of a job that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// When the host started it, in milliseconds since 1970.
    pub started_at: u64,
    /// How long it has run, in milliseconds.
    pub running_ms: u64,
    /// How many bytes it has written to both streams.
    pub output_bytes: u64,
    /// When it last wrote; `None` if it has not.
    pub last_output_at: Option<u64>,
    /// Why it is being stopped; `None` if it is not.
    pub stopping: Option<StopCause>,
    /// What it asks and nobody has answered, oldest first; at most 32.
    pub questions: Vec<Question>,
    /// What it waits to be typed at its terminal; `None` where that is nothing, or nobody sees it.
    pub prompt: Option<Prompt>,
    /// What it last said of itself; `None` if it has not.
    pub report: Option<Report>,
}

/// Something that a job waits to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its name among all questions that this job ever asks.
    pub key: String,
    /// What is asked, as JSON text of at most 64 KiB that a process of the job wrote.
    pub form: String,
    /// When it was asked, in milliseconds since 1970.
    pub asked_at: u64,
}

/// That a job waits for something to be typed into its terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Its name among all questions and prompts that this job ever has.
    pub key: String,
    /// What the terminal shows, at most 4000 characters that a process of the job wrote; empty where that says nothing.
    pub text: String,
    /// Whether what is typed is a secret, which no client is asked for.
    pub hidden: bool,
    /// Since when it has been told, in milliseconds since 1970.
    pub asked_at: u64,
}

/// How far a job is, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How much of it is done, 0 to 100; `None` where it did not say.
    pub percent: Option<u8>,
    /// What it does, at most 1000 bytes; empty where it did not say.
    pub text: String,
    /// When it said so, in milliseconds since 1970.
    pub at: u64,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With an exit status.
    Exited(u8),
    /// By a signal.
    Signalled {
        /// The name with its prefix, such as `SIGKILL`.
        signal: String,
        /// Whether a core dump was written.
        core_dumped: bool,
    },
    /// Without ever being executed, for these reasons.
    NotStarted(String),
    /// Nobody knows.
    Lost(Loss),
}

/// What happened to a job whose end nobody saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Its supervisor ended without leaving an outcome.
    Supervisor,
    /// The machine was started anew meanwhile.
    Machine,
    /// Its files were deleted or damaged by somebody else; what remained of the job was killed.
    Files,
    /// It was stopped before it was started, and never will be.
    NeverStarted,
}

/// A process of the job that was still there when its command had ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its process id, which may be in use again.
    pub pid: u32,
    /// Its command line, at most 200 characters.
    pub command: String,
}

/// All there is to know of a job that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutcome {
    /// When it started, or was to start, in milliseconds since 1970.
    pub started_at: u64,
    /// When the last of it ended, in milliseconds since 1970.
    pub ended_at: u64,
    /// How long it ran, in milliseconds, on a clock that does not jump.
    pub duration_ms: u64,
    /// How it ended.
    pub end: End,
    /// Why it was stopped; `None` where it ended by itself.
    pub stopped: Option<StopCause>,
    /// How many bytes it wrote to both streams, kept or not.
    pub output_bytes: u64,
    /// How many of them were not kept.
    pub dropped_bytes: u64,
    /// What was left of it when its command had ended by itself, and was then stopped; at most 20.
    pub leftovers: Vec<Process>,
}

/// Where a job wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
}

/// A piece of output: bytes that follow each other, from one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// How many bytes of both streams came before it, kept or not.
    pub offset: u64,
    /// When the job wrote the first of them, in milliseconds since 1970.
    pub at: u64,
    /// Which stream.
    pub stream: Stream,
    /// What was written, byte for byte.
    pub bytes: Vec<u8>,
}
