//! The signals of a supervisor, as descriptors that become readable.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
    SIGUSR1, SIGUSR2, SIGXFSZ,
};

/// What has no effect on a supervisor: a terminal that goes away, a reader that goes away, a limit on the
/// size of files. They get a handler that does nothing and are not ignored, because only handlers are
/// taken back by the system when the command is executed.
const WITHOUT_EFFECT: [i32; 11] = [
    SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGXFSZ,
];

/// The signals that mean something.
pub(super) struct Signals {
    child: UnixStream,
    terminate: UnixStream,
}

impl Signals {
    /// Takes over the signals of this process, before there is a command that could end.
    pub(super) fn install() -> io::Result<Self> {
        for number in WITHOUT_EFFECT {
            let seen = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            signal_hook::flag::register(number, seen)?;
        }
        Ok(Self {
            child: readable_on(SIGCHLD)?,
            terminate: readable_on(SIGTERM)?,
        })
    }

    /// Signals that leave nothing behind, as where memory is short.
    #[cfg(test)]
    pub(super) fn unheard() -> io::Result<Self> {
        let silent = || {
            let (read, write) = UnixStream::pair()?;
            // Never closed: that would be heard.
            std::mem::forget(write);
            io::Result::Ok(read)
        };
        Ok(Self {
            child: silent()?,
            terminate: silent()?,
        })
    }

    /// Readable when a child changed.
    pub(super) fn child(&self) -> BorrowedFd<'_> {
        self.child.as_fd()
    }

    /// Readable when the supervisor was asked to end.
    pub(super) fn terminate(&self) -> BorrowedFd<'_> {
        self.terminate.as_fd()
    }
}

fn readable_on(signal: i32) -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(signal, write)?;
    Ok(read)
}
