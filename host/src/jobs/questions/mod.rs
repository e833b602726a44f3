//! What a job asks and is answered, as files in `questions/`, a directory in that of the job.
//!
//! | name | what it is |
//! |---|---|
//! | `KEY.asked` | what is asked, and since when |
//! | `KEY.prompt` | instead of that: what the job's terminal shows while it waits there, and since when |
//! | `KEY.wake` | a FIFO that the asker reads as long as it lives; a byte in it makes it look for an answer. Of a hidden prompt a line in it is the answer itself, which then is in no file |
//! | `KEY.answer` | the answer, or what is to be typed; the first one stays |
//! | `KEY.typed` | an empty file: the secret that was told was typed. Who told it deletes it, or a later asker |
//! | `KEY.draft…` | something unfinished |
//!
//! A question is open as long as it is asked, not answered, and its asker lives: that is the FIFO, and never a process
//! id. No server has a part in it, and a supervisor only where it is the asker: of what its job waits for at the terminal.
//! A key is the time at which the asker came, of the clock of this boot: a job does not outlive the boot, so no key comes
//! twice.
//!
//! Knows nothing of what is asked.

mod asker;
#[cfg(target_os = "linux")]
mod changes;
mod prompts;

pub(crate) use asker::Asker;
#[cfg(target_os = "linux")]
pub(super) use changes::changed;
pub(crate) use prompts::HiddenPrompt;
pub(super) use prompts::{enter, hidden_prompt, prompt, take_typed, tell_secret};

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::directory::{encode, readable};
use super::files;
use super::limits::{
    ANSWER_BYTES, FORM_BYTES, OPEN_QUESTIONS, QUESTION_FILES, WRITTEN_ANSWER_BYTES,
    WRITTEN_FORM_BYTES,
};
use super::model::{Question, QuestionRecord};

/// The directory in that of the job.
const QUESTIONS: &str = "questions";

/// The open questions of the job in this directory, oldest first.
///
/// # Errors
/// Where they cannot be looked at. What is damaged is no question.
pub(super) fn open_ones(job: &Dir) -> io::Result<Vec<Question>> {
    match Questions::open(job)? {
        Some(questions) => questions.open_ones(),
        None => Ok(Vec::new()),
    }
}

/// Answers a question of the job in this directory; power-safe on return. One that is not open is left as it is.
///
/// # Errors
/// Where the answer cannot be kept; then the question is open.
pub(super) fn answer(job: &Dir, key: &str, answer: &str) -> io::Result<()> {
    if answer.len() > ANSWER_BYTES {
        let detail = format!("an answer may have {ANSWER_BYTES} bytes");
        return Err(io::Error::new(ErrorKind::InvalidInput, detail));
    }
    match Questions::open(job)? {
        Some(questions) if is_key(key) => questions.answer(key, answer),
        _ => Ok(()),
    }
}

/// The directory of a job's questions, open.
#[derive(Debug)]
struct Questions {
    dir: Dir,
}

