//! What a job waits for at its terminal, and the line that is to be typed there.

use std::io::{self, ErrorKind};

use cap_std::fs::Dir;

use super::{Questions, is_key};
use crate::jobs::directory::{encode, readable};
use crate::jobs::limits::{PROMPT_CHARS, TYPED_CHARS, WRITTEN_PROMPT_BYTES};
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

/// Has a line typed into the terminal of the job in this directory, `None` for the end of the file; power-safe on return.
/// What it does not wait for, and what is hidden, is left as it is.
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
