//! What a job waits for at its terminal, and the line that is to be typed there: kept in a file, or, where it is
//! secret, told to the supervisor alone.

use std::io::{self, ErrorKind};

use cap_std::fs::Dir;
use rustix::io::Errno;

use super::{Questions, is_key, typed};
use crate::jobs::directory::{encode, readable};
use crate::jobs::limits::{PROMPT_CHARS, SECRET_BYTES, TYPED_CHARS, WRITTEN_PROMPT_BYTES};
use crate::jobs::model::{Entered, Prompt, PromptRecord};

/// What the job in this directory waits for at its terminal; `None` where that is nothing.
///
/// # Errors
/// Where it cannot be looked at. What is damaged is no prompt.
pub(in crate::jobs) fn prompt(job: &Dir) -> io::Result<Option<Prompt>> {
    match Questions::open(job)? {
        Some(questions) => questions.prompt(),
        None => Ok(None),
    }
}

/// Has a line typed into the terminal of the job in this directory, `None` for the end of the file; power-safe on
/// return. What it does not wait for, and what is hidden, is left as it is.
///
/// # Errors
/// Where the line cannot be kept; then the prompt is open.
pub(in crate::jobs) fn enter(job: &Dir, key: &str, line: Option<&str>) -> io::Result<()> {
    if line.is_some_and(|line| line.chars().count() > TYPED_CHARS) {
        let detail = format!("a line that is typed may have {TYPED_CHARS} characters");
        return Err(io::Error::new(ErrorKind::InvalidInput, detail));
    }
    let entered = line.map_or(Entered::End, |line| Entered::Line(line.to_owned()));
    match Questions::open(job)? {
        Some(questions) if is_key(key) => questions.enter(key, &entered),
        _ => Ok(()),
    }
}

/// What a job waits for at its terminal that is secret.
#[derive(Debug)]
pub(crate) struct HiddenPrompt {
    /// Its name among all that this job ever waits for.
    pub(crate) key: String,
    /// What the terminal shows; may be empty.
    pub(crate) text: String,
    /// Whether the program takes single keys, and so may show them by itself.
    pub(crate) takes_keys: bool,
}

/// What the job in this directory waits for at its terminal that is secret; `None` where that is nothing.
///
/// # Errors
/// As [`prompt`].
pub(in crate::jobs) fn hidden_prompt(job: &Dir) -> io::Result<Option<HiddenPrompt>> {
    let Some(questions) = Questions::open(job)? else {
        return Ok(None);
    };
    let Some(key) = questions.prompt()?.map(|prompt| prompt.key) else {
        return Ok(None);
    };
    let record = questions.prompt_record(&key)?.filter(|it| it.hidden);
    Ok(record.map(|record| HiddenPrompt {
        key,
        text: record.text,
        takes_keys: record.takes_keys,
    }))
}

/// What is told in the place of a secret for the end of the file: no line has it, and it has no end of line.
pub(super) const NO_SECRET: &[u8] = b"\x04";

/// Tells the job in this directory a secret, `None` for the end of the file: by its supervisor's FIFO, so that it is in
/// no file. Whether anybody listened.
///
/// # Errors
/// Where it is no line of at most 511 bytes, or cannot be told.
pub(in crate::jobs) fn tell_secret(job: &Dir, key: &str, line: Option<&str>) -> io::Result<bool> {
    let told = match line {
        None => NO_SECRET.to_vec(),
        Some(line) => format!("{line}\n").into_bytes(),
    };
    if told.len() > SECRET_BYTES || line.is_some_and(|line| line.contains(char::is_control)) {
        let detail = format!(
            "it may be one line of {} bytes, without control characters",
            SECRET_BYTES - 1
        );
        return Err(io::Error::new(ErrorKind::InvalidInput, detail));
    }
    let Some(questions) = Questions::open(job)?.filter(|_| is_key(key)) else {
        return Ok(false);
    };
    if questions.prompt_record(key)?.is_none_or(|it| !it.hidden) {
        return Ok(false);
    }
    let Some(listener) = questions.listener(key)? else {
        return Ok(false);
    };
    // In one piece, or not at all.
    match rustix::io::write(listener, &told) {
        Ok(_) => Ok(true),
        Err(Errno::PIPE) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether the secret that was told the job in this directory was typed, once the prompt of this key is told no more. Says so
/// once.
///
/// # Errors
/// Where it cannot be looked at.
pub(in crate::jobs) fn take_typed(job: &Dir, key: &str) -> io::Result<bool> {
    let Some(questions) = Questions::open(job)?.filter(|_| is_key(key)) else {
        return Ok(false);
    };
    match questions.dir.remove_file(typed(key)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

impl Questions {
    fn prompt(&self) -> io::Result<Option<Prompt>> {
        // The newest: an older one is being taken away.
        for key in self.keys("prompt")?.into_iter().rev() {
            let Some(record) = self.prompt_record(&key)? else {
                continue;
            };
            if !record.hidden && self.is_answered(&key)? {
                // Who answered it may have ended before waking the asker.
                self.wake(&key)?;
            } else if self.listener(&key)?.is_some() {
                return Ok(Some(Prompt {
                    key,
                    text: record.text,
                    hidden: record.hidden,
                    asked_at: record.asked_at,
                }));
            }
        }
        Ok(None)
    }

    fn prompt_record(&self, key: &str) -> io::Result<Option<PromptRecord>> {
        let name = format!("{key}.prompt");
        let record: Option<PromptRecord> = readable(&self.dir, &name, WRITTEN_PROMPT_BYTES)?;
        Ok(record.filter(|record| record.text.chars().count() <= PROMPT_CHARS))
    }

    fn enter(&self, key: &str, entered: &Entered) -> io::Result<()> {
        let record = self.prompt_record(key)?.filter(|record| !record.hidden);
        if record.is_none() || self.listener(key)?.is_none() {
            return Ok(());
        }
        self.conclude(key, &encode(entered)?)?;
        self.wake(key)
    }
}
