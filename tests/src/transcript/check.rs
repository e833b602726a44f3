//! Playing all of the corpus against one kind of server.

use std::collections::BTreeMap;
use std::thread;

use super::{Failure, Transcript, corpus};

/// What a server said in each transcript, by its name: the messages that [`play`](super::play) gives.
pub type Heard = BTreeMap<String, Vec<String>>;

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
