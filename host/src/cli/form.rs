//! What a job asks, as the command line says it. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use unicode_general_category::{GeneralCategory, get_general_category};

use super::field::{Choice, Field, Kind, in_words};
use super::inside_arguments::AskOptions;
use super::json::Json;
use super::line::{one_line, shortened};
use super::moment;

/// How long a message may be, in characters, with what `--deadline` adds to it; what the server takes.
const MESSAGE_CHARS: usize = 4000;

/// How many characters of a default answer are shown where the message says what happens at its deadline: enough to know
/// which one it is, and little of the message's length.
const SHOWN_ANSWER_CHARS: usize = 100;

/// How many fields there may be, and how long an address may be, in characters; what the server takes.
const FIELDS: usize = 32;
const URL_CHARS: usize = 2000;

/// The name of the field where there is one only, which nobody sees.
const ONLY: &str = "answer";

/// What is asked.
#[derive(Debug)]
pub(super) struct Form {
    message: String,
    subject: Subject,
}

#[derive(Debug)]
enum Subject {
    /// One field, whose name nobody chose.
    One(Box<Named>),
    /// Several fields, or one with a name of its own; or none, for agreement only.
    Several(Vec<Named>),
    /// A page.
    Page(String),
}

#[derive(Debug)]
struct Named {
    name: String,
    field: Field,
    is_required: bool,
}

impl Form {
    /// Reads the options at `now`, in milliseconds since 1970.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn of(options: &AskOptions, now: u64) -> Result<Self, String> {
        let form = Self {
            message: options.message.clone(),
            subject: subject(options)?,
        };
        let note = options.deadline.map(|deadline| form.note(deadline, now));
        let note = note.unwrap_or_default();
        let (added, written) = (note.chars().count(), form.message.chars().count());
        let is_blank = |it: char| it.is_whitespace() || is_hidden(it);
        if form.message.chars().all(is_blank) || written + added > MESSAGE_CHARS {
            return Err(match added {
                0 => format!("give a message of 1 to {MESSAGE_CHARS} characters"),
                added => format!(
                    "give a message of 1 to {} characters: what --deadline adds to it takes {added} of {MESSAGE_CHARS}",
                    MESSAGE_CHARS - added
                ),
            });
        }
        Ok(Self {
            message: form.message + &note,
            ..form
        })
    }

    /// The parameters of `elicitation/create`, with the fields in their order.
    pub(super) fn text(&self) -> String {
        let message = json!(self.message);
        if let Subject::Page(url) = &self.subject {
            let url = json!(url);
            return format!(r#"{{"mode":"url","message":{message},"url":{url}}}"#);
        }
        let properties = self.fields().iter().map(|it| {
            let name = json!(it.name);
            format!("{name}:{}", it.field.schema())
        });
        let properties: Vec<String> = properties.collect();
        let required = self.fields().iter().filter(|it| it.is_required);
        let required: Value = required.map(|it| it.name.as_str()).collect();
        format!(
            r#"{{"message":{message},"requestedSchema":{{"type":"object","properties":{{{}}},"required":{required}}}}}"#,
            properties.join(",")
        )
    }

    /// The content of the answer that it suggests; `None` where something is left to fill in, or where nobody can agree to
    /// it but a person.
    pub(super) fn default_content(&self) -> Option<Json> {
        let mut content = BTreeMap::new();
        for Named {
            name,
            field,
            is_required,
        } in self.fields()
        {
            match &field.default {
                Some(default) => {
                    content.insert(name.clone(), default.clone());
                }
                None if *is_required => return None,
                None => {}
            }
        }
        // Nothing at all is no answer.
        (!content.is_empty()).then(|| content.into())
    }

    /// What is printed of an answer's content; `None` where there is nothing to print.
    pub(super) fn printed(&self, content: Option<&Json>, how: Printed) -> Option<String> {
        let of_one = |field: &Named| content.and_then(|content| content.member(&field.name));
        match (&self.subject, how) {
            (Subject::One(field), Printed::Json) => {
                Some(of_one(field).map_or("null".to_owned(), |value| value.to_string()))
            }
            (Subject::One(field), Printed::Bare) => {
                Some(of_one(field).as_ref().map(bare).unwrap_or_default())
            }
            (Subject::Several(fields), Printed::Bare) if fields.is_empty() => None,
            (Subject::Page(_), Printed::Bare) => None,
            (Subject::Several(_) | Subject::Page(_), _) => {
                Some(content.map_or("{}".to_owned(), ToString::to_string))
            }
        }
    }

    fn fields(&self) -> &[Named] {
        match &self.subject {
            Subject::One(field) => std::slice::from_ref(field),
            Subject::Several(fields) => fields,
            Subject::Page(_) => &[],
        }
    }

    /// What is added to the message: a person who reads the question has to know until when, also where that is later, and
    /// what happens then.
    fn note(&self, deadline: Duration, now: u64) -> String {
        let then = match self.default_content() {
            None => "there is no answer".to_owned(),
            Some(_) => {
                let defaults = one_line(&self.defaults_in_words());
                format!("the answer is {}", shortened(&defaults, SHOWN_ANSWER_CHARS))
            }
        };
        let wait_ms = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
        let until = moment::in_words(now.saturating_add(wait_ms));
        let within = lasting(deadline);
        format!("\n(if nobody answers by {until}, {within} after this was asked, {then})")
    }

    /// The default answer in words. A field whose name nobody chose is not called by it.
    fn defaults_in_words(&self) -> String {
        let is_named = matches!(self.subject, Subject::Several(_));
        let titled = self.fields().iter().filter_map(|it| {
            let title = it.field.title.as_ref().unwrap_or(&it.name);
            Some((title, in_words(it.field.default.as_ref()?)))
        });
        let words = titled.map(|(title, words)| match is_named {
            true => format!("{title}: {words}"),
            false => words,
        });
        words.collect::<Vec<String>>().join("; ")
    }
}

