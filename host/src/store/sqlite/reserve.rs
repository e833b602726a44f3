//! Room on the disk that is kept for the store, so that a full disk keeps neither it from being opened nor a task from
//! coming to its end.
//!
//! Knows a file that takes room, and nothing of what needs it. Where it goes, whoever else fills the disk may be
//! faster; so what is new is taken in only while it is there. Between processes that is as certain as a look is.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
use rustix::fs::FallocateFlags;
use rustix::fs::{OFlags, StatVfs, StatVfsMountFlags};
use rustix::process::{Resource, Uid, geteuid, getrlimit};

use super::super::limits::RESERVE_BYTES;
use super::file::{MODE, RESERVE, beside, directory_of, look};
use crate::file::is_disk_full;

/// What is added to its name while it is tried whether there is room for another one.
const ANOTHER: &str = "-another";

/// Whether a disk can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disk {
    /// It can, or nobody can tell.
    Writable,
    /// It can only be read, perhaps by now.
    ReadOnly,
}

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
    /// What the system says, [`ErrorKind::StorageFull`] or [`ErrorKind::QuotaExceeded`] where there is no room. Then none
    /// is taken.
    pub(super) fn keep(&self) -> io::Result<()> {
        // Once more, since another process may have given up in between what this one was taking.
        for _ in 0..2 {
            let found = look(&self.path)?;
            if found.as_ref().is_some_and(|it| it.len() >= bytes()) {
                return Ok(());
            }
            self.take(found.map_or(0, |it| it.len()))?;
        }
        Ok(())
    }

    fn take(&self, taken_bytes: u64) -> io::Result<()> {
        let mut file = self.open(taken_bytes)?;
        let filled = fill(&mut file);
        if filled.is_err() {
            self.take_back(&file);
        }
        filled
    }

    /// Opens the file, maybe a new one, where there seems to be room for what is not taken yet.
    fn open(&self, taken_bytes: u64) -> io::Result<File> {
        // Not tried where it cannot be: the attempt would take all the room that others use meanwhile.
        if getrlimit(Resource::Fsize)
            .current
            .is_some_and(|limit| limit < bytes())
        {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let disk = rustix::fs::statvfs(directory_of(&self.path))?;
        let wanted = (bytes() + MARGIN_BYTES).saturating_sub(taken_bytes);
        if free_bytes(&disk, geteuid()).is_some_and(|free| free < wanted) {
            return Err(ErrorKind::StorageFull.into());
        }
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).expect("flags are positive numbers of C's int");
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(MODE)
            .custom_flags(flags)
            .open(&self.path)
    }

    /// Takes away what was taken in part; not what another process has put there since.
    fn take_back(&self, file: &File) {
        let is_own = |found: Metadata| {
            let own = file.metadata();
            own.is_ok_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino()))
        };
        if look(&self.path).ok().flatten().is_some_and(is_own) {
            self.give_up();
        }
    }

    /// Whether the disk has no room for as much once more, or for one more file: what failed may have failed for that.
    /// Tried out, since nobody can tell what a quota leaves.
    pub(super) fn is_missed(&self) -> bool {
        let another = Self {
            path: beside(&self.path, ANOTHER),
        };
        let taken = another.open(0).and_then(|mut file| {
            // At once, so that nothing is left of it whatever becomes of this process.
            another.give_up();
            fill(&mut file)
        });
        taken.is_err_and(|error| is_disk_full(&error))
    }

    /// The disk that the store is on.
    pub(super) fn disk(&self) -> Disk {
        let found = rustix::fs::statvfs(directory_of(&self.path));
        match found.map(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY)) {
            Ok(true) => Disk::ReadOnly,
            Ok(false) | Err(_) => Disk::Writable,
        }
    }

    /// Gives the room back to the disk; whether there was any.
    pub(super) fn give_up(&self) -> bool {
        fs::remove_file(&self.path).is_ok()
    }
}

/// How much of a disk this user may still take; `None` where it does not tell how large it is, as one in memory without a
/// limit. Some of it is for root alone.
fn free_bytes(disk: &StatVfs, user: Uid) -> Option<u64> {
    let blocks = if user.is_root() {
        disk.f_bfree
    } else {
        disk.f_bavail
    };
    (disk.f_blocks > 0).then(|| blocks.saturating_mul(disk.f_frsize))
}

