//! Jobs that run in virtual time and do what their command says.
//!
//! A command is steps separated by `;`: `sleep SECONDS`, `echo TEXT`, `exit CODE`, `kill SIGNAL` (ends by
//! it), `lose` (its supervisor is killed), `trap` (from here on it takes `STOP_MS` to end when it is
//! stopped), `never` (cannot be executed), `ask NAMES` (asks what [`form`] has under each of these names, under the
//! keys `q1`, `q2` and so on, and writes each answer), `report PERCENT TEXT` (says so of itself), `type TEXT` (shows this
//! at its terminal under the keys `p1`, `p2` and so on, and writes what is typed then), `secret TEXT` (the same, for a secret). Whatever else stands
//! there takes no time. The directory `/missing` does not exist.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use backburner_core::imports::{
    Command, End, Failure, Fragment, JobOutcome, JobSpec, JobState, Loss, Progress, Prompt,
    Question, Report, StartError, StartErrorKind, StopCause, StopReason, Stream,
};

/// How long a job with `trap` takes to end when it is stopped, in milliseconds.
pub(crate) const STOP_MS: u64 = 3_000;

/// All jobs of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FakeJobs {
    known: BTreeMap<String, Job>,
    forgotten: BTreeSet<String>,
    /// How often each id was really started.
    pub(crate) starts: BTreeMap<String, u32>,
    /// How often each shell line was really started.
    pub(crate) lines: BTreeMap<String, usize>,
    /// The job of which nobody can read what it printed: an instance that does ends by a panic, as by a trap.
    pub(crate) poison: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Job {
    Started(Box<Run>),
    NeverStarted { at: u64, cause: StopCause },
    FilesLost { at: u64 },
}

/// A job that was started: all that it will do if nobody stops it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    started_at: u64,
    timeout_at: Option<u64>,
    lifetime_at: Option<u64>,
    ends_at: u64,
    end: End,
    stop_ms: u64,
    output: Vec<(u64, String)>,
    reports: Vec<Report>,
    /// The open questions; while there are any, the job waits.
    questions: Vec<Question>,
    /// What it waits to be typed; meanwhile it waits, too.
    prompt: Option<Prompt>,
    asked: u32,
    /// What it does when it does not wait any more.
    steps: VecDeque<String>,
    stop: Option<(u64, StopCause)>,
}

impl FakeJobs {
    /// As [`backburner_core::imports::Jobs::start`], at `now`.
    pub(crate) fn start(&mut self, now: u64, id: &str, spec: &JobSpec) -> Result<(), StartError> {
        assert!(
            !self.forgotten.contains(id),
            "{id} is started although it was forgotten"
        );
        let error = |kind, detail: &str| {
            let detail = detail.to_owned();
            Err(StartError { kind, detail })
        };
        if self.known.contains_key(id) {
            return error(StartErrorKind::AlreadyKnown, "started before");
        }
        if spec.directory.as_deref() == Some("/missing") {
            return error(StartErrorKind::BadDirectory, "/missing: no such directory");
        }
        *self.starts.entry(id.to_owned()).or_default() += 1;
        if let Command::Shell(line) = &spec.command {
            *self.lines.entry(line.clone()).or_default() += 1;
        }
        self.known
            .insert(id.to_owned(), Job::Started(Box::new(Run::new(now, spec))));
        Ok(())
    }

    /// As [`backburner_core::imports::Jobs::stop`], at `now`.
    pub(crate) fn stop(&mut self, now: u64, id: &str, reason: StopReason) {
        let cause = match reason {
            StopReason::Cancelled => StopCause::Cancelled,
            StopReason::Expired => StopCause::Expired,
        };
        match self.known.get_mut(id) {
            Some(Job::Started(run)) => run.stop(now, cause),
            Some(Job::NeverStarted { .. } | Job::FilesLost { .. }) => {}
            None => {
                self.known
                    .insert(id.to_owned(), Job::NeverStarted { at: now, cause });
            }
        }
    }

    /// Stops a job for a reason that only the host has.
    pub(crate) fn stop_because(&mut self, now: u64, id: &str, cause: StopCause) {
        if let Some(Job::Started(run)) = self.known.get_mut(id) {
            run.stop(now, cause);
        }
    }

