//! What the server says to the person who runs it: lines on standard error.

use std::fmt;
use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec};

/// A pipe that is ready takes so many bytes without having its writer wait (POSIX, `PIPE_BUF`: 512 at least; 4096 on
/// Linux, 512 on macOS).
const LINE_BYTES: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// Says that something went wrong that no client can be told.
///
/// Never waits: a client that starts this and does not read what it says would stop it otherwise. What cannot be said
/// at once is not said.
pub(crate) fn warn(message: fmt::Arguments<'_>) {
    let mut line = format!("backburner: {message}");
    line.truncate(line.floor_char_boundary(LINE_BYTES - 1));
    line.push('\n');
    // Nobody is left to be told that standard error is gone.
    let _ = write_at_once(io::stderr().lock(), line.as_bytes());
}

/// Writes what is short enough for a pipe, or nothing where that would have to wait.
fn write_at_once(output: impl AsFd, line: &[u8]) -> io::Result<()> {
    let mut ready = [PollFd::new(&output, PollFlags::OUT)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    rustix::event::poll(&mut ready, Some(&now))?;
    if ready[0].revents().contains(PollFlags::OUT) {
        rustix::io::write(&output, line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_pipe_that_nobody_reads_stops_nobody() {
        let (mut read, write) = io::pipe().expect("there are descriptors");
        let line = [b'x'; LINE_BYTES];
        // More than any pipe holds.
        for _ in 0..1024 {
            write_at_once(&write, &line).expect("the other end is open");
        }
        drop(write);
        let mut written = Vec::new();
        read.read_to_end(&mut written).expect("a pipe can be read");
        assert!(!written.is_empty() && written.len() < 1024 * LINE_BYTES);
    }
}
