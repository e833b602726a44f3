//! Who asks and waits for the answer: a process of the job, or the supervisor of one that waits at its terminal.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd as _, BorrowedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::prompts::NO_SECRET;
use super::{QUESTIONS, Questions, draft, is_key, typed};
use crate::jobs::directory::{encode, readable};
use crate::jobs::limits::{FORM_BYTES, OPEN_QUESTIONS, QUESTION_STALE_NS, SECRET_BYTES};
use crate::jobs::model::{Entered, PromptRecord, QuestionRecord};
use crate::jobs::{clock, files, native};

/// How many characters a key has: as many as the greatest time takes, so that keys sort as times do.
const KEY_CHARS: usize = 13;

/// A question that was asked. It is withdrawn when this is dropped, or whatever else ends the process.
#[derive(Debug)]
pub(crate) struct Asker {
    questions: Questions,
    key: String,
    wake: File,
}

impl Asker {
    /// Asks a question of the job in this directory.
    ///
    /// # Errors
    /// Where it cannot be written, is longer than 64 KiB, or the job asks 32 others.
    pub(in crate::jobs) fn ask(job: &Dir, form: String) -> io::Result<Self> {
        if form.len() > FORM_BYTES {
            let detail = format!(
                "a question may have {FORM_BYTES} bytes, and it has {}",
                form.len()
            );
            return Err(io::Error::new(ErrorKind::InvalidInput, detail));
        }
        let asker = Self::listen(job)?;
        if asker.questions.open_ones()?.len() >= OPEN_QUESTIONS {
            let detail = format!(
                "this job asks {OPEN_QUESTIONS} other questions: wait until one of them is answered"
            );
            return Err(io::Error::other(detail));
        }
        let asked_at = crate::clock::now_ms();
        asker.publish("asked", &encode(QuestionRecord { form, asked_at })?)?;
        Ok(asker)
    }

    /// Tells that the job in this directory waits at its terminal.
    ///
    /// # Errors
    /// Where that cannot be written.
    pub(in crate::jobs) fn prompt(job: &Dir, record: &PromptRecord) -> io::Result<Self> {
        let asker = Self::listen(job)?;
        asker.publish("prompt", &encode(record)?)?;
        Ok(asker)
    }

