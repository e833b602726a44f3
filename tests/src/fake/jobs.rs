//! Jobs that follow a script in virtual time.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use backburner::jobs::{
    End, Failure, Fragment, Jobs, Loss, Outcome, Progress, Question, Spec, StartError, State,
    StopCause, StopReason,
};
use uuid::Uuid;

use super::Clock;
use super::script::{self, Answer, Timeline, Write};

/// How long a fake job takes to end when it is asked to, in milliseconds.
const OBEDIENCE_MS: u64 = 1;

/// Jobs that do what their command says without a process, in virtual time. They keep the promises of the
/// contract; they do not limit output.
#[derive(Debug)]
pub struct ScriptedJobs {
    clock: Clock,
    jobs: Mutex<BTreeMap<Uuid, Job>>,
}

#[derive(Clone, Debug)]
struct Job {
    id: Uuid,
    /// In milliseconds since 1970.
    started_at: u64,
    /// `None` for one that was stopped before it was started.
    run: Option<(Spec, Timeline)>,
    answers: Vec<Answer>,
    /// Since when it is being stopped, in milliseconds since 1970, and why.
    stop: Option<(u64, StopCause)>,
}

/// How and when a job ends, in milliseconds since 1970.
struct Ending {
    at: u64,
    end: End,
    stopped: Option<(u64, StopCause)>,
}

impl ScriptedJobs {
    /// None yet, in the time of `clock`.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            jobs: Mutex::default(),
        }
    }

    /// When a job will have ended if nobody stops it before, in milliseconds since 1970; in the past where it has.
    /// Never where it is unknown, as it may be about to start.
    #[must_use]
    pub fn ends_at(&self, id: Uuid) -> u64 {
        self.lock().get(&id).map_or(u64::MAX, |job| job.ending().at)
    }

    /// How many jobs were ever started.
    #[must_use]
    pub fn started(&self) -> usize {
        self.lock().values().filter(|job| job.run.is_some()).count()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Uuid, Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Jobs for ScriptedJobs {
    fn start(&self, id: Uuid, spec: &Spec) -> Result<(), StartError> {
        let mut jobs = self.lock();
        if jobs.contains_key(&id) {
            return Err(StartError::AlreadyKnown);
        }
        if spec.interactive {
            return Err(StartError::BadSpec("there are no terminals".to_owned()));
        }
        if let Some(directory) = &spec.directory
            && !Path::new(directory).is_dir()
        {
            return Err(StartError::NoDirectory(PathBuf::from(directory)));
        }
        let run = Some((spec.clone(), script::timeline(spec, &[])));
        jobs.insert(
            id,
            Job {
                id,
                started_at: self.clock.now(),
                run,
                answers: Vec::new(),
                stop: None,
            },
        );
        Ok(())
    }

    fn stop(&self, id: Uuid, reason: StopReason) -> Result<(), Failure> {
        let now = self.clock.now();
        let mut jobs = self.lock();
        let job = jobs.entry(id).or_insert(Job {
            id,
            started_at: now,
            run: None,
            answers: Vec::new(),
            stop: None,
        });
        // The first cause stays, and what has ended does not change.
        if job.stop.is_none() && (job.run.is_none() || job.ending().at > now) {
            job.stop = Some((now, reason.into()));
        }
        Ok(())
    }

    fn inspect(&self, id: Uuid) -> Result<State, Failure> {
        let jobs = self.lock();
        Ok(jobs
            .get(&id)
            .map_or(State::Unknown, |job| job.state(self.clock.now())))
    }

    fn answer(&self, id: Uuid, key: &str, answer: &str) -> Result<(), Failure> {
        let now = self.clock.now();
        if let Some(job) = self.lock().get_mut(&id) {
            job.answer(now, key, answer);
        }
        Ok(())
    }

    fn read(&self, id: Uuid, offset: u64, limit: u32) -> Result<Vec<Fragment>, Failure> {
        let jobs = self.lock();
        let Some(job) = jobs.get(&id) else {
            return Ok(Vec::new());
        };
        Ok(job.fragments(self.clock.now(), offset, limit))
    }

    fn forget(&self, id: Uuid) -> Result<(), Failure> {
        let mut jobs = self.lock();
        if jobs
            .get(&id)
            .is_some_and(|job| job.ending().at > self.clock.now())
        {
            return Err(Failure {
                detail: "the job runs".to_owned(),
            });
        }
        jobs.remove(&id);
        Ok(())
    }

    /// Never wakes anybody: whoever plays with virtual time asks [`ScriptedJobs::ends_at`] instead.
    fn ended(&self, _id: Uuid) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        Box::pin(std::future::pending())
    }
}

