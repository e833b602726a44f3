//! Playing all of the corpus against one kind of server.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use super::{Failure, Transcript, corpus};

/// What a server said in each transcript, by its name: the messages that [`play`](super::play) gives.
pub type Heard = BTreeMap<String, Vec<String>>;

/// How many differences are shown.
const DIFFERENCES_SHOWN: usize = 5;

/// Plays the whole corpus, each transcript in a thread of its own, and gives what was heard.
///
/// # Panics
/// With everything that went wrong, where something did.
pub fn check(run: impl Fn(&Transcript) -> Result<Vec<String>, Failure> + Sync) -> Heard {
    let run = &run;
    let transcripts = corpus();
    assert!(!transcripts.is_empty(), "there is a corpus");
    let mut heard = Heard::new();
    let mut problems = Vec::new();
    thread::scope(|scope| {
        let plays: Vec<_> = transcripts
            .iter()
            .map(|transcript| (&transcript.name, scope.spawn(move || run(transcript))))
            .collect();
        for (name, play) in plays {
            match outcome(name, play.join()) {
                Ok(messages) => drop(heard.insert(name.clone(), messages)),
                Err(problem) => problems.push(problem),
            }
        }
    });
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    heard
}

/// Where one server said other bytes than another one, in words: a few differences, since who writes something in a way of
/// its own does so in every message. That they have not played the same transcripts, or that one said more, is one too.
#[must_use]
pub fn differences(one: &Heard, other: &Heard) -> Vec<String> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let different = names
        .into_iter()
        .flat_map(|name| match (one.get(name), other.get(name)) {
            (Some(one), Some(other)) => different_messages(name, one, other),
            (one, _) => {
                let who = if one.is_some() { "one" } else { "other" };
                vec![format!("{name}.transcript: only the {who} played it")]
            }
        });
    different.take(DIFFERENCES_SHOWN).collect()
}

/// Where two servers differ in one transcript.
fn different_messages(name: &str, one: &[String], other: &[String]) -> Vec<String> {
    let counts = (one.len(), other.len());
    let count = (counts.0 != counts.1).then(|| {
        format!(
            "{name}.transcript: the one said {} messages, the other {}",
            counts.0, counts.1
        )
    });
    let pairs = one.iter().zip(other).filter(|(one, other)| one != other);
    let messages = pairs.map(|(one, other)| {
        format!("{name}.transcript:\n  the one said   {one}\n  the other said {other}")
    });
    count.into_iter().chain(messages).collect()
}

/// What was heard in one play, or what went wrong.
fn outcome(
    name: &str,
    result: thread::Result<Result<Vec<String>, Failure>>,
) -> Result<Vec<String>, String> {
    match result {
        Ok(played) => played.map_err(|failure| failure.message),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().cloned();
            Err(format!("{name}.transcript: {}", words.unwrap_or_default()))
        }
    }
}

#[test]
fn one_other_byte_is_found() {
    let said = |message: &str| Heard::from([("a".to_owned(), vec![message.to_owned()])]);
    let native = said(r#"{"a":1,"b":2}"#);
    assert_eq!(differences(&native, &native), Vec::<String>::new());
    assert_eq!(differences(&native, &said(r#"{"b":2,"a":1}"#)).len(), 1);
}

#[test]
fn one_more_message_and_one_more_transcript_are_found() {
    let said = |name: &str, messages: &[&str]| {
        let messages = messages.iter().map(|it| (*it).to_owned()).collect();
        Heard::from([(name.to_owned(), messages)])
    };
    let native = said("a", &["1", "2"]);
    for other in [
        said("a", &["1"]),
        said("a", &["1", "2", "3"]),
        said("a", &[]),
        Heard::new(),
    ] {
        assert_eq!(differences(&native, &other).len(), 1, "{other:?}");
        assert_eq!(differences(&other, &native).len(), 1, "{other:?}");
    }
    assert_eq!(differences(&native, &said("b", &["1", "2"])).len(), 2);
}
