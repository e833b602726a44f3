//! Jobs that are async functions of this program instead of processes.
//!
//! They end with the process, so they keep less than the interface promises: `Independence` does not hold, and neither
//! do `Durability` and `Once` across a restart. With a store that ends at the same moment nobody is told anything
//! wrong. A function that waits for nothing cannot be stopped, and what it spawned is not seen.
//!
//! **Knows** how a future becomes a job, and how one is found by the name of its function. A function gets what a
//! process would: arguments, variables and standard input. It has no directory, so a job that names one is refused.
//! **Does not know** what functions do, nor how output is kept: that is in `output`.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backburner::jobs::{
    Command, End, Failure, Fragment, Jobs, Loss, Spec, StartError, State, StopCause, StopReason,
};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::job::Job;
pub(crate) use crate::job::Output;

/// What a function gives back: how it ended.
pub(crate) type Running = Pin<Box<dyn Future<Output = End> + Send>>;

/// A function that can be run as a job.
pub(crate) type Function = fn(Output, Call) -> Running;

/// What a function is given.
#[derive(Debug)]
pub(crate) struct Call {
    /// The words behind its name.
    pub(crate) arguments: Vec<String>,
    /// Its variables; it has none of the service's own, which are no business of who calls.
    pub(crate) variables: BTreeMap<String, String>,
    /// Its standard input.
    pub(crate) stdin: String,
}

/// What begins a job that is told where to write.
pub(crate) type Begin = Box<dyn FnOnce(Output) -> Running + Send>;

/// What makes of a spec what begins its job, or says why it cannot be carried out.
type Find = dyn Fn(&Spec) -> Result<Begin, StartError> + Send + Sync;

/// How long an answer may be, as the interface has it.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The exit status of a function that panicked, as a Rust program has it.
const PANICKED: u8 = 101;

/// What runs jobs, and the jobs that run or ran.
pub(crate) struct FunctionJobs {
    find: Box<Find>,
    jobs: Mutex<BTreeMap<Uuid, Arc<Job>>>,
    runtime: Handle,
}

impl FunctionJobs {
    /// Jobs that run what `find` finds, on this runtime.
    pub(crate) fn new(
        find: impl Fn(&Spec) -> Result<Begin, StartError> + Send + Sync + 'static,
        runtime: Handle,
    ) -> Self {
        Self {
            find: Box::new(find),
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

    /// Makes a job that is known from then on.
    fn enter(&self, id: Uuid, spec: &Spec) -> Result<(Arc<Job>, Begin), StartError> {
        let mut jobs = self.jobs();
        // First of all: whoever asks twice learns that, whatever else is wrong.
        if jobs.contains_key(&id) {
            return Err(StartError::AlreadyKnown);
        }
        if spec.interactive {
            let why = "a function has no terminal; leave out `interactive`";
            return Err(StartError::BadSpec(why.to_owned()));
        }
        let begin = (self.find)(spec)?;
        let job = Arc::new(Job::new(spec.output_limit_bytes));
        jobs.insert(id, Arc::clone(&job));
        Ok((job, begin))
    }
}

/// Finds the function that a command names by its first word.
pub(crate) fn by_name(
    functions: BTreeMap<&'static str, Function>,
) -> impl Fn(&Spec) -> Result<Begin, StartError> + Send + Sync {
    move |spec| {
        let (function, arguments) = named(&functions, spec)?;
        let call = Call {
            arguments,
            variables: spec.environment.iter().cloned().collect(),
            stdin: spec.stdin.clone(),
        };
        Ok(Box::new(move |output| function(output, call)))
    }
}

/// The function that a command names, and its arguments.
fn named(
    functions: &BTreeMap<&'static str, Function>,
    spec: &Spec,
) -> Result<(Function, Vec<String>), StartError> {
    if let Some(directory) = &spec.directory {
        return Err(StartError::BadSpec(format!(
            "a function runs in no directory; leave out `{directory}`"
        )));
    }
    let mut words = match &spec.command {
        Command::Shell(line) => line.split_whitespace().map(str::to_owned).collect(),
        Command::Program(words) => words.clone(),
    }
    .into_iter();
    let name = words.next().unwrap_or_default();
    let Some(function) = functions.get(name.as_str()) else {
        let known: Vec<&str> = functions.keys().copied().collect();
        return Err(StartError::BadSpec(format!(
            "there is no function `{name}` here, only {}",
            known.join(", ")
        )));
    };
    Ok((*function, words.collect()))
}

impl Jobs for FunctionJobs {
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        let (job, begin) = self.enter(id, spec)?;
        let output = Output::of(&job);
        // To begin is a part of it: a function may panic before it gives a future.
        let running = async move { begin(output).await };
        self.runtime
            .spawn(accompany(Concluded(job), running, Limits::new(spec)));
        Ok(())
    }

    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure> {
        let mut jobs = self.jobs();
        let job = jobs.entry(id).or_insert_with(|| {
            let job = Job::new(0);
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

    fn answer(&self, id: Uuid, key: &str, answer: &str) -> Result<(), Failure> {
        if answer.len() > ANSWER_BYTES_MAX {
            let detail = format!("an answer has at most {ANSWER_BYTES_MAX} bytes");
            return Err(Failure { detail });
        }
        if let Some(job) = self.find(id) {
            job.answer(key, answer);
        }
        Ok(())
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
                job.ended().await;
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
async fn accompany(concluded: Concluded, running: impl Future<Output = End>, limits: Limits) {
    let job = &concluded.0;
    let (end, cause) = tokio::select! {
        end = running => (end, None),
        cause = job.stop_requested() => (dropped(), Some(cause)),
        () = after(limits.timeout) => (dropped(), Some(StopCause::TimedOut)),
        () = after(limits.lifetime) => (dropped(), Some(StopCause::Expired)),
    };
    job.conclude(end, cause);
}

/// Sees to it that a job ends, also where its function panics, or the runtime ends before it or before it has begun.
struct Concluded(Arc<Job>);

impl Drop for Concluded {
    fn drop(&mut self) {
        let end = if std::thread::panicking() {
            End::Exited { code: PANICKED }
        } else {
            let kind = Loss::Supervisor;
            End::Lost { kind }
        };
        // The first end stays: this one is for a job that has none.
        self.0.conclude(end, None);
    }
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

#[cfg(test)]
mod tests;