/// Has a file take its room: by asking for it, which costs next to nothing, and where that is not possible, or was in
/// words alone, by writing it.
///
/// # Errors
/// Where there is no room.
fn fill(file: &mut File) -> io::Result<()> {
    match ask_for_room(file) {
        Ok(()) if file.metadata()?.blocks() * BLOCK_BYTES >= bytes() => Ok(()),
        Err(error) if is_disk_full(&error) || error.kind() == ErrorKind::FileTooLarge => Err(error),
        Ok(()) | Err(_) => file.write_all(&noise()),
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn ask_for_room(file: &File) -> io::Result<()> {
    let whole = || rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes());
    Ok(rustix::io::retry_on_intr(whole)?)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn ask_for_room(_: &File) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// In what `stat` counts the room that a file takes.
const BLOCK_BYTES: u64 = 512;

/// How much more has to be free, so that who takes the room leaves some for others.
const MARGIN_BYTES: u64 = 1 << 20;

fn bytes() -> u64 {
    RESERVE_BYTES as u64
}

/// Bytes that take their room on every file system: some keep zeros, and what repeats itself, in none at all.
fn noise() -> Vec<u8> {
    // Marsaglia's xorshift, whose numbers need not be good.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(RESERVE_BYTES);
    while bytes.len() < RESERVE_BYTES {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
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
            assert_eq!(found.len(), bytes());
            assert!(found.blocks() * BLOCK_BYTES >= bytes(), "it takes room");
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
        assert_eq!(found.len(), bytes());
    }

    #[test]
    fn more_room_than_is_needed_stays_as_it_is() {
        let (_directory, reserve) = reserve();
        let longer = vec![1; RESERVE_BYTES + 1];
        fs::write(&reserve.path, &longer).expect("there is room");
        reserve.keep().expect("it is kept already");
        assert!(fs::read(&reserve.path).expect("it is there") == longer);
    }

    #[test]
    fn room_is_not_missed_where_there_is_some() {
        let (directory, reserve) = reserve();
        reserve.keep().expect("there is room");
        assert!(!reserve.is_missed());
        // Where no file can be made at all, that is not for want of room.
        let gone = Reserve::of(&directory.path().join("gone/store.sqlite"));
        assert!(!gone.is_missed());
        let left = fs::read_dir(directory.path()).expect("it is there");
        assert_eq!(left.count(), 1, "only what is kept");
    }

    #[test]
    fn what_is_free_for_root_alone_counts_for_root_alone() {
        let mut disk = rustix::fs::statvfs("/").expect("it is there");
        (disk.f_bavail, disk.f_bfree, disk.f_frsize) = (1, 3, 4096);
        assert_eq!(free_bytes(&disk, Uid::ROOT), Some(3 * 4096));
        assert_eq!(free_bytes(&disk, Uid::from_raw(1000)), Some(4096));
    }

    #[test]
    fn a_disk_that_does_not_say_how_large_it_is_is_not_full() {
        let mut disk = rustix::fs::statvfs("/").expect("it is there");
        (disk.f_blocks, disk.f_bavail, disk.f_bfree) = (0, 0, 0);
        assert_eq!(free_bytes(&disk, Uid::ROOT), None);
    }

    #[test]
    fn what_is_written_does_not_repeat_itself() {
        let noise = noise();
        assert_eq!(noise.len(), RESERVE_BYTES);
        let words: HashSet<&[u8]> = noise.chunks_exact(8).collect();
        assert_eq!(words.len(), RESERVE_BYTES / 8);
    }

    #[test]
    fn what_another_process_has_put_there_since_is_not_taken_away() {
        let (_directory, reserve) = reserve();
        let own = File::create(&reserve.path).expect("there is room");
        fs::remove_file(&reserve.path).expect("it is there");
        fs::write(&reserve.path, "another's").expect("there is room");
        reserve.take_back(&own);
        assert!(reserve.path.exists());
    }
}
