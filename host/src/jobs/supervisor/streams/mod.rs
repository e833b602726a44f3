//! What the job writes: taken out of its two pipes, and recorded in the order in which it was written. Of a terminal
//! there is one stream, and nothing to put in order.
//!
//! Two pipes do not say which of them was written first, so reading whichever is ready would give
//! `one three two` for `echo one; echo two >&2; echo three`. On Linux the kernel is asked: it queues a
//! signal for each write, naming the pipe, before the write returns (`O_ASYNC`, `F_SETSIG`), and keeps
//! the bytes of each write apart (`O_DIRECT`, packet mode). The signals say whose turn it is, the packets
//! how much that is; module `turns` puts both together.
//!
//! How exact that is: a write of up to a page, 4096 bytes nearly everywhere, comes whole and at its place.
//! Of a longer one other writes may see pieces before them, as on a terminal. What a process writes through
//! a pipe that it opened anew (`/dev/stderr`) is merged with what else was written in this way while the
//! supervisor was behind. A job that fills its pipes again and again, writing in a tight loop faster than it is
//! read, may have lines at a neighbour's place, until the supervisor has caught up: a full pipe announces
//! whoever waits for room too, and which of the signals that was is then an estimate. Within a stream no
//! byte is ever lost or moved, whatever happens to the signals: where there are too many
//! (`RLIMIT_SIGPENDING`) the two streams follow each other as they are read. So they do on other systems, and
//! where the kernel does not pass the test that [`Streams::open`] makes.
//!
//! Rejected: one pipe for both, which loses whose the bytes are; sockets, since `/dev/stderr` cannot be
//! opened when it is one; a terminal for a job that has not asked for one, which changes what programs write; tracing
//! the job, which slows every system call and breaks debuggers; the times of reading, which are ours and not the
//! writers'.

mod tap;
mod turns;

#[cfg(target_os = "linux")]
#[path = "announcer.rs"]
mod announcer;
#[cfg(not(target_os = "linux"))]
#[path = "silent.rs"]
mod announcer;

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};

use super::super::clock;
use super::super::limits::TAKING_PASSES;
use super::super::model::Stream;
use super::super::output::{Moment, Recorder};
use announcer::{Announcer, Basin};
use tap::Tap;
use turns::{Turn, Turns};

/// The streams by their index.
const STREAMS: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

/// Our ends of what a job writes to.
pub(super) struct Streams {
    taps: [Tap; 2],
    announcer: Option<(Announcer, Basin)>,
    turns: Turns,
}

/// The job's ends of its output pipes.
pub(super) struct Ends {
    /// For its standard output.
    pub(super) stdout: OwnedFd,
    /// For its standard error.
    pub(super) stderr: OwnedFd,
}

/// Whether there is something left to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// There may be, and nothing else will announce it.
    More,
    /// What comes next makes one of the wakers ready.
    Nothing,
}

/// Whether there was anything new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Something,
    Nothing,
}

impl Streams {
    /// Makes the pipes of a command that is about to be executed.
    ///
    /// # Errors
    /// Where no pipes can be made at all.
    pub(super) fn open() -> io::Result<(Self, Ends)> {
        // Why writes are not announced does not matter: the order of reading is what is left then.
        announced().or_else(|_| plain())
    }

    /// The supervisor's end of a job's terminal, which does not block: one stream, in the order in which it was
    /// written.
    pub(super) fn of_terminal(end: OwnedFd) -> Self {
        Self {
            taps: [Tap::plain(end), Tap::closed()],
            announcer: None,
            turns: Turns::default(),
        }
    }

