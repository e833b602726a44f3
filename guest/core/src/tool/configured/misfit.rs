//! Why a value does not conform to a schema, in words that let a model correct it.
//!
//! Says of each wrong part where it is, what it is, and what it has to be. Long values are not repeated.

use std::cmp::Ordering;

use boon::{ErrorKind, InstanceToken, Type, Types, ValidationError};
use serde_json::Value;

use crate::text::{in_one_line, revealed};
use crate::tool::limits::{ALTERNATIVES_DEPTH, LISTED_NAMES, QUOTED_CHARS, TOLD_MISFITS};
use crate::tool::quote::{named, quoted};

/// What is wrong with `value`, the first few things of it, in one line. `whole` is what the value is called.
pub(super) fn in_words(error: &ValidationError<'_, '_>, value: &Value, whole: &str) -> String {
    let mut leaves = Vec::new();
    collect(error, &mut leaves);
    // The library finds some of them in an order that is another one each time.
    leaves.sort_by(|one, other| by_place(one, other));
    let count = leaves.len();
    let told = leaves.into_iter().take(TOLD_MISFITS);
    let mut words: Vec<String> = told.map(|leaf| told_of(leaf, value, whole)).collect();
    // Two branches of a schema may ask for the same.
    words.dedup();
    if count > TOLD_MISFITS {
        words.push(format!("and {} more", count - TOLD_MISFITS));
    }
    // The library's own words may have parts of the schema in them.
    revealed(&words.join("; "))
}

/// The errors that do not only say that there are others.
fn collect<'e, 's, 'v>(
    error: &'e ValidationError<'s, 'v>,
    leaves: &mut Vec<&'e ValidationError<'s, 'v>>,
) {
    let is_group = matches!(
        error.kind,
        ErrorKind::Group
            | ErrorKind::Schema { .. }
            | ErrorKind::Reference { .. }
            | ErrorKind::AllOf
            | ErrorKind::ContentSchema
    );
    if is_group && !error.causes.is_empty() {
        for cause in &error.causes {
            collect(cause, leaves);
        }
    } else {
        leaves.push(error);
    }
}

/// Which of two comes first in the value. Their places are not written out for that: each may be as long as the value, and
/// there may be as many as it has parts.
fn by_place(one: &ValidationError<'_, '_>, other: &ValidationError<'_, '_>) -> Ordering {
    let steps = one.instance_location.tokens.iter();
    steps
        .map(Step::of)
        .cmp(other.instance_location.tokens.iter().map(Step::of))
}

/// A step of a place, as they are sorted.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Step<'a> {
    Item(usize),
    Member(&'a str),
}

impl<'a> Step<'a> {
    fn of(token: &'a InstanceToken<'_>) -> Self {
        match token {
            InstanceToken::Item(index) => Self::Item(*index),
            InstanceToken::Prop(name) => Self::Member(name),
        }
    }
}

fn told_of(leaf: &ValidationError<'_, '_>, value: &Value, whole: &str) -> String {
    let place = place(&leaf.instance_location.tokens);
    let subject = match place.as_str() {
        "" => whole.to_owned(),
        place => format!("`{}`", named(place)),
    };
    let within = |name: &str| match place.as_str() {
        "" => named(name),
        place => named(&format!("{place}.{name}")),
    };
    match &leaf.kind {
        ErrorKind::Required { want } => missing(want.iter().copied().map(within)),
        ErrorKind::DependentRequired {
            prop,
            missing: names,
        }
        | ErrorKind::Dependency {
            prop,
            missing: names,
        } => format!(
            "{} beside `{}`",
            missing(names.iter().map(|name| within(name))),
            named(prop)
        ),
        ErrorKind::AdditionalProperties { got } => {
            let mut names: Vec<&str> = got.iter().map(AsRef::as_ref).collect();
            names.sort_unstable();
            let names = names.into_iter().take(LISTED_NAMES);
            let names: Vec<String> = names.map(within).collect();
            format!("there is no `{}`", names.join("`, no `"))
        }
        ErrorKind::PropertyName { prop } => {
            format!("{subject} may not have the name `{}`", named(prop))
        }
        _ => format!(
            "{subject} is {}, it has to be {}",
            part(value, &leaf.instance_location.tokens).map_or_else(|| "wrong".to_owned(), quoted),
            expected(leaf, ALTERNATIVES_DEPTH)
        ),
    }
}

fn missing(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.take(LISTED_NAMES).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("`{}` {verb} missing", names.join("`, `"))
}

