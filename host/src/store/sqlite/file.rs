//! The files themselves, before SQLite opens them: ours, private, and certain to be found again.
//!
//! Looks at names, and changes nothing before it has seen what is there: SQLite follows links, and gives the files
//! beside the database the mode and the owner of that one.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::super::OpenError;

/// Readable and writable by the owner alone. SQLite gives its other files the mode of this one.
pub(super) const MODE: u32 = 0o600;

/// What SQLite adds to the database's name for its log.
pub(super) const LOG: &str = "-wal";

/// What SQLite adds to the database's name for the log's index.
pub(super) const INDEX: &str = "-shm";

/// What SQLite adds to the database's name for what it writes instead of a log before there is one.
const JOURNAL: &str = "-journal";

/// What is added to the database's name for the room that is kept for it.
pub(super) const RESERVE: &str = "-reserve";

/// How large a page of the database is: SQLite's default.
const PAGE_BYTES: u64 = 4096;

/// Held while a file is created. Closing any descriptor of a file drops all locks that the process has on
/// it: so nobody in this process may already have the file open when the one that created it is closed.
static CREATING: Mutex<()> = Mutex::new(());

/// Creates the file where there is none, and makes it private whatever the umask is. What is no file of this user's, or
/// cannot be a store, is left as it is.
pub(super) fn create(path: &Path) -> Result<(), OpenError> {
    let _only_one = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |path: &Path, source| OpenError::Create {
        path: path.to_owned(),
        source,
    };
    for suffix in ["", LOG, INDEX, JOURNAL, RESERVE] {
        let file = beside(path, suffix);
        if let Some(found) = look(&file).map_err(|source| failed(&file, source))?
            && !is_own_file(&found)
        {
            return Err(OpenError::NotAFile { path: file });
        }
    }
    if !make_private(path).map_err(|source| failed(path, source))? {
        return Err(OpenError::Foreign {
            path: path.to_owned(),
        });
    }
    Ok(())
}

/// The name of a file that is kept beside the database.
pub(super) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(suffix);
    name.into()
}

/// Whether a file can be a store: it is SQLite's, or empty since SQLite has not written to it yet. Whose tables are in
/// it is to be seen when it is opened.
///
/// Only for one that is not open in this process: to close the file again would take the locks from whoever has it open
/// (POSIX, `close`).
pub(crate) fn can_be_store(file: &Path) -> io::Result<bool> {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    // A FIFO must not have us wait for whoever writes into it.
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = match crate::file::open(file, flags) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => return Ok(false),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut begin = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    Ok(begin.is_empty() || begin == MAGIC)
}

/// Whether a store was ever begun: its tables are in the database, or in the log beside it. What cannot be looked at
/// counts as begun.
pub(crate) fn is_begun(database: &Path) -> bool {
    let bytes = |path: &Path| match look(path) {
        Ok(None) => 0,
        Ok(Some(found)) if found.is_file() => found.len(),
        Ok(Some(_)) | Err(_) => u64::MAX,
    };
    // Of one page there is only the header.
    bytes(database) > PAGE_BYTES || bytes(database) > 0 && bytes(&beside(database, LOG)) > 0
}

/// What is at a name, where a link is what it is; `None` for nothing.
pub(super) fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_own_file(found: &Metadata) -> bool {
    found.is_file() && found.uid() == rustix::process::geteuid().as_raw()
}

/// Creates a file, or corrects the mode of the one that is there; false, and nothing is changed, where that is no
/// store.
fn make_private(path: &Path) -> io::Result<bool> {
    // A link that leads nowhere is there too, for this.
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(path)
    {
        Ok(file) => {
            drop(file);
            sync_directory(path)?;
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    if fs::symlink_metadata(path)?.permissions().mode() & 0o777 == MODE {
        return Ok(true);
    }
    match can_be_store(path) {
        Ok(true) => {}
        // One of a umask that takes the rights from its owner, who can have them back.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
        other => return other,
    }
    // By its name and not by a descriptor, for the reason that `CREATING` gives.
    fs::set_permissions(path, Permissions::from_mode(MODE))?;
    Ok(true)
}

/// Without this, a power failure can take away the file with all commits that were synchronised to it.
fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(directory_of(path))?.sync_all()
}

/// The directory that a file is in.
pub(super) fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::SqliteStore;
    use super::*;

    fn mode(path: &Path) -> u32 {
        let found = fs::metadata(path).expect("it is there");
        found.permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    }

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("there is room");
        let database = directory.path().join("store.sqlite");
        (directory, database)
    }

    /// Something that may be at the end of a link, and is no store.
    type Make = fn(&Path) -> io::Result<()>;

    const ELSEWHERE: [(&str, Make); 4] = [
        ("text", |path| fs::write(path, "my notes")),
        ("empty", |path| fs::write(path, "")),
        ("database", |path| fs::write(path, "SQLite format 3\0")),
        ("fifo", |path| {
            Ok(rustix::fs::mkfifoat(
                rustix::fs::CWD,
                path,
                rustix::fs::Mode::RUSR,
            )?)
        }),
    ];

    #[test]
    fn what_a_link_leads_to_is_refused_and_left_as_it_is() {
        for (kind, make) in ELSEWHERE {
            for suffix in ["", LOG, INDEX, JOURNAL, RESERVE] {
                let (directory, database) = directory();
                let target = directory.path().join("target");
                make(&target).expect("there is room");
                set_mode(&target, 0o666);
                let link = beside(&database, suffix);
                symlink(&target, &link).expect("there is room");
                let refused = SqliteStore::open(&database).expect_err("it is a link");
                assert!(
                    matches!(&refused, OpenError::NotAFile { path } if *path == link),
                    "{kind} {suffix}: {refused:?}"
                );
                assert_eq!(mode(&target), 0o666, "{kind} {suffix}");
            }
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_refused_and_nothing_is_made() {
        let (directory, database) = directory();
        let target = directory.path().join("target");
        symlink(&target, &database).expect("there is room");
        let refused = SqliteStore::open(&database).expect_err("it is a link");
        assert!(matches!(refused, OpenError::NotAFile { .. }), "{refused:?}");
        assert!(!target.exists());
    }

    #[test]
    fn what_is_no_file_is_refused_and_left_as_it_is() {
        let (_directory, database) = directory();
        fs::create_dir(&database).expect("there is room");
        set_mode(&database, 0o755);
        let refused = SqliteStore::open(&database).expect_err("it is a directory");
        let words = refused.to_string();
        assert!(
            words.contains("store.sqlite is not a file of your own"),
            "{words}"
        );
        assert_eq!(mode(&database), 0o755);
    }

    #[test]
    fn a_file_that_is_no_store_keeps_its_mode() {
        let (_directory, database) = directory();
        fs::write(&database, "my notes").expect("there is room");
        set_mode(&database, 0o644);
        let refused = SqliteStore::open(&database).expect_err("it is a text");
        assert!(matches!(refused, OpenError::Foreign { .. }), "{refused:?}");
        assert_eq!(mode(&database), 0o644);
    }

    #[test]
    fn the_mode_of_a_store_is_corrected() {
        let (_directory, database) = directory();
        for wrong in [0o666, 0o644, 0o400, 0o000] {
            drop(SqliteStore::open(&database).expect("it is a store"));
            set_mode(&database, wrong);
            drop(SqliteStore::open(&database).expect("it is a store"));
            assert_eq!(mode(&database), MODE, "{wrong:o}");
        }
    }
}
