//! Supervised jobs with a fault.
//!
//! **Knows** what each fault makes of a call or of what is told. **Does not know** which check is about it.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backburner::jobs::{
    Command, End, Failure, Fragment, Jobs, Loss, Outcome, Process, Progress, Prompt, Question,
    Report, Spec, StartError, State, StopCause, StopReason, Stream,
};
use backburner_tests::{PATIENCE, processes_of_task, until};
use rustix::process::{Pid, Signal, kill_process};
use uuid::Uuid;

use super::Fault;
use crate::asking::Asking;
use crate::meeting::Meeting;

/// How long an answer may be, in bytes, by the WIT.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// What all hosts of one subject have in common beside their files.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Where two callers meet who start the same job.
    starts: Meeting,
    /// The jobs that a host said to have stopped, since when, and for which reason.
    stopped: Mutex<BTreeMap<Uuid, (Instant, StopReason)>>,
    /// The graces that were asked for.
    graces: Mutex<BTreeMap<Uuid, Duration>>,
    /// Every question that was ever told.
    told: Mutex<Vec<Question>>,
    answers: AtomicUsize,
}

/// Supervised jobs with a fault.
pub(super) struct Faulty {
    jobs: Asking,
    fault: Fault,
    shared: Arc<Shared>,
    /// What this host started.
    started: Mutex<BTreeSet<Uuid>>,
    /// What this host was given for jobs and has not handed on: whose it is, the question's key, and the answer.
    untold: Mutex<Vec<(Uuid, String, String)>>,
    /// The same of lines for prompts.
    untyped: Mutex<Vec<(Uuid, String, Option<String>)>>,
    /// The last prompt that was told.
    prompt: Mutex<Option<Prompt>>,
}

