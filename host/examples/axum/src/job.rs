//! One job: whether it runs, what it wrote and asks, and how it ended.
//!
//! **Knows** the states of a job, and that its first cause to stop and its first end stay. **Does not know** what runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use backburner::jobs::{End, Fragment, Outcome, Progress, Question, State, StopCause, Stream};
use tokio::sync::{oneshot, watch};

use crate::output::Kept;

/// One job.
pub(crate) struct Job {
    started: Instant,
    started_at: u64,
    output: Mutex<Kept>,
    stop: watch::Sender<Option<StopCause>>,
    outcome: watch::Sender<Option<Outcome>>,
    questions: Mutex<Questions>,
}

/// What a job asks, and who waits for the answer, by when it was asked.
type Questions = BTreeMap<u64, Asked>;

/// A question, and who waits for the answer.
type Asked = (Question, oneshot::Sender<String>);

/// How many questions of a job may be open, as the interface has it.
const QUESTIONS_MAX: usize = 32;

/// How long what it asks may be, in bytes, as the interface has it.
const FORM_BYTES_MAX: usize = 64 << 10;

/// Why a function cannot ask.
#[derive(Debug)]
pub(crate) enum AskError {
    /// What it asks is longer than [`FORM_BYTES_MAX`].
    TooLong,
    /// It asks [`QUESTIONS_MAX`] other questions.
    TooMany,
}

/// How many questions were ever asked here, of which keys are made: so that no two are the same.
static ASKED: AtomicU64 = AtomicU64::new(0);

impl Job {
    /// One that begins now, of whose output so much is kept.
    pub(crate) fn new(output_limit_bytes: u64) -> Self {
        Self {
            started: Instant::now(),
            started_at: now_ms(),
            output: Mutex::new(Kept::new(output_limit_bytes)),
            stop: watch::Sender::new(None),
            outcome: watch::Sender::new(None),
            questions: Mutex::default(),
        }
    }

    fn questions(&self) -> MutexGuard<'_, Questions> {
        // Whole after each change, too.
        self.questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn insert_question(&self, number: u64, asked: Asked) -> Result<(), AskError> {
        let mut questions = self.questions();
        if questions.len() >= QUESTIONS_MAX {
            return Err(AskError::TooMany);
        }
        questions.insert(number, asked);
        Ok(())
    }

    /// Answers a question that is open.
    pub(crate) fn answer(&self, key: &str, answer: &str) {
        let mut questions = self.questions();
        let number = key.parse().ok();
        if let Some((_, asker)) = number.and_then(|number| questions.remove(&number)) {
            // Fails where its function has been stopped.
            let _gone = asker.send(answer.to_owned());
        }
    }

    fn output(&self) -> MutexGuard<'_, Kept> {
        // Whole after each change, whatever panicked elsewhere.
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.outcome.borrow().is_none()
    }

    /// Resolves when it has ended.
    pub(crate) async fn ended(&self) {
        let mut outcome = self.outcome.subscribe();
        // An error means that the job is gone, and so is everything that could be waited for.
        let _gone = outcome.wait_for(Option::is_some).await;
    }

    /// The first cause stays.
    pub(crate) fn request_stop(&self, cause: StopCause) {
        self.stop
            .send_if_modified(|stop| stop.replace(stop.unwrap_or(cause)).is_none());
    }

    /// Resolves when it is to stop.
    pub(crate) async fn stop_requested(&self) -> StopCause {
        let mut stop = self.stop.subscribe();
        match stop.wait_for(Option::is_some).await.map(|cause| *cause) {
            Ok(Some(cause)) => cause,
            // Nobody is left who could stop it.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// The first end stays.
    pub(crate) fn conclude(&self, end: End, stopped: Option<StopCause>) {
        // Held until the end is known, so that nothing is written between the two.
        let output = self.output();
        let new = Outcome {
            started_at: self.started_at,
            ended_at: now_ms(),
            duration_ms: elapsed_ms(self.started),
            end,
            stopped,
            output_bytes: output.written_bytes(),
            dropped_bytes: output.dropped_bytes(),
            leftovers: Vec::new(),
        };
        self.outcome.send_if_modified(|outcome| {
            let is_first = outcome.is_none();
            outcome.get_or_insert(new);
            is_first
        });
    }

    /// What is known of it.
    pub(crate) fn state(&self) -> State {
        if let Some(outcome) = self.outcome.borrow().clone() {
            return State::Ended(outcome);
        }
        let output = self.output();
        State::Running(Progress {
            started_at: self.started_at,
            running_ms: elapsed_ms(self.started),
            output_bytes: output.written_bytes(),
            last_output_at: output.last_at(),
            stopping: *self.stop.borrow(),
            questions: self.asked(),
            prompt: None,
            report: None,
        })
    }

    /// What is asked and not answered, in the order of asking.
    fn asked(&self) -> Vec<Question> {
        let questions = self.questions();
        let open = questions.values();
        open.map(|(question, _)| question.clone()).collect()
    }

    /// What it wrote, as `Jobs::read` has it.
    pub(crate) fn read(&self, offset: u64, limit: usize) -> Vec<Fragment> {
        self.output().read(offset, limit)
    }
}

/// Where a function writes what it has to say.
pub(crate) struct Output(Arc<Job>);

impl Output {
    /// That of a job.
    pub(crate) fn of(job: &Arc<Job>) -> Self {
        Self(Arc::clone(job))
    }

    /// Writes a line.
    pub(crate) fn line(&self, text: &str) {
        self.write(Stream::Stdout, format!("{text}\n").as_bytes());
    }

    /// Writes bytes. After the end of its job it writes nothing: what was said of that stays true.
    pub(crate) fn write(&self, stream: Stream, bytes: &[u8]) {
        let mut output = self.0.output();
        if self.0.is_running() {
            output.push(stream, now_ms(), bytes);
        }
    }

    /// Asks a person something, and waits for the answer; both are JSON, as the interface has them.
    ///
    /// # Errors
    /// At once, where the interface allows no such question.
    pub(crate) async fn ask(&self, form: &str) -> Result<String, AskError> {
        if form.len() > FORM_BYTES_MAX {
            return Err(AskError::TooLong);
        }
        let (asker, answer) = oneshot::channel();
        let number = ASKED.fetch_add(1, Ordering::Relaxed);
        let question = Question {
            key: number.to_string(),
            form: form.to_owned(),
            asked_at: now_ms(),
        };
        self.0.insert_question(number, (question, asker))?;
        let _open = Open {
            job: &self.0,
            number,
        };
        let answer = answer.await;
        Ok(answer.expect("whoever answers has the other end until then"))
    }
}

/// A question for as long as somebody waits for its answer.
struct Open<'a> {
    job: &'a Job,
    number: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.job.questions().remove(&self.number);
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