/// Where a part is, as a person writes it: `a.b[2]`.
fn place(tokens: &[InstanceToken<'_>]) -> String {
    let mut place = String::new();
    for token in tokens {
        match token {
            InstanceToken::Prop(name) if place.is_empty() => place.push_str(name),
            InstanceToken::Prop(name) => {
                place.push('.');
                place.push_str(name);
            }
            InstanceToken::Item(index) => place.push_str(&format!("[{index}]")),
        }
    }
    place
}

fn part<'a>(value: &'a Value, tokens: &[InstanceToken<'_>]) -> Option<&'a Value> {
    tokens.iter().try_fold(value, |value, token| match token {
        InstanceToken::Prop(name) => value.get(&**name),
        InstanceToken::Item(index) => value.get(index),
    })
}

/// What it has to be.
fn expected(leaf: &ValidationError<'_, '_>, depth: usize) -> String {
    match &leaf.kind {
        ErrorKind::Type { want, .. } => types(*want),
        ErrorKind::Enum { want } => one_of(want),
        ErrorKind::Const { want } => quoted(want),
        ErrorKind::Format { want, .. } => format!("text of the format {want}"),
        ErrorKind::Pattern { want, .. } => {
            format!("text that matches {}", in_one_line(want, QUOTED_CHARS))
        }
        ErrorKind::AnyOf | ErrorKind::OneOf(None) if depth > 0 => alternatives(leaf, depth - 1),
        ErrorKind::AnyOf | ErrorKind::OneOf(None) => "one of its alternatives".to_owned(),
        ErrorKind::OneOf(Some(_)) => {
            "what fits one alternative of its schema, and not several".to_owned()
        }
        ErrorKind::Not => "something that its schema does not exclude".to_owned(),
        ErrorKind::FalseSchema => "left out: its schema allows no value".to_owned(),
        ErrorKind::Contains | ErrorKind::MinContains { .. } | ErrorKind::MaxContains { .. } => {
            format!("a list of the right content: {}", leaf.kind)
        }
        ErrorKind::UniqueItems { got: [one, other] } => {
            format!("a list without repetition, items {one} and {other} are equal")
        }
        kind => measure(kind).unwrap_or_else(|| format!("right: {kind}")),
    }
}

/// What has to be so great, long or many.
fn measure(kind: &ErrorKind<'_, '_>) -> Option<String> {
    Some(match kind {
        ErrorKind::Minimum { want, .. } => format!("at least {want}"),
        ErrorKind::Maximum { want, .. } => format!("at most {want}"),
        ErrorKind::ExclusiveMinimum { want, .. } => format!("greater than {want}"),
        ErrorKind::ExclusiveMaximum { want, .. } => format!("less than {want}"),
        ErrorKind::MultipleOf { want, .. } => format!("a multiple of {want}"),
        ErrorKind::MinLength { want, got } => format!("at least {want} characters long, not {got}"),
        ErrorKind::MaxLength { want, got } => format!("at most {want} characters long, not {got}"),
        ErrorKind::MinItems { want, got } => format!("a list of at least {want} items, not {got}"),
        ErrorKind::MaxItems { want, got } => format!("a list of at most {want} items, not {got}"),
        ErrorKind::MinProperties { want, got } => {
            format!("an object of at least {want} members, not {got}")
        }
        ErrorKind::MaxProperties { want, got } => {
            format!("an object of at most {want} members, not {got}")
        }
        _ => return None,
    })
}

fn types(types: Types) -> String {
    let names: Vec<&str> = types.iter().map(type_name).collect();
    names.join(" or ")
}

fn type_name(name: Type) -> &'static str {
    match name {
        Type::Null => "null",
        Type::Boolean => "true or false",
        Type::Number => "a number",
        Type::Integer => "an integer",
        Type::String => "a string",
        Type::Array => "a list",
        Type::Object => "an object",
    }
}

fn one_of(choices: &[Value]) -> String {
    let listed: Vec<String> = choices.iter().take(LISTED_NAMES).map(quoted).collect();
    let more = match choices.len().saturating_sub(LISTED_NAMES) {
        0 => String::new(),
        more => format!(" or one of {more} more"),
    };
    match listed.as_slice() {
        [only] => only.clone(),
        several => format!("one of {}{more}", several.join(", ")),
    }
}

/// What each alternative asks for first.
fn alternatives(leaf: &ValidationError<'_, '_>, depth: usize) -> String {
    let mut words: Vec<String> = Vec::new();
    for cause in leaf.causes.iter().take(LISTED_NAMES) {
        let mut leaves = Vec::new();
        collect(cause, &mut leaves);
        // The library finds some of them in an order that is another one each time.
        let first = leaves.into_iter().min_by(|one, other| by_place(one, other));
        let Some(first) = first else {
            continue;
        };
        let tokens = &first.instance_location.tokens;
        let below = tokens.get(leaf.instance_location.tokens.len()..);
        let word = match (&first.kind, place(below.unwrap_or_default())) {
            (ErrorKind::Required { want }, at) if at.is_empty() => {
                format!("an object with `{}`", want.join("`, `"))
            }
            (_, at) if at.is_empty() => expected(first, depth),
            (_, at) => format!(
                "an object whose `{}` is {}",
                named(&at),
                expected(first, depth)
            ),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    match words.is_empty() {
        true => "one of its alternatives".to_owned(),
        false => words.join(", or "),
    }
}

#[cfg(test)]
mod tests;
