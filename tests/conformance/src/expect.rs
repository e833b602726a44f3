//! How a step says that something is not as promised.

use std::fmt::Debug;

use crate::limits::SHOWN_CHARS;

/// Why a step did not reach its end.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The promise is not kept; why, in words.
    Breach(String),
    /// Something has to happen first.
    Wait {
        /// One of these jobs has to end; where there is none, some time has to pass.
        jobs: Vec<String>,
        /// What is waited for and what there is instead, for the case that it never comes.
        what: String,
    },
}

/// The step ends here: the promise is not kept.
pub(crate) fn breach<T>(reason: impl Into<String>) -> Result<T, Halt> {
    Err(Halt::Breach(reason.into()))
}

/// Goes on where `is_kept`.
pub(crate) fn ensure(is_kept: bool, reason: impl FnOnce() -> String) -> Result<(), Halt> {
    if is_kept { Ok(()) } else { breach(reason()) }
}

/// Goes on where both are equal. `what` says what was looked at.
pub(crate) fn same<A, B>(what: &str, found: &A, wanted: &B) -> Result<(), Halt>
where
    A: PartialEq<B> + Debug + ?Sized,
    B: Debug + ?Sized,
{
    ensure(found == wanted, || {
        format!("{what}: found {}, wanted {}", shown(found), shown(wanted))
    })
}

/// A value for a reason, not longer than a reason may be.
pub(crate) fn shown(value: &(impl Debug + ?Sized)) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}