    /// Kills the supervisor of a job that runs at `now`.
    pub(crate) fn lose(&mut self, now: u64, id: &str) {
        if let Some(Job::Started(run)) = self.known.get_mut(id)
            && matches!(run.state(now), JobState::Running(_))
        {
            run.end = End::Lost(Loss::Supervisor);
            run.ends_at = now;
            run.questions.clear();
            run.prompt = None;
            run.stop = None;
        }
    }

    /// Deletes the files of a job at `now`, and with them whatever they said of it.
    pub(crate) fn lose_files(&mut self, now: u64, id: &str) {
        self.known.insert(id.to_owned(), Job::FilesLost { at: now });
    }

    /// Has an unknown job seem to run, which does nothing. False where it is known. It does not end, whatever its command
    /// and whoever stops it: a job that has ended stays so.
    pub(crate) fn appear(&mut self, now: u64, id: &str, spec: &JobSpec) -> bool {
        let is_new = !self.known.contains_key(id);
        if is_new {
            let run = Run {
                ends_at: u64::MAX,
                timeout_at: None,
                lifetime_at: None,
                stop_ms: STOP_MS,
                questions: Vec::new(),
                ..Run::new(now, spec)
            };
            self.known
                .insert(id.to_owned(), Job::Started(Box::new(run)));
        }
        is_new
    }

    /// Deletes everything that is kept of a job, behind the server's back: its processes may go on, and nobody knows
    /// that it was started.
    pub(crate) fn vanish(&mut self, id: &str) {
        self.known.remove(id);
    }

    /// As [`backburner_core::imports::Jobs::inspect`], at `now`.
    pub(crate) fn inspect(&self, now: u64, id: &str) -> JobState {
        match self.known.get(id) {
            None => JobState::Unknown,
            Some(Job::Started(run)) => run.state(now),
            Some(Job::NeverStarted { at, cause }) => {
                JobState::Ended(lost(*at, Loss::NeverStarted, Some(*cause)))
            }
            Some(Job::FilesLost { at }) => JobState::Ended(lost(*at, Loss::Files, None)),
        }
    }

    /// As [`backburner_core::imports::Jobs::answer`], at `now`.
    pub(crate) fn answer(&mut self, now: u64, id: &str, key: &str, answer: &str) {
        if let Some(Job::Started(run)) = self.known.get_mut(id) {
            run.answer(now, key, answer);
        }
    }

    /// As [`backburner_core::imports::Jobs::enter`], at `now`.
    pub(crate) fn enter(&mut self, now: u64, id: &str, key: &str, line: Option<&str>) {
        if let Some(Job::Started(run)) = self.known.get_mut(id) {
            run.enter(now, key, line);
        }
    }

    /// As [`backburner_core::imports::Jobs::read`], at `now`.
    pub(crate) fn read(&self, now: u64, id: &str, offset: u64, limit: u32) -> Vec<Fragment> {
        assert!(
            (1..=262_144).contains(&limit),
            "the contract allows 1 to 262144, not {limit}"
        );
        assert_ne!(self.poison.as_deref(), Some(id), "its output is poison");
        let Some(Job::Started(run)) = self.known.get(id) else {
            return Vec::new();
        };
        let bytes = run.written(now);
        let from = usize::try_from(offset)
            .expect("an offset that fits")
            .min(bytes.len());
        let to = from.saturating_add(limit as usize).min(bytes.len());
        if from == to {
            return Vec::new();
        }
        vec![Fragment {
            offset,
            at: run.started_at,
            stream: Stream::Stdout,
            bytes: bytes[from..to].to_vec(),
        }]
    }

    /// As [`backburner_core::imports::Jobs::forget`], at `now`.
    pub(crate) fn forget(&mut self, now: u64, id: &str) -> Result<(), Failure> {
        if matches!(self.inspect(now, id), JobState::Running(_)) {
            let detail = "it runs".to_owned();
            return Err(Failure { detail });
        }
        self.known.remove(id);
        self.forgotten.insert(id.to_owned());
        Ok(())
    }

    /// The ids of all jobs that run at `now`.
    pub(crate) fn running(&self, now: u64) -> Vec<&str> {
        let ids = self.known.keys().map(String::as_str);
        ids.filter(|id| matches!(self.inspect(now, id), JobState::Running(_)))
            .collect()
    }

