//! `backburner answer`: tell a job what it asks, as a client does whose user sits at a terminal, or as a script.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::client::{Client, Interruption};
use super::earlier::Earlier;
use super::field::{Choice, Field, Kind};
use super::inside_arguments::AnswerOptions;
use super::question::{Asked, Question};
use super::task::Task;
use super::terminal::ReadError;
use super::{Place, exit_code, terminal, wrong_usage};

/// What the server says before it says why an answer did not fit.
const MISFIT: &str = "the last answer did not fit: ";

/// What a person types to decline.
const DECLINE: &str = "/decline";

/// Answers what a task asks.
///
/// # Errors
/// Where there is no such task, it asks nothing, an answer does not fit or comes too late, a signal came before it was
/// sent, or a question was left open.
pub(super) fn answer(place: Place<'_>, options: &AnswerOptions) -> anyhow::Result<ExitCode> {
    let earlier = Earlier::new(place.data_dir, &options.id)?;
    let mut client = earlier.server(place.config)?;
    let explain = |error| earlier.explain_and_advise(error);
    let questions = wanted(open(&mut client, &options.id).map_err(explain)?, options)?;
    let is_script = options.accept || options.decline || !options.set.is_empty();
    if !is_script && !io::stdin().is_terminal() {
        let how = "standard input is no terminal: give --accept, --decline or --set NAME=VALUE";
        return Err(wrong_usage("answer", how.to_owned()));
    }
    let how = if is_script {
        How::Script
    } else {
        How::Terminal
    };
    let status = answer_each(&mut client, &questions, options, how);
    if let Err(error) = &status
        && error.is::<Interruption>()
    {
        // So that the client knows of it, and only the next signal hurries its server.
        let _known = client.pause(Duration::ZERO);
        // In a line of its own: a terminal shows the character that made the signal behind the last one.
        terminal::say(&format!("\n{STAYS_OPEN}"));
    }
    status.map(ExitCode::from).map_err(explain)
}

/// What a person is told who does not answer.
const STAYS_OPEN: &str = "the question stays open";

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
    Asked::parse(&task).context("the server sent something that is no question")
}

/// The questions that are to be answered.
fn wanted(questions: Vec<Question>, options: &AnswerOptions) -> anyhow::Result<Vec<Question>> {
    let id = &options.id;
    anyhow::ensure!(!questions.is_empty(), "task {id} asks nothing");
    let keys: Vec<String> = questions.iter().map(|it| it.key.clone()).collect();
    let keys = keys.join(", ");
    if let Some(key) = &options.key {
        let found: Vec<Question> = questions.into_iter().filter(|it| it.key == *key).collect();
        anyhow::ensure!(
            !found.is_empty(),
            "task {id} does not ask {key:?}, but {keys}"
        );
        return Ok(found);
    }
    let is_one_answer = options.accept || !options.set.is_empty() || options.decline;
    anyhow::ensure!(
        questions.len() == 1 || !is_one_answer,
        "task {id} asks several questions: name one of them with --key, which is one of {keys}"
    );
    Ok(questions)
}

