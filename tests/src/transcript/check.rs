//! Playing all of the corpus against one kind of server.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread;
#[cfg(test)]
use std::time::{Duration, Instant};

use super::{Failure, Transcript, corpus};

/// What a server said in each transcript, by its name: the messages that [`play`](super::play) gives.
pub type Heard = BTreeMap<String, Vec<String>>;

/// How many differences are shown.
const DIFFERENCES_SHOWN: usize = 5;

/// Plays the whole corpus, each transcript in a thread of its own, and gives what was heard.
///
/// One call after the other within a process: each plays all transcripts at once, and has deadlines.
///
/// # Errors
/// Everything that went wrong, in words.
///
/// # Panics
/// Where the corpus cannot be read.
pub fn check(
    run: impl Fn(&Transcript) -> Result<Vec<String>, Failure> + Sync,
) -> Result<Heard, String> {
    static TURN: Mutex<()> = Mutex::new(());
    let run = &run;
    let transcripts = corpus();
    assert!(!transcripts.is_empty(), "there is a corpus");
    let mut heard = Heard::new();
    let mut problems = Vec::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
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
    drop(turn);
    if problems.is_empty() {
        Ok(heard)
    } else {
        Err(problems.join("\n"))
    }
}

/// Where one server said other bytes than another one, in words: a few differences, since who writes something in a way of
/// its own does so in every message.
///
/// # Panics
/// Where they have not played the same transcripts to their ends, which [`check`] has seen.
#[must_use]
pub fn differences(one: &Heard, other: &Heard) -> Vec<String> {
    assert!(one.keys().eq(other.keys()), "both played the corpus");
    let plays = one.iter().zip(other.values());
    let different = plays.flat_map(|((name, one), other)| {
        assert_eq!(one.len(), other.len(), "{name}: both heard all of it");
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
        Err(panic) => Err(format!("{name}.transcript: {}", words(&*panic))),
    }
}

/// What a panic says: a text that was made, or one that is written in the program.
fn words(panic: &(dyn Any + Send)) -> &str {
    let made = panic.downcast_ref::<String>().map(String::as_str);
    let written = panic.downcast_ref::<&str>().copied();
    made.or(written).unwrap_or("it panicked without words")
}

#[test]
fn one_other_byte_is_found() {
    let said = |message: &str| Heard::from([("a".to_owned(), vec![message.to_owned()])]);
    let native = said(r#"{"a":1,"b":2}"#);
    assert_eq!(differences(&native, &native), Vec::<String>::new());
    assert_eq!(differences(&native, &said(r#"{"b":2,"a":1}"#)).len(), 1);
}

#[test]
fn what_a_play_panics_with_is_told() {
    let told = |panicking: fn()| {
        let panicked = thread::spawn(panicking).join().expect_err("it panics");
        outcome("a", Err(panicked)).expect_err("it panicked")
    };
    assert_eq!(told(|| panic!("a literal")), "a.transcript: a literal");
    let made = told(|| panic!("{} text", thread::current().name().unwrap_or("a made")));
    assert_eq!(made, "a.transcript: a made text");
    let wordless = told(|| std::panic::panic_any(7));
    assert_eq!(wordless, "a.transcript: it panicked without words");
}

#[test]
fn one_corpus_is_played_after_the_other() {
    /// How long a play that should be alone waits for one that is not, once for each transcript.
    const INTRUSION: Duration = Duration::from_millis(10);
    let playing: Mutex<Vec<u32>> = Mutex::default();
    let turns = || {
        let mut turns = playing.lock().expect("nobody panics").clone();
        turns.dedup();
        turns
    };
    let play = |who: u32| {
        let (playing, turns) = (&playing, &turns);
        move || {
            check(|_| {
                playing.lock().expect("nobody panics").push(who);
                let deadline = Instant::now() + INTRUSION;
                while turns().last() == Some(&who) && Instant::now() < deadline {
                    thread::yield_now();
                }
                Ok(Vec::new())
            })
        }
    };
    thread::scope(|scope| {
        let plays = [1, 2, 3].map(|who| scope.spawn(play(who)));
        for play in plays {
            let heard = play.join().expect("it does not panic");
            let heard = heard.expect("nothing goes wrong");
            assert_eq!(heard.len(), corpus().len());
        }
    });
    assert_eq!(turns().len(), 3, "{:?}", turns());
}