impl Job {
    fn ending(&self) -> Ending {
        let Some((spec, timeline)) = &self.run else {
            let end = End::Lost {
                kind: Loss::NeverStarted,
            };
            return Ending {
                at: self.started_at,
                end,
                stopped: self.stop,
            };
        };
        let by_itself = self.started_at + timeline.end_ms;
        let limits = [
            self.stop,
            spec.timeout_ms
                .map(|ms| (self.started_at + ms, StopCause::TimedOut)),
            spec.lifetime_ms
                .map(|ms| (self.started_at + ms, StopCause::Expired)),
        ];
        let first = limits.into_iter().flatten().min_by_key(|(at, _)| *at);
        let Some((at, cause)) = first.filter(|(at, _)| *at < by_itself) else {
            return Ending {
                at: by_itself,
                end: timeline.end.clone(),
                stopped: None,
            };
        };
        let (delay_ms, signal) = match timeline.ignores_term {
            true => (spec.grace_ms, "SIGKILL"),
            false => (OBEDIENCE_MS, "SIGTERM"),
        };
        let end = End::Signalled {
            signal: signal.to_owned(),
            core_dumped: false,
        };
        Ending {
            at: at + delay_ms,
            end,
            stopped: Some((at, cause)),
        }
    }

    /// What it asks, if it has come to that and goes on.
    fn question(&self, now: u64) -> Option<Question> {
        let (_, timeline) = self.run.as_ref()?;
        let question = timeline.question.as_ref()?;
        let asked_at = self.started_at + question.asked_at;
        let until = self.ending().stopped.map_or(u64::MAX, |(at, _)| at);
        (asked_at <= now && now < until).then(|| Question {
            // No two jobs have the same.
            key: self.id.simple().to_string()[..12].to_owned() + &question.key,
            asked_at,
            ..question.clone()
        })
    }

    /// Goes on with an answer to what is asked; any other one changes nothing.
    fn answer(&mut self, now: u64, key: &str, answer: &str) {
        let is_open = self.question(now).is_some_and(|it| it.key == key);
        if let Some((spec, timeline)) = self.run.as_mut().filter(|_| is_open) {
            self.answers.push(Answer {
                at_ms: now - self.started_at,
                text: answer.to_owned(),
            });
            *timeline = script::timeline(spec, &self.answers);
        }
    }

    fn state(&self, now: u64) -> State {
        let ending = self.ending();
        let written = self.written(now);
        let output_bytes = written.iter().map(|write| write.bytes.len() as u64).sum();
        if ending.at > now {
            return State::Running(Progress {
                started_at: self.started_at,
                running_ms: now - self.started_at,
                output_bytes,
                last_output_at: written.last().map(|write| self.started_at + write.at_ms),
                stopping: ending
                    .stopped
                    .filter(|(at, _)| *at <= now)
                    .map(|(_, cause)| cause),
                questions: self.question(now).into_iter().collect(),
                prompt: None,
                report: None,
            });
        }
        State::Ended(Outcome {
            started_at: self.started_at,
            ended_at: ending.at,
            duration_ms: ending.at - self.started_at,
            end: ending.end,
            stopped: ending.stopped.map(|(_, cause)| cause),
            output_bytes,
            dropped_bytes: 0,
            leftovers: Vec::new(),
        })
    }

    /// What it has written until `now`, and before it was stopped.
    fn written(&self, now: u64) -> Vec<&Write> {
        let Some((_, timeline)) = &self.run else {
            return Vec::new();
        };
        let until = self.ending().at.min(now);
        timeline
            .writes
            .iter()
            .filter(|write| self.started_at + write.at_ms <= until)
            .collect()
    }

    fn fragments(&self, now: u64, offset: u64, limit: u32) -> Vec<Fragment> {
        let mut fragments = Vec::new();
        let mut room = limit as usize;
        let mut begin = 0;
        for write in self.written(now) {
            let skipped = offset.saturating_sub(begin).min(write.bytes.len() as u64);
            let rest =
                &write.bytes[usize::try_from(skipped).expect("it is not more than there is")..];
            let bytes = &rest[..rest.len().min(room)];
            if !bytes.is_empty() {
                fragments.push(Fragment {
                    offset: begin + skipped,
                    at: self.started_at + write.at_ms,
                    stream: write.stream,
                    bytes: bytes.to_vec(),
                });
            }
            room -= bytes.len();
            begin += write.bytes.len() as u64;
        }
        fragments
    }
}
