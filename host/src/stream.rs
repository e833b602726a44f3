//! A file that waits, whatever its other users have made of it.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

/// A stream that others have open too. Whether it blocks is a property that all of them share, and one of them may not
/// want it to: then this waits for it by itself.
#[derive(Debug)]
pub(crate) struct Stream(File);

impl Stream {
    /// Another descriptor of the same stream.
    ///
    /// # Errors
    /// Where it is closed, or no descriptor is left.
    pub(crate) fn of(stream: impl AsFd) -> io::Result<Self> {
        Ok(stream.as_fd().try_clone_to_owned()?.into())
    }

    fn wait(&self, until: PollFlags) -> io::Result<()> {
        match rustix::event::poll(&mut [PollFd::new(&self.0, until)], None) {
            Err(error) if error != Errno::INTR => Err(error.into()),
            _ => Ok(()),
        }
    }
}

impl From<OwnedFd> for Stream {
    fn from(descriptor: OwnedFd) -> Self {
        Self(File::from(descriptor))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::IN)?,
                other => return other,
            }
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::OUT)?,
                other => return other,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_pipe_that_was_made_not_to_block_is_waited_for() {
        let (read, write) = io::pipe().expect("there are descriptors");
        for end in [
            OwnedFd::from(read.try_clone().expect("there are descriptors")),
            OwnedFd::from(write.try_clone().expect("there are descriptors")),
        ] {
            rustix::io::ioctl_fionbio(end, true).expect("a pipe can be told");
        }
        let (mut read, mut write) = (
            Stream::from(OwnedFd::from(read)),
            Stream::from(OwnedFd::from(write)),
        );
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
