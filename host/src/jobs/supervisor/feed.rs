//! What the job is given to read: written as fast as it reads it. A pipe is closed then; a terminal stays, and more may
//! be typed into it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

/// What is still to be written, and where.
pub(super) struct Feed {
    end: Option<OwnedFd>,
    text: Vec<u8>,
    written: usize,
    then: Then,
}

/// What becomes of the descriptor when all is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Close,
    Keep,
}

impl Feed {
    /// Feeds `text` into `pipe`, which does not block; without a pipe there is nothing to do.
    pub(super) fn new(pipe: Option<OwnedFd>, text: String) -> Self {
        Self {
            end: pipe,
            text: text.into_bytes(),
            written: 0,
            then: Then::Close,
        }
    }

    /// Types `text` into a terminal, which does not block.
    pub(super) fn typing(terminal: OwnedFd, text: String) -> Self {
        Self {
            then: Then::Keep,
            ..Self::new(Some(terminal), text)
        }
    }

    /// What to wait for, as long as there is something to write or to close.
    pub(super) fn waker(&self) -> Option<BorrowedFd<'_>> {
        let is_idle = self.then == Then::Keep && self.is_done();
        self.end.as_ref().filter(|_| !is_idle).map(AsFd::as_fd)
    }

    /// Whether nothing is left to be written.
    pub(super) fn is_done(&self) -> bool {
        self.written == self.text.len()
    }

    /// Writes what is taken now.
    pub(super) fn advance(&mut self) {
        let Some(end) = &self.end else { return };
        while self.written < self.text.len() {
            match rustix::io::write(end, &self.text[self.written..]) {
                Ok(taken) => self.written += taken,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The job closed its input, which is its right.
                Err(_closed) => break,
            }
        }
        if self.then == Then::Close {
            self.end = None;
        }
        self.text = Vec::new();
        self.written = 0;
    }
}
