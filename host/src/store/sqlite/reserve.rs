//! Room on the disk that is kept for the store, so that a full disk cannot keep it from being opened, nor a task from
//! coming to its end.
//!
//! Knows a file that takes room, and nothing of what needs it. Where it goes, whoever else fills the disk may be faster;
//! so what is new is taken in only while it is there.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::super::limits::RESERVE_BYTES;
use super::file::{MODE, RESERVE, beside};

/// The room that is kept beside a store.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
}

impl Reserve {
    /// That of the store at `database`, whether it is there or not.
    pub(super) fn of(database: &Path) -> Self {
        Self {
            path: beside(database, RESERVE),
        }
    }

    /// Takes the room where it is not taken. Costs one system call where it is.
    ///
    /// # Errors
    /// What the system says; [`is_full`] knows whether there is no room. Then none is taken.
    pub(super) fn keep(&self) -> io::Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(found) if found.len() == RESERVE_BYTES as u64 => return Ok(()),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            // Another process takes it right now, or ended in the middle of it: twice does no harm.
            _ => {}
        }
        let taken = self.take();
        if taken.is_err() {
            self.give_up();
        }
        taken
    }

    fn take(&self) -> io::Result<()> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).expect("flags are positive numbers of C's int");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(MODE)
            .custom_flags(flags)
            .open(&self.path)?;
        // Written and not only asked for: that takes room on every file system.
        file.write_all(&vec![0; RESERVE_BYTES])
    }

    /// Gives the room back to the disk; whether there was any.
    pub(super) fn give_up(&self) -> bool {
        fs::remove_file(&self.path).is_ok()
    }
}

/// Whether a disk, or this user's part of it, has no room left.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    ) || Errno::from_io_error(error) == Some(Errno::DQUOT)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn reserve() -> (tempfile::TempDir, Reserve) {
        let directory = tempfile::tempdir().expect("there is room");
        let reserve = Reserve::of(&directory.path().join("store.sqlite"));
        (directory, reserve)
    }

    #[test]
    fn room_is_kept_until_it_is_given_up_once() {
        let (_directory, reserve) = reserve();
        for _ in 0..2 {
            reserve.keep().expect("there is room");
            let found = fs::metadata(&reserve.path).expect("it is there");
            assert_eq!(found.len(), RESERVE_BYTES as u64);
            assert_eq!(found.permissions().mode() & 0o777, MODE);
        }
        assert!(reserve.give_up());
        assert!(!reserve.give_up(), "there is nothing left");
    }

    #[test]
    fn what_was_taken_in_part_is_taken_whole() {
        let (_directory, reserve) = reserve();
        fs::write(&reserve.path, "0").expect("there is room");
        reserve.keep().expect("there is room");
        let found = fs::metadata(&reserve.path).expect("it is there");
        assert_eq!(found.len(), RESERVE_BYTES as u64);
    }
}
