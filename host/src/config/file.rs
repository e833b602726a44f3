//! Reading a configuration file.

use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::OFlags;

use super::document::Position;
use super::error::Error;
use crate::file;
use crate::limits::CONFIG_FILE_BYTES;

/// Reads a file, which may be a link to one.
///
/// # Errors
/// Any but [`Error::NoWorkingDirectory`] and [`Error::Refused`].
pub(super) fn read(path: &Path) -> Result<String, Error> {
    let bytes = read_bytes(path)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes());
        Error::Wrong {
            path: path.to_owned(),
            position: Position::of(&text, valid),
            reason: "this is not UTF-8".to_owned(),
        }
    })
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let unreadable = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => Error::Missing {
            path: path.to_owned(),
        },
        _ => Error::Unreadable {
            path: path.to_owned(),
            cause,
        },
    };
    // A FIFO must not have us wait for whoever writes into it.
    let file = file::open(path, OFlags::NONBLOCK).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(Error::NotAFile {
            path: path.to_owned(),
        });
    }
    let mut bytes = Vec::new();
    let limit = CONFIG_FILE_BYTES as u64 + 1;
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() > CONFIG_FILE_BYTES {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            limit_bytes: CONFIG_FILE_BYTES,
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_its_text_and_a_longer_one_is_refused() {
        let directory = tempfile::tempdir().expect("there is room");
        let path = directory.path().join("file");
        for bytes in [0, CONFIG_FILE_BYTES] {
            fs::write(&path, "#".repeat(bytes)).expect("there is room");
            assert_eq!(read(&path).expect("it is a file").len(), bytes);
        }
        fs::write(&path, "#".repeat(CONFIG_FILE_BYTES + 1)).expect("there is room");
        let refused = read(&path).expect_err("it is too long");
        assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    }

    #[test]
    fn what_is_no_file_is_refused_without_waiting_for_it() {
        let directory = tempfile::tempdir().expect("there is room");
        let fifo = directory.path().join("fifo");
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, mode).expect("it is ours");
        for path in [directory.path(), &fifo] {
            let refused = read(path).expect_err("it is no file");
            assert!(matches!(refused, Error::NotAFile { .. }), "{refused}");
        }
        let missing = read(&directory.path().join("none")).expect_err("it is not there");
        assert!(matches!(missing, Error::Missing { .. }), "{missing}");
    }

    #[test]
    fn bytes_that_are_no_text_are_found_where_they_are() {
        let directory = tempfile::tempdir().expect("there is room");
        let path = directory.path().join("file");
        fs::write(&path, b"a = 1\nb = '\xc3\xa9\xff'\n").expect("there is room");
        let refused = read(&path).expect_err("it is not UTF-8");
        let expected = format!("{}:2:7: this is not UTF-8", path.display());
        assert_eq!(refused.to_string(), expected);
    }
}
