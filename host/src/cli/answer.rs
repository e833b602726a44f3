//! `backburner answer`: tell a job what it asks, as a client does whose user sits at a terminal, or as a script.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::client::{Client, Interruption};
use super::earlier::Earlier;
use super::field::{Field, Kind};
use super::inside_arguments::AnswerOptions;
use super::json::Json;
use super::question::{self, Need, Question, overview};
use super::response::Response;
use super::secret::{Secret, Sent};
use super::task::Task;
use super::terminal::ReadError;
use super::{Place, exit_code, terminal};
use crate::environment::variable;
use crate::jobs::supervisor::TASK_VARIABLE;
use crate::shell_word::shell_word;

/// What the server says before it says why an answer did not fit.
const MISFIT: &str = "the last answer did not fit: ";

/// What a person types to decline.
const DECLINE: &str = "/decline";

/// What a person types to leave out a field.
const SKIP: &str = "/skip";

/// Answers what a task asks.
///
/// # Errors
/// Inside of a job, and where there is no such task, it asks nothing, an answer does not fit or comes too late, a signal
/// came before it was sent, or a question was left open.
pub(super) fn answer(place: Place<'_>, options: &AnswerOptions) -> anyhow::Result<ExitCode> {
    if variable(TASK_VARIABLE).is_some() {
        // An agent that runs commands is not to answer for the person whom its own job asks.
        anyhow::bail!(
            "this is a job ({TASK_VARIABLE} is set), and questions are for a person: answer in a terminal of your own"
        );
    }
    let earlier = Earlier::new(place.data_dir, &options.id)?;
    let mut client = earlier.server(place.config)?;
    let explain = |error| earlier.explain_and_advise(error);
    let open = open(&mut client, &options.id).map_err(explain)?;
    let is_script = options.accept || options.decline || !options.set.is_empty();
    let secret = Secret::of(earlier.data_dir(), options);
    // Beside other questions it is asked for last, and by no option.
    let is_alone = secret.is_some() && (open.is_empty() || options.key.is_some());
    let questions = if is_alone {
        Vec::new()
    } else {
        wanted(open, options)?
    };
    let secret = secret.filter(|_| is_alone || !is_script);
    if !is_script && !io::stdin().is_terminal() {
        let how = "standard input is no terminal: give --accept, --decline or --set NAME=VALUE";
        let asked = match overview(&questions) {
            list if list.is_empty() => list,
            list => format!("; what task {} asks, behind its key:\n{list}", options.id),
        };
        // Of the command line alone nothing is wrong.
        anyhow::bail!("{how}{asked}");
    }
    let how = if is_script {
        How::Script
    } else {
        How::Terminal
    };
    let mut status = answer_each(&mut client, &questions, options, how);
    if let (Ok(answered), Some(secret)) = (&status, secret) {
        let answered = *answered;
        status = secret
            .answer(&mut client, options)
            .map(|it| it.max(answered));
    }
    if let Err(error) = &status
        && error.is::<Interruption>()
    {
        // So that the client knows of it, and only the next signal hurries its server.
        let _known = client.pause(Duration::ZERO);
        let becomes = match error.downcast_ref::<Sent>() {
            Some(sent) => sent.to_string(),
            None => STAYS_OPEN.to_owned(),
        };
        // In a line of its own: a terminal shows the character that made the signal behind the last one.
        terminal::say(&format!("\n{becomes}"));
    }
    status.map(ExitCode::from).map_err(explain)
}

/// What a person is told who does not answer.
pub(super) const STAYS_OPEN: &str = "the question stays open";

/// Where answers come from.
#[derive(Clone, Copy)]
enum How {
    /// The options.
    Script,
    /// A person types them.
    Terminal,
}

/// Answers one question after the other. Gives the exit status, which is a failure where one stays open.
fn answer_each(
    client: &mut Client,
    questions: &[Question],
    options: &AnswerOptions,
    how: How,
) -> anyhow::Result<u8> {
    let mut status = exit_code::SUCCESS;
    for question in questions {
        let given = match how {
            How::Script => Some(scripted(question, options).map_err(anyhow::Error::msg)?),
            How::Terminal => asked(question)?,
        };
        match given {
            Some(given) => send(client, &options.id, question, &given)?,
            None => {
                terminal::say(STAYS_OPEN);
                status = exit_code::FAILURE;
            }
        }
    }
    Ok(status)
}

/// What the task asks now.
fn open(client: &mut Client, id: &str) -> anyhow::Result<Vec<Question>> {
    let task: Box<RawValue> = client.request_text("tasks/get", json!({"taskId": id}))?;
    question::parse(&task).context("the server sent something that is no question")
}

