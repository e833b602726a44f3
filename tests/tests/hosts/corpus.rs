//! The corpus of transcripts, played against the stdio server of a host.

use std::sync::OnceLock;

use backburner_tests::Setup;
use backburner_tests::party::Real;
use backburner_tests::transcript::{Heard, check, play};

/// How many differences are shown: a host that writes something in its own way does so in every message.
const DIFFERENCES_SHOWN: usize = 5;

/// Plays the whole corpus against the server that `setup` starts.
///
/// # Panics
/// Where it does not answer as the transcripts say, or not with the bytes of the native host, ids and times aside.
pub(crate) fn assert_answers_as_the_native_host(setup: &Setup) {
    let heard = heard(setup);
    let problems = differences(native(), &heard);
    let shown = &problems[..problems.len().min(DIFFERENCES_SHOWN)];
    assert!(
        problems.is_empty(),
        "{} differences:\n{}\n",
        problems.len(),
        shown.join("\n")
    );
}

fn heard(setup: &Setup) -> Heard {
    check(|transcript| {
        play(
            transcript,
            &mut Real::with(setup.clone(), &transcript.config),
        )
    })
}

/// What the real binary says, which is asked once.
fn native() -> &'static Heard {
    static NATIVE: OnceLock<Heard> = OnceLock::new();
    NATIVE.get_or_init(|| heard(&Setup::default()))
}

/// Both have played the same transcripts to their ends, so both have as many messages.
fn differences(native: &Heard, other: &Heard) -> Vec<String> {
    let both = native.iter().zip(other);
    both.flat_map(|((name, native), (_, other))| {
        let pairs = native.iter().zip(other);
        let different = pairs.filter(|(native, other)| native != other);
        different.map(move |(native, other)| {
            format!("{name}.transcript:\n  the native host said {native}\n  this one said        {other}")
        })
    })
    .collect()
}

#[test]
fn one_other_byte_is_found() {
    let said = |message: &str| Heard::from([("a".to_owned(), vec![message.to_owned()])]);
    let native = said(r#"{"a":1,"b":2}"#);
    assert_eq!(differences(&native, &native), Vec::<String>::new());
    assert_eq!(differences(&native, &said(r#"{"b":2,"a":1}"#)).len(), 1);
}
