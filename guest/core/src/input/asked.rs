//! All that a job asks at the moment, and what of it can be put to whom.

use serde::{Deserialize, Serialize, Serializer};

use super::form::{Form, Mode, shown};
use super::limits::{MESSAGE_CHARS, QUESTIONS};
use crate::imports::{Progress, Prompt};

/// What is asked where the job has written nothing that would say it.
const NO_PROMPT: &str = "The command waits for something to be typed into its terminal";

/// What a job asks and nobody has answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// What can be asked, oldest first; what is to be typed into a terminal last.
    pub(crate) open: Vec<Open>,
    /// What is shown before a secret that the job waits for: no client is asked for it, and none can give it.
    pub(crate) secret: Option<String>,
    /// How many there are that make no sense.
    pub(crate) unreadable: usize,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// Its name, never used again.
    pub(crate) key: String,
    /// What is asked.
    pub(crate) form: Form,
}

/// How a client can ask its person; said anew with every request.
///
/// *Source:* MCP 2026-07-28, Elicitation, Capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Modes {
    /// It can show a form.
    pub(crate) form: bool,
    /// It can open a page.
    pub(crate) url: bool,
}

impl Asked {
    /// Reads what a job asks. One that is being stopped gets no answer any more.
    pub(crate) fn by(progress: &Progress) -> Self {
        let mut asked = Self::default();
        if progress.stopping.is_some() {
            return asked;
        }
        for question in progress.questions.iter().take(QUESTIONS) {
            match Form::parse(&question.form) {
                Some(form) => asked.open.push(Open {
                    key: question.key.clone(),
                    form,
                }),
                None => asked.unreadable += 1,
            }
        }
        if let Some(prompt) = &progress.prompt {
            asked.add(prompt);
        }
        asked
    }

    fn add(&mut self, prompt: &Prompt) {
        let mut text = shown(&prompt.text);
        if text.is_empty() || text.chars().count() > MESSAGE_CHARS {
            NO_PROMPT.clone_into(&mut text);
        }
        if prompt.hidden {
            self.secret = Some(text);
            return;
        }
        self.open.push(Open {
            key: prompt.key.clone(),
            form: Form::line(text),
        });
    }

    /// The questions that a client with these modes can ask, and the others.
    pub(crate) fn split(self, modes: Modes) -> (Requests, Vec<Open>) {
        let can_ask = |question: &Open| match question.form.mode() {
            Mode::Form => modes.form,
            Mode::Url => modes.url,
        };
        let (asked, others) = self.open.into_iter().partition(can_ask);
        (Requests(asked), others)
    }
}

/// Questions as `inputRequests` has them.
///
/// *Source:* MCP 2026-07-28, Multi Round-Trip Requests, InputRequests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requests(pub(crate) Vec<Open>);

#[derive(serde::Serialize)]
struct Request<'a> {
    method: &'static str,
    params: &'a Form,
}

impl Serialize for Requests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|question| {
            let method = "elicitation/create";
            let params = &question.form;
            (&question.key, Request { method, params })
        }))
    }
}
