//! Playing all of the corpus against one kind of server.

use std::collections::BTreeMap;
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
/// its own does so in every message. Both have played the same transcripts to their ends.
#[must_use]
pub fn differences(one: &Heard, other: &Heard) -> Vec<String> {
    let both = one.iter().zip(other);
    let different = both.flat_map(|((name, one), (_, other))| {
        let pairs = one.iter().zip(other).filter(|(one, other)| one != other);
        pairs.map(move |(one, other)| {
            format!("{name}.transcript:\n  the one said   {one}\n  the other said {other}")
        })
    });
    different.take(DIFFERENCES_SHOWN).collect()
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
