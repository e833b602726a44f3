//! Jobs that are async functions of this program instead of processes.
//!
//! They end with the process, so they keep less than the interface promises: `Independence` does not hold, and neither
//! does `Once` across a restart. With a store that ends at the same moment nobody is told anything wrong.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use backburner::jobs::{
    Command, End, Failure, Fragment, Jobs, Loss, Outcome, Progress, Spec, StartError, State,
    StopCause, StopReason, Stream,
};
use tokio::runtime::Handle;
use tokio::sync::watch;
use uuid::Uuid;

/// What a function gives back: an exit status, 0 for success.
pub(crate) type Running = Pin<Box<dyn Future<Output = u8> + Send>>;

/// A function that can be run as a job, with its arguments.
pub(crate) type Function = fn(Output, Vec<String>) -> Running;

/// The functions that there are, and the jobs that run or ran them.
pub(crate) struct FunctionJobs {
    functions: BTreeMap<&'static str, Function>,
    jobs: Mutex<BTreeMap<Uuid, Arc<Job>>>,
    runtime: Handle,
}

impl FunctionJobs {
    /// Jobs that run these functions on this runtime.
    pub(crate) fn new(functions: BTreeMap<&'static str, Function>, runtime: Handle) -> Self {
        Self {
            functions,
            jobs: Mutex::default(),
            runtime,
        }
    }

    fn jobs(&self) -> MutexGuard<'_, BTreeMap<Uuid, Arc<Job>>> {
        // A map that is whole after each change, whatever panicked elsewhere.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: Uuid) -> Option<Arc<Job>> {
        self.jobs().get(&id).cloned()
    }

    /// The function that a command names, and its arguments.
    fn look_up(&self, command: &Command) -> Result<(Function, Vec<String>), StartError> {
        let mut words = match command {
            Command::Shell(line) => line.split_whitespace().map(str::to_owned).collect(),
            Command::Program(words) => words.clone(),
        }
        .into_iter();
        let name = words.next().unwrap_or_default();
        match self.functions.get(name.as_str()) {
            Some(function) => Ok((*function, words.collect())),
            None => {
                let known: Vec<&str> = self.functions.keys().copied().collect();
                Err(StartError::BadSpec(format!(
                    "there is no function `{name}` here, only {}",
                    known.join(", ")
                )))
            }
        }
    }
}

impl Jobs for FunctionJobs {
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        let (function, arguments) = self.look_up(&spec.command)?;
        let job = Arc::new(Job::new());
        {
            let mut jobs = self.jobs();
            if jobs.contains_key(&id) {
                return Err(StartError::AlreadyKnown);
            }
            jobs.insert(id, Arc::clone(&job));
        }
        let running = function(Output(Arc::clone(&job)), arguments);
        self.runtime
            .spawn(accompany(job, running, Limits::new(spec)));
        Ok(())
    }

    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure> {
        let mut jobs = self.jobs();
        let job = jobs.entry(id).or_insert_with(|| {
            let job = Job::new();
            let never = End::Lost {
                kind: Loss::NeverStarted,
            };
            job.conclude(never, Some(reason.into()));
            Arc::new(job)
        });
        job.request_stop(reason.into());
        Ok(())
    }

    fn inspect(&self, id: Uuid) -> Result<State, Failure> {
        Ok(self.find(id).map_or(State::Unknown, |job| job.state()))
    }

    fn read(&self, id: Uuid, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        Ok(self
            .find(id)
            .map_or_else(Vec::new, |job| job.read(offset, limit as usize)))
    }

    fn forget(&self, id: Uuid) -> Result<(), Failure> {
        let mut jobs = self.jobs();
        if jobs.get(&id).is_some_and(|job| job.is_running()) {
            let detail = format!("job {id} runs; stop it first");
            return Err(Failure { detail });
        }
        jobs.remove(&id);
        Ok(())
    }

    fn ended(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        let job = self.find(id);
        Box::pin(async move {
            if let Some(job) = job {
                let mut outcome = job.outcome.subscribe();
                // An error means that the job is gone, and so is everything that could be waited for.
                let _gone = outcome.wait_for(Option::is_some).await;
            }
        })
    }
}