/// How long something lasts, in all its units: nothing of a deadline is rounded away.
fn lasting(duration: Duration) -> String {
    const SECOND_MS: u128 = 1000;
    const UNITS: [(u128, &str); 3] = [
        (24 * 60 * 60 * SECOND_MS, "d"),
        (60 * 60 * SECOND_MS, "h"),
        (60 * SECOND_MS, "min"),
    ];
    let mut rest = duration.as_millis();
    if rest < SECOND_MS {
        return format!("{rest} ms");
    }
    let mut parts = Vec::new();
    for (unit, name) in UNITS {
        if rest >= unit {
            parts.push(format!("{} {name}", rest / unit));
        }
        rest %= unit;
    }
    if rest > 0 {
        let seconds = format!("{}.{:03}", rest / SECOND_MS, rest % SECOND_MS);
        let seconds = seconds.trim_end_matches('0').trim_end_matches('.');
        parts.push(format!("{seconds} s"));
    }
    parts.join(" ")
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    /// A single value as it is.
    Bare,
    /// As JSON in any case.
    Json,
}

/// A value as a shell takes it, in one line.
fn bare(json: &Json) -> String {
    match json.value() {
        Value::Null => String::new(),
        Value::String(text) => one_line(&text),
        _ => json.to_string(),
    }
}

