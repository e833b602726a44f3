//! Linux: pipes that keep writes apart, and a queue in which the kernel announces each write.

use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::signalfd_siginfo;
use rustix::pipe::{
    PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with, splice,
};

use super::super::super::limits::{HEARINGS, PIPE_BYTES};
use super::super::super::native;

/// How many bytes an announcement has.
const ANNOUNCEMENT: usize = size_of::<signalfd_siginfo>();

/// The queue of announcements.
pub(super) struct Announcer {
    queue: OwnedFd,
    signal: i32,
    pipes: [i32; 2],
}

/// A pipe of ours into which each of the job's is emptied in one step.
///
/// Reading packet by packet would let a writer in after each, and then nobody could tell between which of
/// them it waited for room.
pub(super) struct Basin {
    /// Where what was filled in comes out.
    pub(super) out: OwnedFd,
    /// How many bytes go in at most, and into each of the job's pipes.
    pub(super) bytes: usize,
    /// How many bytes a packet has at most.
    pub(super) page_bytes: usize,
    into: OwnedFd,
}

impl Basin {
    /// An empty one.
    ///
    /// # Errors
    /// As `pipe2(2)`.
    pub(super) fn new() -> io::Result<Self> {
        let (out, into) = pipe()?;
        Ok(Self {
            bytes: fcntl_getpipe_size(&out)?,
            page_bytes: rustix::param::page_size(),
            out,
            into,
        })
    }

    /// Moves all packets of a pipe into the empty basin; 0 bytes where the pipe is closed.
    pub(super) fn fill_from(&self, pipe: &OwnedFd) -> rustix::io::Result<usize> {
        let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
        splice(pipe, None, &self.into, None, self.bytes, flags)
    }
}

/// Makes a pipe that keeps writes apart: our end, then the job's.
///
/// # Errors
/// As `pipe2(2)`; also where the kernel is older than packet mode, 3.4.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::DIRECT)?;
    fcntl_setpipe_size(&ours, PIPE_BYTES)?;
    Ok((ours, theirs))
}

impl Announcer {
    /// Has each write into these pipes announced, from now on.
    ///
    /// # Errors
    /// Where the kernel refuses a part of it.
    pub(super) fn new(pipes: [&OwnedFd; 2]) -> io::Result<Self> {
        let signal = native::write_signal();
        // SIGIO is what comes instead when too many signals are queued.
        let queue = native::queue_signals(&[signal, libc::SIGIO])?;
        for pipe in pipes {
            native::announce_writes(pipe.as_fd(), signal)?;
        }
        Ok(Self {
            queue,
            signal,
            pipes: pipes.map(AsRawFd::as_raw_fd),
        })
    }

    /// Readable when something was announced.
    pub(super) fn queue(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }

    /// Takes all announcements: the indexes of the streams that were written, `None` for missing ones.
    pub(super) fn hear(&self) -> Vec<Option<usize>> {
        let mut streams = Vec::new();
        // Bounded, since anybody may send signals without end.
        for _ in 0..HEARINGS {
            let mut bytes = [0; 128 * ANNOUNCEMENT];
            // Empty, or interrupted by a signal, and then there is another turn.
            let taken = rustix::io::read(&self.queue, &mut bytes).unwrap_or(0);
            let announcements = bytes[..taken].chunks_exact(ANNOUNCEMENT);
            streams.extend(announcements.map(|it| self.stream(it)));
            if taken < bytes.len() {
                break;
            }
        }
        streams
    }

    /// Which stream was written; `None` where the kernel does not say, since too many signals are queued.
    fn stream(&self, announcement: &[u8]) -> Option<usize> {
        let signal = number(announcement, offset_of!(signalfd_siginfo, ssi_signo));
        let pipe = number(announcement, offset_of!(signalfd_siginfo, ssi_fd));
        let of = self.pipes.iter().position(|known| *known == pipe);
        of.filter(|_| signal == self.signal)
    }
}

/// The number at this place of an announcement.
fn number(announcement: &[u8], at: usize) -> i32 {
    let bytes = announcement[at..at + 4].try_into();
    i32::from_ne_bytes(bytes.expect("the range is four bytes long"))
}