    /// What becomes ready when the job wrote something or closed its end.
    pub(super) fn wakers(&self) -> impl Iterator<Item = PollFd<'_>> {
        // Whoever hears of each write needs no more from a pipe than that it hung up.
        let wanted = match self.announcer {
            Some(_) => PollFlags::empty(),
            None => PollFlags::IN,
        };
        let queue = self
            .announcer
            .as_ref()
            .map(|(announcer, _)| announcer.queue());
        let queue = queue.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let pipes = self.taps.iter().filter_map(Tap::pipe);
        let pipes = pipes.map(move |fd| PollFd::from_borrowed_fd(fd, wanted));
        queue.into_iter().chain(pipes)
    }

    /// Records what there is, without blocking and up to a limit, and tells it.
    pub(super) fn record(&mut self, recorder: &mut Recorder, mut tell: impl FnMut(&[u8])) -> Rest {
        let rest = self.take();
        let now = Moment {
            wall_ms: crate::clock::now_ms(),
            monotonic_ms: clock::monotonic_ms(),
        };
        for Turn { of, bytes } in self.resolve(rest) {
            let bytes = self.taps[of].give(bytes);
            recorder.record(STREAMS[of], bytes, now);
            tell(bytes);
        }
        for tap in &mut self.taps {
            tap.compact();
        }
        rest
    }

    /// Reads pipes and signals until they agree, or there is nothing more, or there is too much.
    fn take(&mut self) -> Rest {
        for _ in 0..TAKING_PASSES {
            // Each pipe right after the signals: a writer that waits for room in it is then heard of before
            // it gets some, so that it is known for what it is.
            let news = [self.take_from(0), self.take_from(1)];
            if self.taps.iter().any(Tap::is_full) {
                return Rest::More;
            }
            let packets = self.taps.each_ref().map(|tap| &tap.packets);
            if self.turns.agree_with(packets) || news == [News::Nothing; 2] {
                return Rest::Nothing;
            }
        }
        Rest::More
    }

    /// Reads the signals, and then the pipe of this stream.
    fn take_from(&mut self, of: usize) -> News {
        let most = self.taps.each_ref().map(|tap| tap.packets.most_writes());
        let (heard, pulled) = match &self.announcer {
            Some((announcer, basin)) => (announcer.hear(), self.taps[of].pull(Some(basin))),
            None => (Vec::new(), self.taps[of].pull(None)),
        };
        if heard.contains(&None) {
            self.turns.lose();
        }
        let streams: Vec<usize> = heard.into_iter().flatten().collect();
        let mut packets = self.taps.each_mut().map(|tap| &mut tap.packets);
        self.turns.announce(&streams, most, &mut packets);
        self.turns.compare(of, packets[of], pulled);
        if streams.is_empty() && pulled == 0 {
            News::Nothing
        } else {
            News::Something
        }
    }

    fn resolve(&mut self, rest: Rest) -> Vec<Turn> {
        let mut packets = self.taps.each_mut().map(|tap| &mut tap.packets);
        self.turns.resolve(&mut packets, rest)
    }
}

/// Pipes that are just read, each when there is something in it.
fn plain() -> io::Result<(Streams, Ends)> {
    let (out, stdout) = io::pipe()?;
    let (err, stderr) = io::pipe()?;
    let taps = [OwnedFd::from(out), OwnedFd::from(err)];
    for pipe in &taps {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    let streams = Streams {
        taps: taps.map(Tap::plain),
        announcer: None,
        turns: Turns::default(),
    };
    let ends = Ends {
        stdout: stdout.into(),
        stderr: stderr.into(),
    };
    Ok((streams, ends))
}

/// Pipes of which each write is announced, tested.
fn announced() -> io::Result<(Streams, Ends)> {
    let (out, stdout) = announcer::pipe()?;
    let (err, stderr) = announcer::pipe()?;
    let announcer = Announcer::new([&out, &err])?;
    let basin = Basin::new()?;
    let mut streams = Streams {
        taps: [out, err].map(|pipe| Tap::announced(pipe, &basin)),
        announcer: Some((announcer, basin)),
        turns: Turns::default(),
    };
    let ends = Ends { stdout, stderr };
    streams.test(&ends)?;
    Ok((streams, ends))
}

impl Streams {
    /// Whether this kernel does what it promises; a pipe that is never announced would never be read.
    fn test(&mut self, ends: &Ends) -> io::Result<()> {
        for end in [&ends.stderr, &ends.stdout, &ends.stderr] {
            rustix::io::write(end, b"?")?;
        }
        let rest = self.take();
        let order: Vec<usize> = self.resolve(rest).iter().map(|turn| turn.of).collect();
        for tap in &mut self.taps {
            tap.discard();
        }
        if order == [1, 0, 1] {
            Ok(())
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}