    /// When the first running job that is not yet ended at `now` will have ended by itself.
    pub(crate) fn next_end(&self, now: u64, id: &str) -> Option<u64> {
        match self.known.get(id)? {
            Job::Started(run) => Some(run.outcome().ended_at).filter(|at| *at > now),
            Job::NeverStarted { .. } | Job::FilesLost { .. } => None,
        }
    }
}

/// What a job asks: the form of this name.
fn form(name: &str) -> String {
    let field = match name {
        "boolean" => r#"{"type":"boolean"}"#,
        "text" => r#"{"type":"string","maxLength":5}"#,
        "count" => r#"{"type":"integer","minimum":1,"default":3}"#,
        "page" => {
            return r#"{"mode":"url","message":"Sign in","url":"https://example.org/"}"#.to_owned();
        }
        "unreadable" => return r#"{"message":"Which?"}"#.to_owned(),
        other => panic!("there is no form {other:?}"),
    };
    let schema =
        format!(r#"{{"type":"object","properties":{{"{name}":{field}}},"required":["{name}"]}}"#);
    format!(r#"{{"message":"Which {name}?","requestedSchema":{schema}}}"#)
}

/// The outcome of a job that is known to be over at `at`, and of which nothing else is known.
fn lost(at: u64, loss: Loss, stopped: Option<StopCause>) -> JobOutcome {
    JobOutcome {
        started_at: at,
        ended_at: at,
        duration_ms: 0,
        end: End::Lost(loss),
        stopped,
        output_bytes: 0,
        dropped_bytes: 0,
        leftovers: Vec::new(),
    }
}

impl Run {
    fn new(now: u64, spec: &JobSpec) -> Self {
        let line = match &spec.command {
            Command::Shell(line) => line.clone(),
            Command::Program(arguments) => arguments.join(" "),
        };
        let mut run = Self {
            started_at: now,
            timeout_at: spec.timeout_ms.map(|ms| now.saturating_add(ms)),
            lifetime_at: spec.lifetime_ms.map(|ms| now.saturating_add(ms)),
            ends_at: now,
            end: End::Exited(0),
            stop_ms: 0,
            output: Vec::new(),
            reports: Vec::new(),
            questions: Vec::new(),
            prompt: None,
            asked: 0,
            steps: line.split(';').map(|step| step.trim().to_owned()).collect(),
            stop: None,
        };
        run.go_on();
        run
    }

    /// Does what is left to do, up to the next question.
    fn go_on(&mut self) {
        while !self.waits() {
            match self.steps.pop_front() {
                Some(step) if self.step(&step) => {}
                _ => return,
            }
        }
    }

    /// Asks what these names stand for, as soon as the job is so far.
    fn ask(&mut self, names: &str) {
        for name in names.split(' ') {
            self.asked += 1;
            self.questions.push(Question {
                key: format!("q{}", self.asked),
                form: form(name),
                asked_at: self.ends_at,
            });
        }
    }

    fn waits(&self) -> bool {
        !self.questions.is_empty() || self.prompt.is_some()
    }

    /// Waits at its terminal, as soon as the job is so far.
    fn wait_for_line(&mut self, text: &str, hidden: bool) {
        self.asked += 1;
        self.prompt = Some(Prompt {
            key: format!("p{}", self.asked),
            text: text.replace("\\n", "\n"),
            hidden,
            asked_at: self.ends_at,
        });
    }

    fn enter(&mut self, now: u64, key: &str, line: Option<&str>) {
        let is_running = matches!(self.state(now), JobState::Running(_));
        let is_open =
            |prompt: &&Prompt| prompt.key == key && !prompt.hidden && prompt.asked_at <= now;
        if is_running && self.prompt.as_ref().is_some_and(|it| is_open(&it)) {
            self.prompt = None;
            self.output.push((now, format!("{key} {line:?}\n")));
            self.ends_at = now;
            self.go_on();
        }
    }

    /// The questions that are open at `now`.
    fn open(&self, now: u64) -> Vec<Question> {
        let asked = self.questions.iter().filter(|it| it.asked_at <= now);
        asked.cloned().collect()
    }

    fn answer(&mut self, now: u64, key: &str, answer: &str) {
        let is_open = matches!(self.state(now), JobState::Running(_))
            && self.open(now).iter().any(|question| question.key == key);
        if !is_open {
            return;
        }
        self.questions.retain(|question| question.key != key);
        self.output.push((now, format!("{key} {answer}\n")));
        if !self.waits() {
            self.ends_at = now;
            self.go_on();
        }
    }

    /// When it ends if nobody stops it; never where it waits.
    fn end_at(&self) -> u64 {
        if self.waits() { u64::MAX } else { self.ends_at }
    }

    /// Adds a step; false where the job ends with it.
    fn step(&mut self, step: &str) -> bool {
        let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
        match word {
            "sleep" => {
                let seconds: f64 = rest.parse().expect("`sleep` has a number of seconds");
                let ms = std::time::Duration::from_secs_f64(seconds).as_millis();
                self.ends_at += u64::try_from(ms).expect("a duration that fits");
            }
            "echo" => self.output.push((self.ends_at, format!("{rest}\n"))),
            "ask" => self.ask(rest),
            "type" => self.wait_for_line(rest, false),
            "secret" => self.wait_for_line(rest, true),
            "report" => {
                let (percent, text) = rest.split_once(' ').unwrap_or((rest, ""));
                self.reports.push(Report {
                    percent: percent.parse().ok(),
                    text: text.to_owned(),
                    at: self.ends_at,
                });
            }
            "exit" => self.end = End::Exited(rest.parse().expect("`exit` has a code")),
            "kill" => {
                let signal = rest.to_owned();
                self.end = End::Signalled {
                    signal,
                    core_dumped: false,
                };
            }
            "lose" => self.end = End::Lost(Loss::Supervisor),
            "never" => self.end = End::NotStarted("no such program".to_owned()),
            "trap" => self.stop_ms = STOP_MS,
            _ => {}
        }
        !matches!(word, "exit" | "kill" | "lose" | "never")
    }

    fn stop(&mut self, now: u64, cause: StopCause) {
        if self.stop.is_none() && matches!(self.state(now), JobState::Running(_)) {
            self.stop = Some((now, cause));
        }
    }

    /// The first reason to stop it, and when.
    fn stopped(&self) -> Option<(u64, StopCause)> {
        let timeout = self.timeout_at.map(|at| (at, StopCause::TimedOut));
        let lifetime = self.lifetime_at.map(|at| (at, StopCause::Expired));
        let causes = [timeout, lifetime, self.stop].into_iter().flatten();
        causes
            .filter(|(at, _)| *at < self.end_at())
            .min_by_key(|(at, _)| *at)
    }

    fn outcome(&self) -> JobOutcome {
        let (ended_at, end, stopped) = match self.stopped() {
            None => (self.end_at(), self.end.clone(), None),
            Some((at, cause)) => {
                let signal = "SIGTERM".to_owned();
                let end = End::Signalled {
                    signal,
                    core_dumped: false,
                };
                (at + self.stop_ms, end, Some(cause))
            }
        };
        JobOutcome {
            started_at: self.started_at,
            ended_at,
            duration_ms: ended_at - self.started_at,
            end,
            stopped,
            output_bytes: self.written(ended_at).len() as u64,
            dropped_bytes: 0,
            leftovers: Vec::new(),
        }
    }

    fn state(&self, now: u64) -> JobState {
        let outcome = self.outcome();
        if outcome.ended_at <= now {
            return JobState::Ended(outcome);
        }
        let written = self.output.iter().rev().find(|(at, _)| *at <= now);
        JobState::Running(Progress {
            started_at: self.started_at,
            running_ms: now - self.started_at,
            output_bytes: self.written(now).len() as u64,
            last_output_at: written.map(|(at, _)| *at),
            stopping: self
                .stopped()
                .filter(|(at, _)| *at <= now)
                .map(|(_, cause)| cause),
            questions: self.open(now),
            prompt: self.prompt.clone().filter(|it| it.asked_at <= now),
            report: self.reports.iter().rev().find(|it| it.at <= now).cloned(),
        })
    }

    fn written(&self, now: u64) -> Vec<u8> {
        let written = self.output.iter().filter(|(at, _)| *at <= now);
        written.flat_map(|(_, text)| text.bytes()).collect()
    }
}
