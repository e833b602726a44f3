//! A stream that is waited for, whatever its other users have made of it.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

/// A stream that others have open too. Whether it blocks is a property that all of them share, and one of them may not
/// want it to: then this waits for it by itself.
#[derive(Debug)]
pub(crate) struct Stream<T>(pub(crate) T);

impl<T: AsFd> Stream<T> {
    /// Tries again for as long as the stream would have had to block, or a signal came.
    fn patiently(
        &self,
        until: PollFlags,
        mut attempt: impl FnMut(&T) -> Result<usize, Errno>,
    ) -> io::Result<usize> {
        loop {
            match attempt(&self.0) {
                Err(Errno::AGAIN) => {
                    // What a look is told in place of readiness, the next attempt is told too.
                    let _ = rustix::event::poll(&mut [PollFd::new(&self.0, until)], None);
                }
                Err(Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }
}

impl<T: AsFd> Read for Stream<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.patiently(PollFlags::IN, |stream| {
            rustix::io::read(stream, &mut *buffer)
        })
    }
}

impl<T: AsFd> Write for Stream<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(PollFlags::OUT, |stream| rustix::io::write(stream, bytes))
    }

    /// Nothing is kept back.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_pipe_that_was_made_not_to_block_is_waited_for() {
        let (read, write) = io::pipe().expect("there are descriptors");
        rustix::io::ioctl_fionbio(&read, true).expect("a pipe can be told");
        rustix::io::ioctl_fionbio(&write, true).expect("a pipe can be told");
        let (mut read, mut write) = (Stream(read), Stream(write));
        // More than a pipe holds, so that each side has to wait for the other.
        let sent: Vec<u8> = (0..3_000_000_u32).map(|number| number as u8).collect();
        thread::scope(|scope| {
            let reading = scope.spawn(move || {
                let mut received = Vec::new();
                read.read_to_end(&mut received).map(|_length| received)
            });
            write.write_all(&sent).expect("somebody reads");
            drop(write);
            let received = reading.join().expect("it does not panic");
            assert!(received.expect("a pipe can be read") == sent);
        });
    }
}
