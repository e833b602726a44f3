//! What a task says whose job runs, and what it asks.
//!
//! Knows which client can be asked what, and how a person answers otherwise. Does not know whether an answer fits.

use super::{TaskId, misfit, status_message};
use crate::imports::{Progress, Store, World};
use crate::input::{Asked, Modes, Open, Requests};
use crate::limits::SHOWN_CHARS;
use crate::text::{duration, is_hidden, shorten};

/// Who looks at a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Viewer<'a> {
    /// How it can ask its person.
    pub(crate) modes: Modes,
    /// The shell command that answers a task's questions when a space and its id are appended; `None` where there is
    /// none.
    pub(crate) answer_command: Option<&'a str>,
}

/// What a viewer sees of a task whose job runs.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// Its status message.
    pub(crate) message: String,
    /// What the viewer can ask its person; empty where that is nothing.
    pub(crate) requests: Requests,
}

/// What is to be seen of a job that runs.
pub(crate) fn view(
    world: &mut impl World,
    id: &TaskId,
    progress: &Progress,
    viewer: Viewer<'_>,
) -> View {
    let asked = Asked::by(progress);
    let unreadable = asked.unreadable;
    let misfit = misfit(world, id, &asked);
    let secret = secret(id, &asked, viewer.answer_command);
    let (requests, others) = asked.split(viewer.modes);
    let mut parts = Vec::new();
    if !requests.0.is_empty() {
        parts.push(format!("waits for an answer: {}", listed(&requests.0)));
    }
    if !others.is_empty() {
        parts.push(unasked(id, &others, viewer.answer_command));
    }
    parts.extend(secret);
    if parts.is_empty() {
        parts.push(status_message::working(world, id, progress));
    } else {
        parts.push(format!("running for {}", duration(progress.running_ms)));
    }
    if let Some(why) = misfit {
        parts.push(format!("the last answer did not fit: {why}"));
    }
    if unreadable > 0 {
        parts.push("it asks something that cannot be read, so nobody can answer it".to_owned());
    }
    View {
        message: parts.join("; "),
        requests,
    }
}

/// Why the last answer did not fit; `None` where its question is not open any more.
fn misfit(store: &mut impl Store, id: &TaskId, asked: &Asked) -> Option<String> {
    if asked.open.is_empty() {
        return None;
    }
    let misfit = misfit::last(store, id)?;
    let is_open = asked.open.iter().any(|question| question.key == misfit.key);
    is_open.then_some(misfit.why)
}

/// What a job asks, for somebody who cannot be asked anything; `None` where it asks nothing.
pub(crate) fn told(
    id: &TaskId,
    progress: &Progress,
    answer_command: Option<&str>,
) -> Option<String> {
    let asked = Asked::by(progress);
    let open = (!asked.open.is_empty()).then(|| unasked(id, &asked.open, answer_command));
    let secret = secret(id, &asked, answer_command);
    let told: Vec<String> = open.into_iter().chain(secret).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// That a job waits for a secret, of which no client is asked, and how a person gives it; `None` where it waits for none.
fn secret(id: &TaskId, asked: &Asked, answer_command: Option<&str>) -> Option<String> {
    let shown = in_one_line(asked.secret.as_ref()?);
    let how = match answer_command {
        Some(command) => {
            let id = id.as_str();
            format!(
                "a person types it in a terminal by `{command} {id}`, and no client is asked for it"
            )
        }
        None => "no client is asked for it, so the task can only be cancelled".to_owned(),
    };
    Some(format!("waits for a secret: {shown}; {how}"))
}

/// That a person has to answer in another way, and in which.
fn unasked(id: &TaskId, questions: &[Open], answer_command: Option<&str>) -> String {
    // The address is for the person alone: a client that has not declared that it opens pages has not promised either to
    // open none by itself, and what is told here is read by its model.
    let has_page = questions.iter().any(|question| question.form.is_page());
    let how = match answer_command {
        Some(command) => {
            let id = id.as_str();
            let page = if has_page {
                ", which names the page to open"
            } else {
                ""
            };
            format!("a person answers it in a terminal by `{command} {id}`{page}")
        }
        None => {
            let page = if has_page {
                ", with its member `url` for a page to open"
            } else {
                ""
            };
            format!("it is answered by a client that declares the capability `elicitation`{page}")
        }
    };
    format!("waits for an answer: {}; {how}", listed(questions))
}

/// The oldest question, and how many more there are.
fn listed(questions: &[Open]) -> String {
    let oldest = questions
        .first()
        .map_or("", |question| question.form.message());
    let oldest = in_one_line(oldest);
    match questions.len() {
        0 | 1 => oldest,
        number => format!("{oldest} (and {} more)", number - 1),
    }
}

fn in_one_line(message: &str) -> String {
    shorten(&message.replace(is_hidden, " "), SHOWN_CHARS)
}