/// The questions that are to be answered.
fn wanted(questions: Vec<Question>, options: &AnswerOptions) -> anyhow::Result<Vec<Question>> {
    let id = &options.id;
    anyhow::ensure!(!questions.is_empty(), "task {id} asks nothing");
    let list = overview(&questions);
    if let Some(key) = &options.key {
        let found: Vec<Question> = questions.into_iter().filter(|it| it.key == *key).collect();
        anyhow::ensure!(
            !found.is_empty(),
            "task {id} asks nothing that has the key {key:?}; what it asks, behind its key:\n{list}"
        );
        return Ok(found);
    }
    let is_one_answer = options.accept || !options.set.is_empty() || options.decline;
    anyhow::ensure!(
        questions.len() == 1 || !is_one_answer,
        "task {id} asks several questions: name one of them with --key, which stands before it:\n{list}"
    );
    Ok(questions)
}

/// Sends an answer, and finds out whether it fits: the acknowledgement does not say. Nor does it say that the question was
/// not open any more, so that is looked at just before. What happens between the two nobody can tell.
fn send(
    client: &mut Client,
    id: &str,
    question: &Question,
    answer: &Response,
) -> anyhow::Result<()> {
    let key = &question.key;
    let is_open = |client: &mut Client| -> anyhow::Result<bool> {
        Ok(open(client, id)?.iter().any(|it| it.key == *key))
    };
    anyhow::ensure!(
        is_open(client)?,
        "the answer was not sent, since the question is not open any more: somebody else has answered it, or what asked \
         it has ended"
    );
    // Who wants to leave has not answered.
    client.pause(Duration::ZERO)?;
    client.request(
        "tasks/update",
        Update {
            task_id: id,
            input_responses: BTreeMap::from([(key.as_str(), answer)]),
        },
    )?;
    if !is_open(client)? {
        terminal::say("the answer was sent, and the question is not open any more");
        return Ok(());
    }
    let message = Task::fetch(client, id)?.message();
    let why = message
        .split_once(MISFIT)
        .map(|(_, why)| format!(": {why}"));
    anyhow::bail!(
        "the answer does not fit what is asked, and the question stays open{}",
        why.unwrap_or_default()
    )
}

/// The parameters of `tasks/update`.
///
/// *Source:* SEP-2663, Task Update Requests.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    task_id: &'a str,
    input_responses: BTreeMap<&'a str, &'a Response>,
}

/// What is filled in, by the name of the field.
type Content = BTreeMap<String, Json>;

/// The answer that the options say.
fn scripted(question: &Question, options: &AnswerOptions) -> Result<Response, String> {
    if options.decline {
        return Ok(Response::decline());
    }
    let mut content = Content::new();
    let mut left_out = Vec::new();
    for (name, text) in said(question, &options.set)? {
        let field = named(question, &name)?;
        if text.is_empty()
            && is_left_out_by_nothing(&field.kind)
            && question.need(&name) == Need::Optional
        {
            left_out.push(name);
            continue;
        }
        let value = field.read(&text);
        let value =
            value.map_err(|right| format!("--set {} does not fit: {right}", set(&name, &text)))?;
        content.insert(name, value);
    }
    for (name, field) in &question.fields {
        match &field.default {
            _ if content.contains_key(name) || left_out.contains(name) => {}
            Some(default) => {
                content.insert(name.clone(), default.clone());
            }
            None if question.need(name) == Need::Required => {
                return Err(format!(
                    "the field {} has to be set: --set {}",
                    shell_word(name),
                    set(name, "VALUE")
                ));
            }
            None => {}
        }
    }
    Ok(accepted(question, content))
}

/// Whether nothing behind `--set NAME=` is no value of such a field: a text may be empty, and of several values there may
/// be none.
fn is_left_out_by_nothing(kind: &Kind) -> bool {
    !matches!(kind, Kind::Text | Kind::Several(_))
}

/// What is said of each field. Of one that takes several values each may be said by itself; any other is said once.
fn said(question: &Question, set: &[(String, String)]) -> Result<Vec<(String, String)>, String> {
    let mut said: Vec<(String, String)> = Vec::new();
    for (name, text) in set {
        let field = named(question, name)?;
        match said.iter_mut().find(|(other, _)| other == name) {
            None => said.push((name.clone(), text.clone())),
            Some((_, texts)) if matches!(field.kind, Kind::Several(_)) => {
                texts.push(',');
                texts.push_str(text);
            }
            Some(_) => {
                return Err(format!(
                    "the field {} is set twice: give one --set for it",
                    shell_word(name)
                ));
            }
        }
    }
    Ok(said)
}

/// The field of this name, or which ones there are.
fn named<'a>(question: &'a Question, name: &str) -> Result<&'a Field, String> {
    let found = question.fields.iter().find(|(other, _)| other == name);
    found.map(|(_, field)| field).ok_or_else(|| {
        let names = question.fields.iter().map(|(name, _)| shell_word(name));
        let names: Vec<String> = names.collect();
        let instead = match names.as_slice() {
            [] => "the question has no fields: answer it by --accept or --decline".to_owned(),
            [only] => format!("the only one is {only}"),
            several => format!("there are {}", several.join(", ")),
        };
        format!("there is no field {}: {instead}", shell_word(name))
    })
}

