//! What a job waits for that is secret: a person types it, and it goes to the job, past the server and every client.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use uuid::Uuid;

use super::answer::{STAYS_OPEN, unread};
use super::client::Client;
use super::inside_arguments::AnswerOptions;
use super::line::visible;
use super::{exit_code, terminal};
use crate::jobs::{HiddenPrompt, RunningJob};

/// A secret that a job waits for.
pub(super) struct Secret {
    job: RunningJob,
    prompt: HiddenPrompt,
}

/// What a person has to know who types one.
const HOW: &str =
    "(what you type is not shown, and goes to the command alone; Ctrl-D leaves the question open)";

/// The same of a program that shows what is typed by itself, or does not.
const MAY_SHOW: &str = "(the command takes single keys: it may SHOW what you type in the output of its job, which models read)";

/// Why an option gives no secret.
const BY_OPTION: &str = "the task waits for a secret, which others could read in a command line: leave the options out, and \
    type it in a terminal";

/// What was told is on its way when a signal came.
#[derive(Debug, thiserror::Error)]
#[error("it was sent, and may still be typed: look at the task")]
pub(super) struct Sent;

/// How often it is looked whether a secret was taken, and how many times: its supervisor takes it within milliseconds.
const TAKEN_LOOK: Duration = Duration::from_millis(20);
const TAKEN_LOOKS: usize = 250;

impl Secret {
    /// The one that a job waits for and that is to be answered; `None` also where that cannot be looked at, of which the
    /// server has the words.
    pub(super) fn of(data_dir: &Path, options: &AnswerOptions) -> Option<Self> {
        let secret = Self::in_job(data_dir, &options.id)?;
        let key = options.key.as_ref();
        let is_wanted = key.is_none_or(|key| *key == secret.prompt.key);
        is_wanted.then_some(secret)
    }

    fn in_job(data_dir: &Path, id: &str) -> Option<Self> {
        let job = RunningJob::open(data_dir, Uuid::try_parse(id).ok()?).ok()?;
        let prompt = job.hidden_prompt().ok()??;
        Some(Self { job, prompt })
    }

    /// The key of what this job waits for that is secret; `None` where that is nothing.
    pub(super) fn key(data_dir: &Path, id: &str) -> Option<String> {
        Self::in_job(data_dir, id).map(|secret| secret.prompt.key)
    }

    /// Asks for it, or declines where the options say so. Gives the exit status, which is a failure where it stays open.
    ///
    /// # Errors
    /// Where an option was to say it, it cannot be read or told, was not typed, or a signal came before it was; one that came
    /// when it had been told has [`Sent`].
    pub(super) fn answer(
        &self,
        client: &mut Client,
        options: &AnswerOptions,
    ) -> anyhow::Result<u8> {
        if options.accept || !options.set.is_empty() {
            anyhow::bail!(BY_OPTION);
        }
        if options.decline {
            return self.tell(client, None);
        }
        // On a line of ours, as none of its own may look like one.
        let asked = terminal::set_in(&format!("The job asks:\n{}", visible(&self.prompt.text)));
        let warning = if self.prompt.takes_keys {
            format!("\n{MAY_SHOW}")
        } else {
            String::new()
        };
        let typed = terminal::read_hidden_line(&format!("{asked}\n{HOW}{warning}"));
        match typed.map_err(unread)? {
            Some(text) => self.tell(client, Some(&text)),
            None => {
                terminal::say(STAYS_OPEN);
                Ok(exit_code::FAILURE)
            }
        }
    }

    fn tell(&self, client: &mut Client, line: Option<&str>) -> anyhow::Result<u8> {
        let told = self.job.tell_secret(&self.prompt.key, line);
        let is_told = told.context("it cannot be told to the command")?;
        anyhow::ensure!(
            is_told,
            "it was not sent, since the question is not open any more: somebody else has answered it, or the command has \
             gone on"
        );
        for _ in 0..TAKEN_LOOKS {
            // What cannot be looked at is looked at again.
            let now = self.job.hidden_prompt();
            if now.is_ok_and(|now| now.is_none_or(|now| now.key != self.prompt.key)) {
                let typed = self.job.take_typed(&self.prompt.key);
                anyhow::ensure!(
                    typed.context("it was sent, and whether it was typed cannot be looked at")?,
                    "it was sent, and is not known to have been typed: it seems that the command did not wait for it any \
                     more; look at the task"
                );
                terminal::say("it was sent, and the question is not open any more");
                return Ok(exit_code::SUCCESS);
            }
            let paused = client.pause(TAKEN_LOOK);
            paused.context(Sent)?;
        }
        anyhow::bail!(
            "it was sent, and the job does not take it: look at the task, and cancel it if need be"
        )
    }
}