fn subject(options: &AskOptions) -> Result<Subject, String> {
    // Not clap's, which lets it pass beside what --choice would conflict with.
    if options.several && options.choice.is_empty() {
        return Err("--several needs --choice".to_owned());
    }
    if let Some(url) = &options.url {
        if !options.default.is_empty() || options.optional {
            return Err("--url has no --default and no --optional".to_owned());
        }
        return Ok(Subject::Page(page(url)?));
    }
    if !options.field.is_empty() {
        return fields(options).map(Subject::Several);
    }
    let Some(kind) = kind(options)? else {
        if !options.default.is_empty() || options.optional {
            return Err(
                "--default and --optional need something to ask for, such as --text".to_owned(),
            );
        }
        return Ok(Subject::Several(Vec::new()));
    };
    let mut field = Field::of(kind);
    field.default = match (options.default.as_slice(), &field.kind) {
        ([], _) => None,
        ([default], _) => Some(read_default(&field, default)?),
        // Each of them may be several.
        (defaults, Kind::Several(_)) => Some(read_default(&field, &defaults.join(","))?),
        _ => return Err("give one --default: only with --several there may be more".to_owned()),
    };
    Ok(Subject::One(Box::new(Named {
        name: ONLY.to_owned(),
        field,
        is_required: !options.optional,
    })))
}

fn page(url: &str) -> Result<String, String> {
    let lower = url.to_ascii_lowercase();
    let is_page = ["https://", "http://"]
        .iter()
        .any(|it| lower.starts_with(it));
    if !is_page || !url.chars().all(|it| it.is_ascii_graphic()) {
        return Err("give --url an address that begins with https:// or http://".to_owned());
    }
    if url.len() > URL_CHARS {
        return Err(format!("give --url at most {URL_CHARS} characters"));
    }
    Ok(url.to_owned())
}

/// The kind of the only field; `None` where there is none.
fn kind(options: &AskOptions) -> Result<Option<Kind>, String> {
    if !options.choice.is_empty() {
        let choices = options.choice.iter().map(|it| choice(it));
        let choices = distinct(choices.collect())?;
        return Ok(Some(if options.several {
            check_no_comma(&choices)?;
            Kind::Several(choices)
        } else {
            Kind::One(choices)
        }));
    }
    let kinds = [
        (options.boolean, Kind::Boolean),
        (options.text, Kind::Text),
        (options.number, Kind::Number),
        (options.integer, Kind::Integer),
    ];
    let mut given = kinds.into_iter().filter(|(is_given, _)| *is_given);
    Ok(given.next().map(|(_, kind)| kind))
}

fn choice(text: &str) -> Choice {
    match text.split_once('=') {
        Some((value, title)) => Choice {
            value: value.to_owned(),
            title: Some(title.to_owned()),
        },
        None => Choice {
            value: text.to_owned(),
            title: None,
        },
    }
}

fn distinct(choices: Vec<Choice>) -> Result<Vec<Choice>, String> {
    if choices.iter().any(|it| it.value.trim().is_empty()) {
        return Err("a choice is empty: give it a value".to_owned());
    }
    if let Some(unseen) = choices.iter().find(|it| !is_seen(&it.value)) {
        return Err(unseen_in("the choice", &unseen.value));
    }
    let mut values: Vec<&str> = choices.iter().map(|it| it.value.as_str()).collect();
    values.sort_unstable();
    match values.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("the choice {:?} is given twice", pair[0])),
        None => Ok(choices),
    }
}

/// Who picks several writes commas between them.
fn check_no_comma(choices: &[Choice]) -> Result<(), String> {
    match choices.iter().find(|choice| choice.value.contains(',')) {
        Some(choice) => Err(format!(
            "with --several no value may have a comma, as {:?} has: give --choice once for each value",
            choice.value
        )),
        None => Ok(()),
    }
}

fn fields(options: &AskOptions) -> Result<Vec<Named>, String> {
    let mut fields: Vec<Named> = Vec::new();
    for text in &options.field {
        let mut field = named(text)?;
        field.is_required &= !options.optional;
        if fields.iter().any(|other| other.name == field.name) {
            return Err(format!("the field {:?} is given twice", field.name));
        }
        fields.push(field);
    }
    if fields.len() > FIELDS {
        return Err(format!("give at most {FIELDS} fields"));
    }
    for text in &options.default {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| format!("--default {text:?} has no value: give NAME=VALUE"))?;
        let found = fields.iter_mut().find(|it| it.name == name);
        let Named { field, .. } =
            found.ok_or_else(|| format!("--default {text:?} names no field"))?;
        if field.default.is_some() {
            return Err(format!("the field {name:?} has two defaults: give one"));
        }
        field.default = Some(read_default(field, value)?);
    }
    Ok(fields)
}

