//! The job's standard input: written as fast as the job reads it, and then closed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

/// What is still to be written, and where.
pub(super) struct Feed {
    pipe: Option<OwnedFd>,
    text: Vec<u8>,
    written: usize,
}

impl Feed {
    /// Feeds `text` into `pipe`, which does not block; without a pipe there is nothing to do.
    pub(super) fn new(pipe: Option<OwnedFd>, text: String) -> Self {
        Self {
            pipe,
            text: text.into_bytes(),
            written: 0,
        }
    }

    /// The pipe to wait for, as long as there is something to write.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Writes what the pipe takes.
    pub(super) fn advance(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        while self.written < self.text.len() {
            match rustix::io::write(pipe, &self.text[self.written..]) {
                Ok(taken) => self.written += taken,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The job closed its input, which is its right.
                Err(_closed) => break,
            }
        }
        self.pipe = None;
        self.text = Vec::new();
    }
}
