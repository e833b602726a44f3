//! The project's files.

use std::fs;
use std::path::Path;

use backburner_tests::workspace;
use walkdir::{DirEntry, WalkDir};

/// What is in the workspace's directory and is not the project: results of builds, other tools' packages, history.
const FOREIGN: [&str; 5] = ["target", "dist", ".git", "node_modules", "__pycache__"];

/// One text file.
pub(crate) struct File {
    /// Its path from the workspace's directory, with `/`.
    pub(crate) path: String,
    /// What is in it.
    pub(crate) text: String,
}

/// All text files of the project below `directory`, a path from the workspace's directory, in order.
pub(crate) fn below(directory: &str) -> Vec<File> {
    let paths = WalkDir::new(workspace().join(directory))
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| !is_foreign(entry))
        .map(|entry| entry.expect("the workspace can be listed"))
        .filter(|entry| entry.file_type().is_file())
        .map(DirEntry::into_path);
    let files: Vec<File> = paths.filter_map(|path| read(&path)).collect();
    assert!(
        !files.is_empty(),
        "there is no file in {directory}: this rule looks at nothing"
    );
    files
}

/// All Rust sources of the project below `directory`.
pub(crate) fn rust_below(directory: &str) -> Vec<File> {
    let files: Vec<File> = below(directory)
        .into_iter()
        .filter(|file| file.path.ends_with(".rs"))
        .collect();
    assert!(
        !files.is_empty(),
        "there is no Rust in {directory}: this rule looks at nothing"
    );
    files
}

fn is_foreign(entry: &DirEntry) -> bool {
    entry.depth() > 0 && FOREIGN.iter().any(|name| entry.file_name() == *name)
}

/// Reads a file; `None` for one that is no text.
fn read(path: &Path) -> Option<File> {
    let text = String::from_utf8(fs::read(path).expect("the project's files can be read")).ok()?;
    let path = path.strip_prefix(workspace()).unwrap_or(path);
    Some(File {
        path: path.to_string_lossy().replace('\\', "/"),
        text,
    })
}
