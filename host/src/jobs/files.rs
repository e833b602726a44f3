//! Files of one directory by fixed names: created private, never followed through a link.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd as _;

use cap_std::fs::Dir;
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::limits::FILE_BYTES;

pub(crate) use crate::file::is_disk_full;

/// What only its owner may read and write, whatever the umask allows to others.
fn private() -> Mode {
    Mode::RUSR | Mode::WUSR
}

/// Creates a file that does not exist yet, for writing.
pub(crate) fn create(dir: &Dir, name: &str) -> io::Result<File> {
    let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, name, how, private())?))
}

/// Opens a file for writing in place, creating it where it does not exist. What is no file is an error that
/// [`is_other_kind`] knows.
pub(crate) fn overwrite(dir: &Dir, name: &str) -> io::Result<File> {
    let how =
        OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(dir, name, how, private()) {
        // A FIFO that nobody reads.
        Err(Errno::NXIO) => return Err(Errno::LOOP.into()),
        other => other.map_err(|errno| why(errno, dir, name, Mode::WUSR))?,
    };
    if kind_of(&file)? == FileType::RegularFile {
        Ok(File::from(file))
    } else {
        Err(Errno::LOOP.into())
    }
}

/// Opens a file or FIFO without ever waiting for it; `None` where it does not exist.
pub(crate) fn open(dir: &Dir, name: &str, access: OFlags) -> io::Result<Option<File>> {
    let how = access | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, name, how, Mode::empty()) {
        Ok(file) => Ok(Some(File::from(file))),
        Err(Errno::NOENT) => Ok(None),
        // A socket. For writing it may be a FIFO that nobody reads.
        Err(Errno::NXIO) if !access.contains(OFlags::WRONLY) => Err(Errno::LOOP.into()),
        Err(errno) => Err(why(errno, dir, name, needed(access))),
    }
}

/// What the owner's bits have to have for a file to be opened like this.
fn needed(access: OFlags) -> Mode {
    match access & OFlags::RWMODE {
        OFlags::WRONLY => Mode::WUSR,
        OFlags::RDWR => Mode::RUSR | Mode::WUSR,
        _ => Mode::RUSR,
    }
}

/// A mode keeps its owner from something, or it is another user's by now.
#[derive(Debug, thiserror::Error)]
#[error("its mode or its owner forbids it")]
struct Closed;

/// Why a file could not be opened. That it was not allowed says little: access is also refused by a security module,
/// and by a file system of the network whose credentials have expired, and there nobody has changed anything.
fn why(errno: Errno, dir: &Dir, name: &str, needed: Mode) -> io::Error {
    let is_closed = || match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        // All that is ours is made by this user.
        Ok(found) => {
            found.st_uid != rustix::process::geteuid().as_raw()
                || !Mode::from_raw_mode(found.st_mode).contains(needed)
        }
        Err(_) => lacks(dir, Mode::XUSR),
    };
    // Where there is no file yet, it cannot be made.
    let is_shut = || lacks(dir, Mode::WUSR | Mode::XUSR);
    if errno == Errno::ACCESS && (is_closed() || is_shut()) {
        return io::Error::new(io::ErrorKind::PermissionDenied, Closed);
    }
    errno.into()
}

/// Whether a directory's mode lacks one of these bits.
fn lacks(dir: &Dir, needed: Mode) -> bool {
    rustix::fs::fstat(dir).is_ok_and(|found| !Mode::from_raw_mode(found.st_mode).contains(needed))
}

/// Opens a directory to its owner again, where somebody has closed it. Where that cannot be done, what it was for
/// fails.
pub(crate) fn open_up(dir: &Dir) {
    if !lacks(dir, Mode::RWXU) {
        return;
    }
    // A handle that is only good for looking names up takes no mode; its name in `/proc` does.
    let _closed = rustix::fs::fchmod(dir, Mode::RWXU)
        .or_else(|_| rustix::fs::chmod(format!("/proc/self/fd/{}", dir.as_raw_fd()), Mode::RWXU));
}

/// As [`open_up`], for a directory and the one that it is in.
pub(crate) fn open_up_with_parent(dir: &Dir) {
    open_up(dir);
    if let Ok(parent) = rustix::fs::statat(dir, "..", AtFlags::empty())
        && !Mode::from_raw_mode(parent.st_mode).contains(Mode::RWXU)
    {
        let _closed = rustix::fs::chmodat(dir, "..", Mode::RWXU, AtFlags::empty());
    }
}

/// Opens a FIFO without ever waiting for it; `None` where there is none of this name that may be opened, whatever else
/// there is.
pub(crate) fn open_fifo(dir: &Dir, name: &str, access: OFlags) -> io::Result<Option<File>> {
    open_kind(dir, name, access, FileType::Fifo)
}

/// Opens a file for reading; `None` where there is none of this name that may be opened, whatever else there is.
pub(crate) fn open_file(dir: &Dir, name: &str) -> io::Result<Option<File>> {
    open_kind(dir, name, OFlags::RDONLY, FileType::RegularFile)
}