/// A value for a field as it is typed behind `--set`.
fn set(name: &str, value: &str) -> String {
    let is_plain = |text: &str| text.is_empty() || shell_word(text) == text;
    let whole = format!("{name}={value}");
    if is_plain(name) && is_plain(value) {
        whole
    } else {
        shell_word(&whole)
    }
}

/// Of a page nothing is filled in.
fn accepted(question: &Question, content: Content) -> Response {
    Response::accept(question.page.is_none().then(|| content.into()))
}

/// Asks the person; `None` where the question is to stay open.
fn asked(question: &Question) -> anyhow::Result<Option<Response>> {
    // On a line of ours, as none of its own may look like one.
    let words = format!("The job asks:\n{}", question.message);
    terminal::say(&terminal::set_in(&words));
    terminal::say(&format!(
        "({DECLINE} declines, Ctrl-D leaves the question open; never type a secret here)"
    ));
    if let Some(page) = question.to_open() {
        terminal::say(&page);
    }
    let declined = || Ok(Some(Response::decline()));
    if question.fields.is_empty() {
        let agreement = Field::of(Kind::Boolean);
        return Ok(match value("agree", &agreement, Need::Required)? {
            Typed::Value(agreed) if agreed.text() == "true" => {
                Some(accepted(question, Content::new()))
            }
            Typed::End => None,
            _ => return declined(),
        });
    }
    let mut content = Content::new();
    for (name, field) in &question.fields {
        match value(name, field, question.need(name))? {
            Typed::Value(value) => {
                content.insert(name.clone(), value);
            }
            Typed::Nothing => {}
            Typed::Decline => return declined(),
            Typed::End => return Ok(None),
        }
    }
    Ok(Some(accepted(question, content)))
}

/// What a person typed for a field.
#[derive(Debug, PartialEq)]
enum Typed {
    Value(Json),
    /// It is left empty.
    Nothing,
    Decline,
    /// The person is not there any more.
    End,
}

/// Why nothing was read, where a signal is the error itself.
pub(super) fn unread(error: ReadError) -> anyhow::Error {
    match error {
        ReadError::Left(interruption) => interruption.into(),
        error => error.into(),
    }
}

/// Asks for one field until what is typed fits.
fn value(name: &str, field: &Field, need: Need) -> anyhow::Result<Typed> {
    let prompt = prompt(name, field, need);
    loop {
        terminal::say(&prompt);
        let Some(text) = terminal::read_line().map_err(unread)? else {
            return Ok(Typed::End);
        };
        match read(name, field, need, &text) {
            Ok(typed) => return Ok(typed),
            Err(right) => terminal::say(&right),
        }
    }
}

/// What a line that a person typed says of a field, or what would be right.
fn read(name: &str, field: &Field, need: Need, line: &str) -> Result<Typed, String> {
    match line {
        DECLINE => Ok(Typed::Decline),
        SKIP if need == Need::Optional => Ok(Typed::Nothing),
        SKIP => Err(format!(
            "this cannot be left out{}",
            instead_of_skip(name, field)
        )),
        "" => by_enter(name, field, need),
        text => field.read(text).map(Typed::Value),
    }
}

/// What a person can do who has typed [`SKIP`] for a field that has to be filled in.
fn instead_of_skip(name: &str, field: &Field) -> String {
    match (&field.kind, field.read(SKIP)) {
        (Kind::Text, _) => format!(
            "; for the text {SKIP} leave (Ctrl-D), and answer by --set {}",
            set(name, SKIP)
        ),
        (_, Err(right)) => format!(": {right}"),
        // A choice that is called so has a number too.
        (_, Ok(_)) => String::new(),
    }
}

/// What Enter alone says of a field: its default, or that it is left out. It is no text, since who presses it once too
/// often means nothing by it; but where the field says that a text may be empty, it is that.
fn by_enter(name: &str, field: &Field, need: Need) -> Result<Typed, String> {
    match (&field.default, &field.kind) {
        (Some(default), _) => Ok(Typed::Value(default.clone())),
        (None, _) if need == Need::Optional => Ok(Typed::Nothing),
        (None, Kind::Text) if field.min_length != Some(0) => Err(format!(
            "give a text; for an empty one leave (Ctrl-D), and answer by --set {}",
            set(name, "")
        )),
        (None, _) => field.read("").map(Typed::Value),
    }
}

/// What is asked for, and what may be typed.
fn prompt(name: &str, field: &Field, need: Need) -> String {
    let title = field.title.as_deref().unwrap_or(name);
    let description = field.description.as_ref().map(|text| format!(": {text}"));
    let skip = match (need, &field.default) {
        (Need::Optional, Some(_)) => format!(" ({SKIP} leaves it out)"),
        (Need::Optional, None) => " (Enter leaves it out)".to_owned(),
        (Need::Required, _) => String::new(),
    };
    let line = format!(
        "{title}{}{}{}{skip}:",
        field.choices(),
        description.unwrap_or_default(),
        field.default_in_words()
    );
    terminal::set_in(&line)
}

#[cfg(test)]
mod tests;
