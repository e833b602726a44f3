//! Transcripts: conversations between a client and a server, kept as text and played against whatever answers.
//!
//! The format is described by the transcript that uses all of it, `tests/transcripts/format.transcript`. One corpus is
//! played against the core natively, the component in wasmtime, the real binary, the servers of the other hosts, also with
//! tasks in memory, functions as jobs and a page in a browser; the format has no means to leave one of them out.

mod bless;
mod check;
mod matching;
mod parse;
mod play;
mod timeless;

use std::fs;
use std::path::{Path, PathBuf};

pub use check::{Heard, check, differences};
pub use parse::Transcript;
pub use play::{AFTER_SILENCE, Failure, play};

/// The directory of the corpus.
#[must_use]
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts")
}

/// The whole corpus, in the order of its file names.
///
/// # Panics
/// Where a file cannot be read or is not in the format, naming file and line.
#[must_use]
pub fn corpus() -> Vec<Transcript> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory())
        .expect("the corpus is in the package")
        .map(|entry| entry.expect("the corpus can be listed").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "transcript")
        })
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Transcript {
    let text = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
    let name = path
        .file_stem()
        .expect("it has an extension")
        .to_string_lossy();
    Transcript::parse(&name, &text).unwrap_or_else(|error| panic!("{name}.transcript:{error}"))
}

/// Writes a transcript with its expectations changed to what was received in the play that gave `failure`.
///
/// # Panics
/// Where the file cannot be written.
pub fn bless(transcript: &Transcript, failure: &Failure) {
    let text = bless::rewritten(transcript, failure);
    fs::write(
        directory().join(format!("{}.transcript", transcript.name)),
        text,
    )
    .expect("the corpus can be written");
}
