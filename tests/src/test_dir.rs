//! A directory of a test's own.

use std::path::{Path, PathBuf};

/// A directory that exists as long as this value, for one data directory and what else a test keeps.
#[derive(Debug)]
pub struct TestDir {
    directory: tempfile::TempDir,
}

impl TestDir {
    /// Makes an empty one.
    ///
    /// # Panics
    /// Where the system has no room for temporary files.
    #[expect(
        clippy::new_without_default,
        reason = "it does something: it makes a directory"
    )]
    #[must_use]
    pub fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("backburner-test-")
            .tempdir()
            .expect("a temporary directory can be made");
        Self { directory }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The data directory in it, which the server makes.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }
}