impl Faulty {
    /// These jobs, with this fault.
    pub(super) fn new(jobs: Asking, fault: Fault, shared: Arc<Shared>) -> Self {
        Self {
            jobs,
            fault,
            shared,
            started: Mutex::default(),
            untold: Mutex::default(),
            untyped: Mutex::default(),
            prompt: Mutex::default(),
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// What is started instead of a spec.
    fn altered(&self, spec: &Spec) -> Spec {
        let mut spec = spec.clone();
        match self.fault {
            Fault::WrapsLimits => {
                let wrapped = |ms: u64| ms & u64::from(u32::MAX);
                spec.timeout_ms = spec.timeout_ms.map(wrapped);
            }
            Fault::KeepsFirstVariable => spec.environment.reverse(),
            Fault::TrimsInput => spec.stdin = spec.stdin.trim_end_matches('\0').to_owned(),
            Fault::HasNoTerminals => spec.interactive = false,
            Fault::TakesHiddenLines => {
                // What it tells to be hidden is not.
                if let Command::Shell(line) = &mut spec.command {
                    *line = line.replace("stty -echo; ", "");
                }
            }
            Fault::HasNoGrace => spec.grace_ms = 0,
            // Its supervisor asks it to end, and waits for ever. What has no grace is never asked.
            Fault::KillsByItself if spec.grace_ms > 0 => spec.grace_ms = u64::MAX,
            Fault::AlwaysHasGrace => spec.grace_ms = spec.grace_ms.max(2_000),
            Fault::IgnoresDirectory => spec.directory = None,
            Fault::KeepsLittle => spec.output_limit_bytes = spec.output_limit_bytes.min(1 << 16),
            Fault::TimesOutEarly => spec.timeout_ms = spec.timeout_ms.map(|ms| ms / 2),
            Fault::SplitsArguments => {
                if let Command::Program(words) = &spec.command {
                    spec.command = Command::Shell(words.join(" "));
                }
            }
            _ => {}
        }
        spec
    }

    /// Starts a job that nobody has started yet, or so it seemed.
    fn start_unknown(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        if self.jobs.inspect(id) != Ok(State::Unknown) {
            return Err(StartError::AlreadyKnown);
        }
        self.shared.starts.wait();
        match self.jobs.start(id, spec) {
            Err(StartError::AlreadyKnown) => Ok(()),
            result => result,
        }
    }

    /// What is said of a job instead of the truth.
    fn told(&self, id: Uuid, state: State) -> State {
        match state {
            State::Unknown if self.has(Fault::KnowsAll) => {
                State::Ended(of_nothing(End::Lost { kind: Loss::Files }))
            }
            State::Ended(outcome) => State::Ended(self.told_outcome(id, outcome)),
            State::Running(_) if self.has(Fault::PretendsToStop) && self.was_stopped(id) => {
                let mut outcome = of_nothing(sigterm());
                outcome.stopped = Some(StopCause::Cancelled);
                State::Ended(outcome)
            }
            State::Running(progress) => State::Running(self.told_progress(progress)),
            State::Unknown => State::Unknown,
        }
    }

    fn change_prompt(&self, prompt: &mut Option<Prompt>) {
        if self.has(Fault::KeepsPrompts) {
            let mut kept = self.prompt.lock().unwrap_or_else(PoisonError::into_inner);
            if prompt.is_none() {
                *prompt = kept.clone();
            }
            kept.clone_from(prompt);
        }
        let Some(prompt) = prompt else { return };
        match self.fault {
            Fault::ReusesPromptKeys => "k".clone_into(&mut prompt.key),
            Fault::ShowsSecrets => prompt.hidden = false,
            Fault::TakesHiddenLines => prompt.hidden = true,
            _ => {}
        }
    }

    fn told_progress(&self, mut progress: Progress) -> Progress {
        if self.has(Fault::PromptsByItself) {
            progress.prompt = Some(Prompt {
                key: "p".to_owned(),
                text: String::new(),
                hidden: false,
                asked_at: progress.started_at,
            });
        }
        self.change_prompt(&mut progress.prompt);
        let questions = &mut progress.questions;
        match self.fault {
            Fault::HasNoProgress => progress.output_bytes = 0,
            Fault::AsksByItself => {
                progress.report = Some(Report {
                    percent: Some(0),
                    text: String::new(),
                    at: 0,
                });
            }
            Fault::KeepsQuestions => {
                let mut told = self
                    .shared
                    .told
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                let new = questions.drain(..).filter(|it| !told.contains(it));
                let new: Vec<Question> = new.collect();
                told.extend(new);
                questions.clone_from(&*told);
            }
            Fault::ReusesKeys => questions.iter_mut().for_each(|it| it.key = "q".to_owned()),
            Fault::TellsTooMany => {
                if let [.., last] = questions.as_slice()
                    && questions.len() == 32
                {
                    questions.push(last.clone());
                }
            }
            Fault::RoundsReports => {
                if let Some(report) = &mut progress.report {
                    report.percent = report.percent.map(|percent| percent / 10 * 10);
                }
            }
            _ => {}
        }
        progress
    }

    fn told_outcome(&self, id: Uuid, mut outcome: Outcome) -> Outcome {
        match (self.fault, &mut outcome.end) {
            (Fault::TakesStatusForSignal, End::Exited { code: 128.. }) => outcome.end = sigterm(),
            (Fault::HidesMissingPrograms, End::NotStarted { .. }) => {
                outcome.end = End::Exited { code: 127 };
            }
            (Fault::CutsSignalNames, End::Signalled { signal, .. }) => {
                *signal = signal.replace("SIG", "");
            }
            (Fault::CountsSeconds, _) => outcome.started_at /= 1000,
            (Fault::HasNoDuration, _) => outcome.duration_ms = 0,
            (Fault::HidesDropped, _) => outcome.dropped_bytes = 0,
            (Fault::HidesCause, _) => outcome.stopped = None,
            (Fault::HidesLeftovers, _) => outcome.leftovers.clear(),
            (Fault::NamesTooMany, _) => {
                let more = outcome.leftovers.first().cloned();
                outcome.leftovers.extend(more);
            }
            (Fault::TellsWholeCommands, _) => {
                let whole = |it: &mut Process| it.command = it.command.repeat(2);
                outcome.leftovers.iter_mut().for_each(whole);
            }
            (Fault::ConfusesLimits, _) if outcome.stopped == Some(StopCause::Expired) => {
                outcome.stopped = Some(StopCause::TimedOut);
            }
            (Fault::BlamesLateStops, _) => {
                let stopped = self.stopped().get(&id).map(|(_, reason)| *reason);
                outcome.stopped = stopped.map(StopCause::from).or(outcome.stopped);
            }
            _ => {}
        }
        outcome
    }

    /// What is said of output instead of the truth.
    fn heard(&self, mut fragment: Fragment) -> Fragment {
        match self.fault {
            Fault::ReplacesBytes => {
                fragment.bytes = String::from_utf8_lossy(&fragment.bytes)
                    .into_owned()
                    .into_bytes();
            }
            Fault::MixesStreams => fragment.stream = Stream::Stdout,
            _ => {}
        }
        fragment
    }

    /// Does what a host of this kind does when somebody asks it about a job.
    fn catch_up(&self, id: Uuid) -> Result<(), Failure> {
        if self.has(Fault::KillsByItself) && self.grace_left(id) == Some(Duration::ZERO) {
            kill(id);
        }
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, key, answer) in untold.drain(..) {
            self.jobs.answer(id, &key, &answer)?;
        }
        let mut untyped = self.untyped.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, key, line) in untyped.drain(..) {
            self.jobs.enter(id, &key, line.as_deref())?;
        }
        Ok(())
    }