/// Sends an answer, and finds out whether it fits: the acknowledgement does not say. Nor does it say that the question was
/// not open any more, so that is looked at just before. What happens between the two nobody can tell.
fn send(client: &mut Client, id: &str, question: &Question, answer: &Value) -> anyhow::Result<()> {
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
        json!({"taskId": id, "inputResponses": {key: answer}}),
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

/// The answer that the options say.
fn scripted(question: &Question, options: &AnswerOptions) -> Result<Value, String> {
    if options.decline {
        return Ok(json!({ "action": "decline" }));
    }
    let mut content = Map::new();
    for (name, text) in &options.set {
        let found = question.fields.iter().find(|(other, _)| other == name);
        let (_, field) = found.ok_or_else(|| {
            let names: Vec<&str> = question.fields.iter().map(|it| it.0.as_str()).collect();
            format!("there is no field {name:?}: there are {}", names.join(", "))
        })?;
        let value = field.read(text);
        let value =
            value.map_err(|right| format!("--set {name}={text:?} does not fit: {right}"))?;
        content.insert(name.clone(), value);
    }
    for (name, field) in &question.fields {
        match &field.default {
            _ if content.contains_key(name) => {}
            Some(default) => {
                content.insert(name.clone(), default.clone());
            }
            None if question.required.contains(name) => {
                return Err(format!(
                    "the field {name:?} has to be set: --set {name}=VALUE"
                ));
            }
            None => {}
        }
    }
    Ok(accepted(question, content))
}

fn accepted(question: &Question, content: Map<String, Value>) -> Value {
    let mut answer = json!({ "action": "accept" });
    if question.page.is_none() {
        answer["content"] = Value::Object(content);
    }
    answer
}

/// Asks the person; `None` where the question is to stay open.
fn asked(question: &Question) -> anyhow::Result<Option<Value>> {
    terminal::say(&question.message.replace(is_unprintable, " "));
    terminal::say(&format!(
        "({DECLINE} declines, Ctrl-D leaves the question open; never type a secret here)"
    ));
    if let Some(page) = &question.page {
        terminal::say(&format!("open this page: {page}"));
    }
    let declined = || Ok(Some(json!({ "action": "decline" })));
    if question.fields.is_empty() {
        let agreement = Field::of(Kind::Boolean);
        return Ok(match value("agree", &agreement, Need::Required)? {
            Typed::Value(Value::Bool(true)) => Some(accepted(question, Map::new())),
            Typed::End => None,
            _ => return declined(),
        });
    }
    let mut content = Map::new();
    for (name, field) in &question.fields {
        let need = if question.required.contains(name) {
            Need::Required
        } else {
            Need::Optional
        };
        match value(name, field, need)? {
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
enum Typed {
    Value(Value),
    /// It is left empty.
    Nothing,
    Decline,
    /// The person is not there any more.
    End,
}

/// Whether a field may be left empty.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

/// Asks for one field until what is typed fits.
fn value(name: &str, field: &Field, need: Need) -> anyhow::Result<Typed> {
    let prompt = prompt(name, field);
    loop {
        terminal::say(&prompt);
        let line = terminal::read_line().map_err(|error| match error {
            ReadError::Left(interruption) => interruption.into(),
            error => anyhow::Error::from(error),
        })?;
        let Some(text) = line else {
            return Ok(Typed::End);
        };
        match (text.as_str(), &field.default) {
            (DECLINE, _) => return Ok(Typed::Decline),
            ("", Some(default)) => return Ok(Typed::Value(default.clone())),
            ("", None) if need == Need::Optional => return Ok(Typed::Nothing),
            (text, _) => match field.read(text) {
                Ok(value) => return Ok(Typed::Value(value)),
                Err(right) => terminal::say(&right),
            },
        }
    }
}

/// What is asked for, and what may be typed.
fn prompt(name: &str, field: &Field) -> String {
    let title = field.title.as_deref().unwrap_or(name);
    let kind = match &field.kind {
        Kind::Text => String::new(),
        Kind::Number => " (a number)".to_owned(),
        Kind::Integer => " (a whole number)".to_owned(),
        Kind::Boolean => " (yes or no)".to_owned(),
        Kind::One(choices) => format!(" (one of {})", listed(choices)),
        Kind::Several(choices) => format!(" (some of {}, with commas between)", listed(choices)),
    };
    let description = field.description.as_ref().map(|text| format!(": {text}"));
    let default = field.default.as_ref().map(|default| match default {
        Value::String(text) => format!(" [{text}]"),
        other => format!(" [{other}]"),
    });
    let line = format!(
        "{title}{kind}{}{}:",
        description.unwrap_or_default(),
        default.unwrap_or_default()
    );
    line.replace(is_unprintable, " ")
}

fn listed(choices: &[Choice]) -> String {
    let each = choices.iter().map(|choice| match &choice.title {
        Some(title) if *title != choice.value => format!("{} = {title}", choice.value),
        _ => choice.value.clone(),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// A job's words may contain anything; lines of a message stay.
fn is_unprintable(character: char) -> bool {
    character.is_control() && character != '\n'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(properties: &Value, required: &Value) -> Question {
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        let request = json!({ "params": { "message": "m", "requestedSchema": schema } });
        let task = json!({ "inputRequests": { "k": request } }).to_string();
        let task: &RawValue = serde_json::from_str(&task).expect("it is JSON");
        Asked::parse(task).expect("it can be read").remove(0)
    }

    fn options(set: &[&str]) -> AnswerOptions {
        AnswerOptions {
            id: "a".to_owned(),
            key: None,
            accept: true,
            decline: false,
            set: set
                .iter()
                .map(|text| super::super::values::field(text).expect("it has a value"))
                .collect(),
        }
    }

    #[test]
    fn a_script_sets_fields_and_takes_the_defaults_of_the_others() {
        let properties = json!({
            "a": { "type": "integer" },
            "b": { "type": "boolean", "default": true },
            "c": { "type": "string" },
        });
        let question = question(&properties, &json!(["a", "b"]));
        let content = |set: &[&str]| scripted(&question, &options(set));
        let accepted = json!({ "action": "accept", "content": { "a": 1, "b": true } });
        assert_eq!(content(&["a=1"]), Ok(accepted));
        for wrong in [&[][..], &["a="], &["a=x"], &["d=1"]] {
            content(wrong).expect_err(&format!("{wrong:?}"));
        }
    }

    #[test]
    fn several_questions_are_not_answered_at_once_by_a_script() {
        let two = || {
            vec![
                question(&json!({}), &json!([])),
                Question {
                    key: "l".to_owned(),
                    ..question(&json!({}), &json!([]))
                },
            ]
        };
        let error = wanted(two(), &options(&[])).expect_err("which one?");
        assert!(error.to_string().ends_with("one of k, l"), "{error}");
        let named = |key: &str| AnswerOptions {
            key: Some(key.to_owned()),
            ..options(&[])
        };
        assert_eq!(wanted(two(), &named("l")).map(|it| it.len()).ok(), Some(1));
        wanted(two(), &named("m")).expect_err("there is none");
        wanted(Vec::new(), &options(&[])).expect_err("there is none");
    }

    #[test]
    fn a_prompt_says_what_may_be_typed() {
        let field = |schema: Value| serde_json::from_value::<Field>(schema).expect("it is one");
        let text = prompt(
            "n",
            &field(json!({ "type": "string", "title": "T", "default": "d" })),
        );
        assert_eq!(text, "T [d]:");
        let choices = json!([{ "const": "a", "title": "A" }, { "const": "b", "title": "b" }]);
        let text = prompt("n", &field(json!({ "type": "string", "oneOf": choices })));
        assert_eq!(text, "n (one of a = A, b):");
    }
}
