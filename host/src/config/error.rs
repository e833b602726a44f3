//! Why a configuration cannot be used, in words that lead to its place.

use std::io;
use std::path::PathBuf;

use super::document::Position;
use crate::engine::BadConfig;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file was given relative to the working directory, and that one is gone.
    #[error("cannot tell where {path} is, give an absolute path: {cause}", path = path.display())]
    NoWorkingDirectory {
        /// What was given.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// There is no such file.
    #[error("{path}: there is no such file", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("{path}: cannot be read: {cause}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It is a directory or something else.
    #[error("{path}: is no file", path = path.display())]
    NotAFile {
        /// What it is called.
        path: PathBuf,
    },
    /// It is longer than any configuration.
    #[error("{path}: is longer than {limit_bytes} bytes", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How long it may be.
        limit_bytes: usize,
    },
    /// Something in the file is wrong.
    #[error("{path}:{position}: {reason}", path = path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Where in it.
        position: Position,
        /// Why, in words.
        reason: String,
    },
    /// Something is wrong that is not in a file.
    #[error("the configuration is refused: {0}")]
    Refused(BadConfig),
}