    /// How long a job still has until this host kills it; none where nobody has stopped it.
    fn grace_left(&self, id: Uuid) -> Option<Duration> {
        let (since, _) = *self.stopped().get(&id)?;
        let graces = self.shared.graces.lock();
        let graces = graces.unwrap_or_else(PoisonError::into_inner);
        Some(graces.get(&id)?.saturating_sub(since.elapsed()))
    }

    fn stopped(&self) -> MutexGuard<'_, BTreeMap<Uuid, (Instant, StopReason)>> {
        let stopped = self.shared.stopped.lock();
        stopped.unwrap_or_else(PoisonError::into_inner)
    }

    fn was_stopped(&self, id: Uuid) -> bool {
        self.stopped().contains_key(&id)
    }
}

/// Kills all of a job but its supervisor.
fn kill(id: Uuid) {
    for (pid, _) in processes_of_task(&id.to_string()) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        // It may have ended since.
        let _killed = pid.map(|pid| kill_process(pid, Signal::KILL));
    }
}

/// What a job looks like that never did anything.
fn of_nothing(end: End) -> Outcome {
    Outcome {
        started_at: 0,
        ended_at: 0,
        duration_ms: 0,
        end,
        stopped: None,
        output_bytes: 0,
        dropped_bytes: 0,
        leftovers: Vec::new(),
    }
}

fn sigterm() -> End {
    End::Signalled {
        signal: "SIGTERM".to_owned(),
        core_dumped: false,
    }
}