fn named(text: &str) -> Result<Named, String> {
    let mut parts = text.splitn(3, ':');
    let name = parts.next().unwrap_or_default();
    let (name, is_required) = match name.strip_suffix('?') {
        Some(name) => (name, false),
        None => (name, true),
    };
    let kind = match parts.next() {
        Some("text") => Kind::Text,
        Some("number") => Kind::Number,
        Some("integer") => Kind::Integer,
        Some("boolean") => Kind::Boolean,
        Some(choices) if choices.contains('|') => {
            Kind::One(distinct(choices.split('|').map(choice).collect())?)
        }
        told => {
            let wrong = told.map_or("has no type".to_owned(), |told| {
                format!("has the unknown type {told:?}")
            });
            return Err(format!(
                "--field {text:?} {wrong}: give NAME:TYPE[:TITLE], with text, number, integer, boolean or a|b"
            ));
        }
    };
    if !is_name(name) {
        return Err(format!(
            "--field {text:?} needs a name of 1 to 100 letters with their marks, digits, blanks and other characters \
             of ASCII, without `=`, which neither begins nor ends with a blank"
        ));
    }
    Ok(Named {
        name: name.to_owned(),
        field: Field {
            title: parts.next().map(str::to_owned),
            ..Field::of(kind)
        },
        is_required,
    })
}

/// Whether nobody sees a letter or a mark: the fillers of Hangul, and what only chooses between shapes of another
/// character.
fn is_unseen(it: char) -> bool {
    matches!(
        it,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{34f}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
    )
}

/// Whether a character is shown with the one before it, such as an accent or the sign of a vowel.
fn is_mark(it: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark, SpacingMark};
    let category = get_general_category(it);
    [EnclosingMark, NonspacingMark, SpacingMark].contains(&category)
}

/// Whether a person can say this name behind `--set`, and see where it begins and ends. Stricter than the server, which
/// asks nobody for a name with characters that format others.
fn is_name(name: &str) -> bool {
    let mut carries_marks = false;
    let mut shows = |it: char| {
        carries_marks = if is_mark(it) {
            carries_marks
        } else {
            it.is_alphanumeric()
        };
        carries_marks && !is_unseen(it) || it.is_ascii_punctuation() || it == ' '
    };
    (1..=100).contains(&name.chars().count())
        && name.trim() == name
        && name.chars().all(|it| shows(it) && it != '=')
}

/// Whether all of a line can be seen, but for what joins two characters that can: the server asks nobody anything else.
fn is_seen(line: &str) -> bool {
    let all: Vec<char> = line.chars().collect();
    let is_hidden_at = |at: usize| all.get(at).is_none_or(|it| is_hidden(*it));
    let shows = |at: usize| !is_hidden_at(at) && !all[at].is_whitespace();
    let joins = |at: usize| {
        matches!(all[at], '\u{200c}' | '\u{200d}') && at > 0 && shows(at - 1) && shows(at + 1)
    };
    (0..all.len()).all(|at| !is_hidden_at(at) || joins(at))
}

/// Whether a character controls or formats others, and shows nothing itself.
fn is_hidden(it: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    let hidden = [Control, Format, LineSeparator, ParagraphSeparator];
    // Not assigned yet, and reserved for one more of them.
    it == '\u{2065}' || hidden.contains(&get_general_category(it))
}

fn unseen_in(what: &str, text: &str) -> String {
    format!("{what} {text:?} has characters that nobody sees, such as a tab: leave them out")
}

fn read_default(field: &Field, text: &str) -> Result<Json, String> {
    if !text.lines().all(is_seen) {
        return Err(unseen_in("--default", text));
    }
    let read = field.read(text);
    read.map_err(|right| format!("--default {text:?} does not fit: {right}"))
}

#[cfg(test)]
mod tests;
