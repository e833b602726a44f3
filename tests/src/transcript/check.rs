//! Playing all of the corpus against one kind of server.

use std::thread;

use super::{Failure, Transcript, corpus};

/// Plays the whole corpus, each transcript in a thread of its own.
///
/// # Panics
/// With everything that went wrong, where something did.
pub fn check(run: impl Fn(&Transcript) -> Result<(), Failure> + Sync) {
    let run = &run;
    let transcripts = corpus();
    assert!(!transcripts.is_empty(), "there is a corpus");
    let problems: Vec<String> = thread::scope(|scope| {
        let plays: Vec<_> = transcripts
            .iter()
            .map(|transcript| (transcript, scope.spawn(move || run(transcript))))
            .collect();
        plays
            .into_iter()
            .filter_map(|(transcript, play)| problem(transcript, play.join()))
            .collect()
    });
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

fn problem(transcript: &Transcript, result: thread::Result<Result<(), Failure>>) -> Option<String> {
    match result {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.message),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().cloned();
            Some(format!(
                "{}.transcript: {}",
                transcript.name,
                words.unwrap_or_default()
            ))
        }
    }
}
