//! A terminal for the command: a pair of descriptors, of which the command has one and the supervisor the other.
//!
//! The supervisor keeps the command's end open too. So its own end does not hang up while the command lives, whatever that
//! closes and opens again, and what the job has set can be looked at on every system. When the command ends, which leads
//! the terminal's session, the system hangs it up for what the command left.

use std::io;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The size that programs are told: wide enough that a prompt is in one line.
const SIZE: Winsize = Winsize {
    ws_row: 40,
    ws_col: 120,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// A terminal.
pub(super) struct Terminal {
    ours: OwnedFd,
    theirs: OwnedFd,
}

impl Terminal {
    /// Makes a terminal that is nobody's yet.
    ///
    /// # Errors
    /// Where the system has none to give.
    pub(super) fn open() -> io::Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let theirs = other_end(&ours)?;
        tcsetwinsize(&theirs, SIZE)?;
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        erase_whole_characters(&theirs)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        Ok(Self { ours, theirs })
    }

    /// Another descriptor of the supervisor's end, which does not block.
    ///
    /// # Errors
    /// Where there is none to give.
    pub(super) fn own_end(&self) -> io::Result<OwnedFd> {
        self.ours.try_clone()
    }

    /// Another descriptor of the command's end.
    ///
    /// # Errors
    /// Where there is none to give.
    pub(super) fn command_end(&self) -> io::Result<OwnedFd> {
        self.theirs.try_clone()
    }
}

/// Opens the end for the command. Without becoming the supervisor's own: then it could be nobody else's.
fn other_end(ours: &OwnedFd) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    // Not by its name, which may be another one's where `/dev/pts` is that of another container.
    #[cfg(target_os = "linux")]
    if let Ok(theirs) = rustix::pty::ioctl_tiocgptpeer(
        ours,
        OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC,
    ) {
        return Ok(theirs);
    }
    let name = rustix::pty::ptsname(ours, Vec::new())?;
    let how = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(name, how, Mode::empty())?)
}

/// Has a character that is taken back be a character, also where it is several bytes.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn erase_whole_characters(end: &OwnedFd) -> io::Result<()> {
    use rustix::termios::{InputModes, OptionalActions, tcgetattr, tcsetattr};
    let mut settings = tcgetattr(end)?;
    settings.input_modes |= InputModes::IUTF8;
    Ok(tcsetattr(end, OptionalActions::Now, &settings)?)
}