    /// Takes a key that nobody has.
    fn listen(job: &Dir) -> io::Result<Self> {
        let questions = make(job)?;
        questions.tidy()?;
        loop {
            let key = key(clock::monotonic_ns());
            let name = format!("{key}.wake");
            let c_name = std::ffi::CString::new(name.as_str()).expect("a key has no NUL");
            match native::make_fifo(questions.dir.as_fd(), &c_name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            // For writing too, so that it is never at end of file.
            let wake = files::open(&questions.dir, &name, OFlags::RDWR)?;
            let wake = wake.ok_or(ErrorKind::NotFound)?;
            return Ok(Self {
                questions,
                key,
                wake,
            });
        }
    }

    fn publish(&self, what: &str, record: &[u8]) -> io::Result<()> {
        let dir = &self.questions.dir;
        let draft = draft(&self.key);
        let published = files::create(dir, &draft).and_then(|mut file| {
            file.write_all(record)?;
            dir.rename(&draft, dir, format!("{}.{what}", self.key))
        });
        if published.is_err() {
            files::remove(dir, &draft)?;
        }
        published
    }

    /// What becomes readable when there may be an answer.
    pub(in crate::jobs) fn waker(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// What is to be typed; `None` where nobody has said that yet.
    ///
    /// # Errors
    /// Where it cannot be read, or somebody damaged it.
    pub(in crate::jobs) fn entered(&self) -> io::Result<Option<Entered>> {
        self.take_wakes()?;
        self.questions.answer_by(&self.key, readable)
    }

    /// The secret that is to be typed; `None` where nobody has told one yet.
    ///
    /// # Errors
    /// Where it cannot be read, or what came is none.
    pub(in crate::jobs) fn secret(&self) -> io::Result<Option<Entered>> {
        let mut bytes = [0; SECRET_BYTES];
        let taken = match rustix::io::read(&self.wake, &mut bytes) {
            Ok(taken) => &bytes[..taken],
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if taken == NO_SECRET {
            return Ok(Some(Entered::End));
        }
        // Of two that came at once the first one stays.
        let line = taken.split(|byte| *byte == b'\n').next();
        let line = line.filter(|line| line.len() < taken.len());
        let line = line.and_then(|line| std::str::from_utf8(line).ok());
        let line = line.ok_or(ErrorKind::InvalidData)?;
        Ok(Some(Entered::Line(line.to_owned())))
    }

    /// Leaves word that the secret was typed, for whoever told it. Where that fails, as on a full disk, it looks as if it was
    /// thrown away.
    pub(in crate::jobs) fn leave_typed(&self) {
        let _left = files::create(&self.questions.dir, &typed(&self.key));
    }

    /// Waits for the answer, woken and not polling; `None` where the deadline came first.
    ///
    /// # Errors
    /// Where it cannot be waited for.
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> io::Result<Option<String>> {
        loop {
            if let Some(answer) = self.questions.answer_to(&self.key)? {
                return Ok(Some(answer));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(None);
            }
            self.sleep(left)?;
        }
    }

    fn sleep(&self, most: Option<Duration>) -> io::Result<()> {
        // Longer than what fits is for ever.
        let most = most.and_then(|most| Timespec::try_from(most).ok());
        let mut wake = [PollFd::new(&self.wake, PollFlags::IN)];
        match poll(&mut wake, most.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.take_wakes()
    }

    fn take_wakes(&self) -> io::Result<()> {
        match rustix::io::read(&self.wake, &mut [0; 64]) {
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Answers the question itself, as nobody else has. Gives the answer in force, which is another one where somebody
    /// was quicker.
    pub(crate) fn conclude(&self, answer: &str) -> io::Result<String> {
        let concluded = encode(answer).and_then(|text| self.questions.conclude(&self.key, &text));
        if concluded.is_err() {
            // On a full disk nobody else can answer it either.
            self.withdraw("asked")?;
        }
        let in_force = self.questions.answer_to(&self.key)?;
        Ok(in_force.unwrap_or_else(|| answer.to_owned()))
    }

    fn withdraw(&self, what: &str) -> io::Result<()> {
        files::remove(&self.questions.dir, &format!("{}.{what}", self.key))
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        // In this order: nobody may find it asked and not answered. What stays is deleted by another asker.
        for what in ["asked", "prompt", "wake", "answer"] {
            let _stays = self.withdraw(what);
        }
    }
}

impl Questions {
    /// Deletes what askers left that do not live any more.
    fn tidy(&self) -> io::Result<()> {
        let now = clock::monotonic_ns();
        for entry in self.dir.entries()? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            let Some((key, _)) = name.split_once('.') else {
                continue;
            };
            let is_old = moment(key).is_some_and(|at| now.saturating_sub(at) > QUESTION_STALE_NS);
            if is_old && is_key(key) && self.listener(key)?.is_none() {
                files::remove(&self.dir, name)?;
            }
        }
        Ok(())
    }
}

/// Opens the directory of a job's questions, making it where nothing was ever asked.
fn make(job: &Dir) -> io::Result<Questions> {
    let mut private = DirBuilder::new();
    private.mode(0o700);
    match job.create_dir_with(QUESTIONS, &private) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let opened = Questions::open(job)?;
    opened.ok_or_else(|| {
        io::Error::other("somebody put something else in the place of its questions")
    })
}

/// The key of a question that was asked at this moment, in nanoseconds since some moment of this boot.
fn key(mut moment: u64) -> String {
    let mut digits = [b'0'; KEY_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdefghijklmnopqrstuvwxyz"[usize::try_from(moment % 36).unwrap_or(0)];
        moment /= 36;
    }
    digits.iter().copied().map(char::from).collect()
}

/// The moment of a key; `None` where it is none of ours.
fn moment(key: &str) -> Option<u64> {
    let is_ours = key.len() == KEY_CHARS && is_key(key);
    u64::from_str_radix(key, 36).ok().filter(|_| is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_when_and_sorts_by_it() {
        let moments = [0, 1, 35, 36, 1_785_242_096_789, u64::MAX];
        let keys = moments.map(key);
        assert!(keys.is_sorted(), "{keys:?}");
        for (key, at) in keys.iter().zip(moments) {
            assert!(is_key(key));
            assert_eq!(moment(key), Some(at), "{key}");
        }
        for wrong in ["", "0", "q1", "+000000000001", "000000000000A"] {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
    }
}