fn open_kind(dir: &Dir, name: &str, access: OFlags, kind: FileType) -> io::Result<Option<File>> {
    let file = match open(dir, name, access) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(None),
        Err(error) if is_other_kind(&error) || is_closed(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok((kind_of(&file)? == kind).then_some(file))
}

/// Whether what was opened is a FIFO.
pub(crate) fn is_fifo(file: impl AsFd) -> io::Result<bool> {
    Ok(kind_of(file)? == FileType::Fifo)
}

fn kind_of(file: impl AsFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode))
}

/// Whether a name is that of something else than what was asked for: a link, a directory, a socket, a device.
pub(crate) fn is_other_kind(error: &io::Error) -> bool {
    let kinds = [Errno::LOOP, Errno::ISDIR].map(|kind| Some(kind.raw_os_error()));
    kinds.contains(&error.raw_os_error())
}

/// Whether the mode or the owner of a file kept it from being opened. All that is ours is made so that neither does:
/// somebody has changed it.
pub(crate) fn is_closed(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<Closed>)
}

/// Reads a whole file, as [`read_at_most`], of [`FILE_BYTES`].
pub(crate) fn read(dir: &Dir, name: &str) -> io::Result<Option<Vec<u8>>> {
    read_at_most(dir, name, FILE_BYTES)
}

/// Reads a whole file; `None` where it does not exist. What is no file is an error that [`is_other_kind`] knows, and
/// one that is longer than `limit` bytes was written by somebody else: [`io::ErrorKind::InvalidData`].
pub(crate) fn read_at_most(dir: &Dir, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open(dir, name, OFlags::RDONLY)? else {
        return Ok(None);
    };
    // A device may have no end.
    if kind_of(&file)? != FileType::RegularFile {
        return Err(Errno::LOOP.into());
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some(bytes))
}

/// Gives a file another name that nobody has, in one step; the first name may be there still.
pub(crate) fn link(dir: &Dir, from: &str, to: &str) -> io::Result<()> {
    match dir.hard_link(from, dir, to) {
        // A file system without links: somebody's file of this moment would be replaced.
        Err(error) if lacks_links(&error) => dir.rename(from, dir, to),
        other => other,
    }
}

/// Whether a file cannot have a second name here.
fn lacks_links(error: &io::Error) -> bool {
    let refusals = [Errno::PERM, Errno::OPNOTSUPP, Errno::NOSYS].map(|it| Some(it.raw_os_error()));
    refusals.contains(&error.raw_os_error())
}

/// Removes a file; one that does not exist is no error.
pub(crate) fn remove(dir: &Dir, name: &str) -> io::Result<()> {
    match dir.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the names in a directory survive a power failure.
pub(crate) fn sync(dir: &Dir) -> io::Result<()> {
    sync_at(dir, ".")
}

/// Makes a directory's own name survive a power failure.
pub(crate) fn sync_parent(dir: &Dir) -> io::Result<()> {
    sync_at(dir, "..")
}

fn sync_at(dir: &Dir, name: &str) -> io::Result<()> {
    // Opened anew: a directory handle that is only good for looking names up cannot be synced.
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let readable = rustix::fs::openat(dir, name, how, Mode::empty())?;
    Ok(rustix::fs::fsync(readable)?)
}

/// Whether an error means that there is no room: a full disk, a quota, or a limit on the size of a file.
pub(crate) fn is_full(error: &io::Error) -> bool {
    is_disk_full(error) || error.kind() == io::ErrorKind::FileTooLarge
}

/// The error, with what to do where it is not the disk that has no room.
pub(crate) fn explained(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => io::Error::new(
            error.kind(),
            format!("{error}, by the limit on the size of files: raise it (`ulimit -f unlimited`)"),
        ),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_mode_forbids_counts_as_closed() {
        let place = tempfile::TempDir::new().expect("there is a directory for temporary files");
        let dir = Dir::open_ambient_dir(place.path(), cap_std::ambient_authority());
        let dir = dir.expect("it was just made");
        create(&dir, "x").expect("the name is new");
        let is_taken_for_closed = |errno: Errno, mode: Mode| {
            rustix::fs::chmodat(&dir, "x", mode, AtFlags::empty()).expect("it is ours");
            is_closed(&why(errno, &dir, "x", Mode::RUSR))
        };
        assert!(is_taken_for_closed(Errno::ACCESS, Mode::WUSR));
        assert!(
            !is_taken_for_closed(Errno::ACCESS, Mode::RUSR),
            "something else refuses"
        );
        assert!(!is_taken_for_closed(Errno::MFILE, Mode::empty()));
        if rustix::process::geteuid().is_root() {
            let nobody = Some(rustix::fs::Uid::from_raw(65_534));
            rustix::fs::chown(place.path().join("x"), nobody, None).expect("root may");
            assert!(
                is_taken_for_closed(Errno::ACCESS, Mode::RUSR),
                "it is another user's"
            );
        }
        // What is not there cannot be made in a directory that takes no names.
        rustix::fs::chmod(place.path(), Mode::RUSR | Mode::XUSR).expect("it is ours");
        assert!(is_closed(&why(Errno::ACCESS, &dir, "y", Mode::WUSR)));
        open_up(&dir);
        assert!(!is_closed(&why(Errno::ACCESS, &dir, "y", Mode::WUSR)));
    }
}