impl Jobs for Faulty {
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.insert(id);
        drop(started);
        let graces = self.shared.graces.lock();
        let mut graces = graces.unwrap_or_else(PoisonError::into_inner);
        graces.insert(id, Duration::from_millis(spec.grace_ms));
        drop(graces);
        if self.has(Fault::RefusesLargeSpecs) && spec.stdin.len() > 1 << 20 {
            return Err(StartError::BadSpec("it is too long".to_owned()));
        }
        let spec = self.altered(spec);
        if self.has(Fault::RacesStarts) {
            return self.start_unknown(id, &spec);
        }
        match (self.fault, self.jobs.start(id, &spec)) {
            (Fault::AllowsSecondStart, Err(StartError::AlreadyKnown)) => Ok(()),
            (Fault::HidesBadDirectory, Err(StartError::NoDirectory(_))) => {
                Err(StartError::BadSpec("something is wrong".to_owned()))
            }
            (Fault::HidesBadSpec, Err(StartError::BadSpec(_))) => Err(StartError::Supervisor(
                io::Error::other("something is wrong"),
            )),
            (Fault::HidesLackOfTerminals, _) if spec.interactive => Err(StartError::Supervisor(
                io::Error::other("something is wrong"),
            )),
            (_, result) => result,
        }
    }

    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure> {
        if self.has(Fault::ForgetsEarlyStops) && self.jobs.inspect(id)? == State::Unknown {
            return Ok(());
        }
        self.stopped().insert(id, (Instant::now(), reason));
        if self.has(Fault::PretendsToStop) {
            return Ok(());
        }
        self.jobs.stop(id, reason)
    }

    fn inspect(&self, id: Uuid) -> Result<State, Failure> {
        self.catch_up(id)?;
        Ok(self.told(id, self.jobs.inspect(id)?))
    }

    fn answer(&self, id: Uuid, key: &str, answer: &str) -> Result<(), Failure> {
        let earlier = self.shared.answers.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::RefusesAnswers => {
                let detail = "there is no such question".to_owned();
                Err(Failure { detail })
            }
            Fault::LosesLongAnswers if answer.len() > ANSWER_BYTES_MAX => Ok(()),
            Fault::LastAnswerWins if earlier == 0 => Ok(()),
            Fault::AnswersLater if answer.len() <= ANSWER_BYTES_MAX => {
                let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
                untold.push((id, key.to_owned(), answer.to_owned()));
                Ok(())
            }
            Fault::ReusesKeys => match self.jobs.inspect(id)? {
                State::Running(progress) => progress
                    .questions
                    .first()
                    .map_or(Ok(()), |open| self.jobs.answer(id, &open.key, answer)),
                _ => Ok(()),
            },
            _ => self.jobs.answer(id, key, answer),
        }
    }

    fn enter(&self, id: Uuid, key: &str, line: Option<&str>) -> Result<(), Failure> {
        match self.fault {
            Fault::TypesNothing => Ok(()),
            Fault::LosesLongLines if line.is_some_and(|line| line.len() > 1000) => Ok(()),
            Fault::RefusesLines => {
                let detail = "there is no such prompt".to_owned();
                Err(Failure { detail })
            }
            Fault::DropsControls => {
                let line = line.map(|line| line.replace(char::is_control, ""));
                self.jobs.enter(id, key, line.as_deref())
            }
            Fault::TypesLater => {
                let mut untyped = self.untyped.lock().unwrap_or_else(PoisonError::into_inner);
                untyped.push((id, key.to_owned(), line.map(str::to_owned)));
                Ok(())
            }
            Fault::ReusesPromptKeys => match self.jobs.inspect(id)? {
                State::Running(progress) => progress
                    .prompt
                    .map_or(Ok(()), |prompt| self.jobs.enter(id, &prompt.key, line)),
                _ => Ok(()),
            },
            _ => self.jobs.enter(id, key, line),
        }
    }

    fn read(&self, id: Uuid, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        let offset = if self.has(Fault::IgnoresOffset) {
            0
        } else {
            offset
        };
        let fragments = self.jobs.read(id, offset, limit)?;
        Ok(fragments.into_iter().map(|it| self.heard(it)).collect())
    }

    fn forget(&self, id: Uuid) -> Result<(), Failure> {
        if self.has(Fault::NeverForgets) {
            return Ok(());
        }
        let result = self.jobs.forget(id);
        if self.has(Fault::ForgetsRunning) {
            return Ok(());
        }
        result
    }

    fn ended(&self, id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        if self.has(Fault::PretendsToStop) && self.was_stopped(id) {
            return Box::pin(std::future::ready(()));
        }
        let ended = self.jobs.ended(id);
        match self.grace_left(id) {
            // Whoever waits has to ask then, or nobody kills it.
            Some(left) if self.has(Fault::KillsByItself) => Box::pin(async move {
                let _ended_or_due = tokio::time::timeout(left, ended).await;
            }),
            _ => ended,
        }
    }
}

impl Drop for Faulty {
    /// What a host of this kind does at its end; and what is left of a job that only seemed to stop is stopped.
    fn drop(&mut self) {
        if !self.has(Fault::DiesWithHost) && !self.has(Fault::PretendsToStop) {
            return;
        }
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        for id in started.iter() {
            // Nobody is left who could be told.
            let _stopped = self.jobs.stop(*id, StopReason::Cancelled);
        }
        // Their directory may be deleted next, and then they would not find out.
        for id in started.iter() {
            until(PATIENCE, "a job to end", || match self.jobs.inspect(*id) {
                Ok(State::Running(progress)) => Err(format!("{progress:?}")),
                _ => Ok(()),
            });
        }
    }
}
