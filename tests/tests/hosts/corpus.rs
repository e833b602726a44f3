//! The corpus of transcripts, played against the stdio server of a host.

use std::sync::OnceLock;

use backburner_tests::Setup;
use backburner_tests::party::Real;
use backburner_tests::transcript::{Heard, check, differences, play};

/// Plays the whole corpus against the server that `setup` starts.
///
/// # Panics
/// Where it does not answer as the transcripts say, or not with the bytes of the native host, but for what no two plays
/// have alike.
pub(crate) fn assert_answers_as_the_native_host(setup: &Setup) {
    let native = native().as_ref();
    let native = native.unwrap_or_else(|problems| panic!("the native host:\n{problems}\n"));
    let this = heard(setup).unwrap_or_else(|problems| panic!("{setup:?}:\n{problems}\n"));
    let problems = differences(native, &this);
    assert!(
        problems.is_empty(),
        "the native host and {setup:?} differ:\n{}\n",
        problems.join("\n")
    );
}

fn heard(setup: &Setup) -> Result<Heard, String> {
    check(|transcript| {
        if transcript.config["terminals"] == true {
            // These hosts have none, and say so where they are configured.
            return Ok(Vec::new());
        }
        play(
            transcript,
            &mut Real::with(setup.clone(), &transcript.config),
        )
    })
}

/// What the real binary says, or what is wrong with that: asked once.
fn native() -> &'static Result<Heard, String> {
    static NATIVE: OnceLock<Result<Heard, String>> = OnceLock::new();
    NATIVE.get_or_init(|| heard(&Setup::default()))
}