impl Questions {
    /// `None` where nothing was ever asked, and where there is something else of this name.
    fn open(job: &Dir) -> io::Result<Option<Self>> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(job, QUESTIONS, how, Mode::empty()) {
            Ok(dir) => Ok(Some(Self {
                dir: Dir::from_std_file(File::from(dir)),
            })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn open_ones(&self) -> io::Result<Vec<Question>> {
        let mut open = Vec::new();
        for key in self.keys("asked")? {
            if open.len() == OPEN_QUESTIONS {
                break;
            }
            open.extend(self.question(key)?);
        }
        Ok(open)
    }

    /// The keys of what was asked in this way, in the order of their times.
    fn keys(&self, what: &str) -> io::Result<Vec<String>> {
        let mut keys = Vec::new();
        for entry in self.dir.entries()?.take(QUESTION_FILES) {
            let name = entry?.file_name();
            let key = name.to_str().and_then(|name| name.split_once('.'));
            let key = key.filter(|(key, other)| is_key(key) && *other == what);
            keys.extend(key.map(|(key, _)| key.to_owned()));
        }
        keys.sort_unstable();
        Ok(keys)
    }

    /// The question of this key; `None` where it is not open.
    ///
    /// In this order: an asker that was answered takes away the question first, then what it listens to, and the answer
    /// last, so that none looks unanswered meanwhile.
    fn question(&self, key: String) -> io::Result<Option<Question>> {
        let Some(QuestionRecord { form, asked_at }) = self.record(&key)? else {
            return Ok(None);
        };
        if self.is_answered(&key)? {
            // Who answered it may have ended before waking the asker.
            self.wake(&key)?;
            return Ok(None);
        }
        let is_open = self.listener(&key)?.is_some();
        Ok(is_open.then_some(Question {
            key,
            form,
            asked_at,
        }))
    }

    fn record(&self, key: &str) -> io::Result<Option<QuestionRecord>> {
        let name = format!("{key}.asked");
        let record: Option<QuestionRecord> = readable(&self.dir, &name, WRITTEN_FORM_BYTES)?;
        Ok(record.filter(|record| record.form.len() <= FORM_BYTES))
    }

    fn answer(&self, key: &str, answer: &str) -> io::Result<()> {
        if self.record(key)?.is_none() || self.listener(key)?.is_none() {
            return Ok(());
        }
        self.conclude(key, &encode(answer)?)?;
        self.wake(key)
    }

    /// Writes an answer, encoded, unless there is one by now; power-safe on return.
    fn conclude(&self, key: &str, answer: &[u8]) -> io::Result<()> {
        if self.is_answered(key)? {
            return Ok(());
        }
        let draft = draft(key);
        let published = files::create(&self.dir, &draft).and_then(|mut file| {
            file.write_all(answer)?;
            file.sync_all()?;
            self.publish(&draft, key)
        });
        files::remove(&self.dir, &draft)?;
        published?;
        files::sync(&self.dir)
    }

    fn publish(&self, draft: &str, key: &str) -> io::Result<()> {
        match files::link(&self.dir, draft, &format!("{key}.answer")) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && self.is_answered(key)? => {
                Ok(())
            }
            other => other,
        }
    }

    fn is_answered(&self, key: &str) -> io::Result<bool> {
        Ok(files::open_file(&self.dir, &format!("{key}.answer"))?.is_some())
    }

    /// The answer in force; `None` where there is none.
    ///
    /// # Errors
    /// Also where somebody damaged it.
    fn answer_to(&self, key: &str) -> io::Result<Option<String>> {
        self.answer_by(key, readable)
    }

    fn answer_by<T>(
        &self,
        key: &str,
        read: fn(&Dir, &str, u64) -> io::Result<Option<T>>,
    ) -> io::Result<Option<T>> {
        // In this order: it may come at any moment, and stays.
        if !self.is_answered(key)? {
            return Ok(None);
        }
        match read(&self.dir, &format!("{key}.answer"), WRITTEN_ANSWER_BYTES)? {
            None => Err(io::Error::other("its answer was damaged")),
            found => Ok(found),
        }
    }

    /// What makes the asker look; `None` where it does not live.
    fn listener(&self, key: &str) -> io::Result<Option<File>> {
        match files::open_fifo(&self.dir, &format!("{key}.wake"), OFlags::WRONLY) {
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(None),
            other => other,
        }
    }

    fn wake(&self, key: &str) -> io::Result<()> {
        let Some(listener) = self.listener(key)? else {
            return Ok(());
        };
        match rustix::io::write(listener, b"!") {
            // Full of wake-ups that are still to be read, or gone meanwhile: nothing is lost.
            Ok(_) | Err(Errno::AGAIN | Errno::PIPE) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether this is a key, and so leads to no other file.
fn is_key(text: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    (1..=64).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// The file that says of a secret that it was typed.
fn typed(key: &str) -> String {
    format!("{key}.typed")
}

/// A file name that no other process, thread or call uses.
fn draft(key: &str) -> String {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    format!("{key}.draft-{}-{number}", std::process::id())
}