/// How long a job may run, and why it is stopped then.
struct Limits {
    timeout: Option<Duration>,
    lifetime: Option<Duration>,
}

impl Limits {
    fn new(spec: &Spec) -> Self {
        Self {
            timeout: spec.timeout_ms.map(Duration::from_millis),
            lifetime: spec.lifetime_ms.map(Duration::from_millis),
        }
    }
}

/// Runs a function to its end, or until it is to be stopped. A future stops where it waits, and needs no grace.
async fn accompany(job: Arc<Job>, running: Running, limits: Limits) {
    let mut stop = job.stop.subscribe();
    let (end, cause) = tokio::select! {
        code = running => (End::Exited { code }, None),
        Ok(cause) = stop.wait_for(Option::is_some) => (dropped(), *cause),
        () = after(limits.timeout) => (dropped(), Some(StopCause::TimedOut)),
        () = after(limits.lifetime) => (dropped(), Some(StopCause::Expired)),
    };
    job.conclude(end, cause);
}

async fn after(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

/// What a process that was stopped would show.
fn dropped() -> End {
    End::Signalled {
        signal: "SIGTERM".to_owned(),
        core_dumped: false,
    }
}

/// One job.
struct Job {
    started: Instant,
    started_at: u64,
    output: Mutex<Vec<Fragment>>,
    stop: watch::Sender<Option<StopCause>>,
    outcome: watch::Sender<Option<Outcome>>,
}

impl Job {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            started_at: now_ms(),
            output: Mutex::default(),
            stop: watch::Sender::new(None),
            outcome: watch::Sender::new(None),
        }
    }

    fn output(&self) -> MutexGuard<'_, Vec<Fragment>> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written_bytes(&self) -> u64 {
        self.output().last().map_or(0, end_of)
    }

    fn is_running(&self) -> bool {
        self.outcome.borrow().is_none()
    }

    /// The first cause stays.
    fn request_stop(&self, cause: StopCause) {
        self.stop
            .send_if_modified(|stop| stop.replace(stop.unwrap_or(cause)).is_none());
    }

    fn conclude(&self, end: End, stopped: Option<StopCause>) {
        let outcome = Outcome {
            started_at: self.started_at,
            ended_at: now_ms(),
            duration_ms: elapsed_ms(self.started),
            end,
            stopped,
            output_bytes: self.written_bytes(),
            dropped_bytes: 0,
            leftovers: Vec::new(),
        };
        self.outcome.send_replace(Some(outcome));
    }

    fn state(&self) -> State {
        if let Some(outcome) = self.outcome.borrow().clone() {
            return State::Ended(outcome);
        }
        State::Running(Progress {
            started_at: self.started_at,
            running_ms: elapsed_ms(self.started),
            output_bytes: self.written_bytes(),
            last_output_at: self.output().last().map(|fragment| fragment.at),
            stopping: *self.stop.borrow(),
            questions: Vec::new(),
            report: None,
        })
    }

    fn read(&self, offset: u64, limit: usize) -> Vec<Fragment> {
        let mut left = limit;
        let mut found = Vec::new();
        for fragment in self.output().iter() {
            if end_of(fragment) <= offset || left == 0 {
                continue;
            }
            let skip = offset.saturating_sub(fragment.offset);
            let rest = &fragment.bytes[usize::try_from(skip).unwrap_or(usize::MAX)..];
            let bytes = rest[..rest.len().min(left)].to_vec();
            left -= bytes.len();
            found.push(Fragment {
                offset: fragment.offset + skip,
                bytes,
                ..fragment.clone()
            });
        }
        found
    }
}

/// Where a function writes what it has to say.
pub(crate) struct Output(Arc<Job>);

impl Output {
    /// Writes a line.
    pub(crate) fn line(&self, text: &str) {
        let mut output = self.0.output();
        let offset = output.last().map_or(0, end_of);
        output.push(Fragment {
            offset,
            at: now_ms(),
            stream: Stream::Stdout,
            bytes: format!("{text}\n").into_bytes(),
        });
    }
}

fn end_of(fragment: &Fragment) -> u64 {
    fragment.offset + fragment.bytes.len() as u64
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
