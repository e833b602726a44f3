//! Messages into a byte stream, from several threads, whole and one a line.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::limits::{PIECE_BYTES, UNREAD_REPLIES_BYTES};

/// Writes lines. Whoever comes while another thread writes leaves its line with that thread: under load, many
/// replies go out with one system call, and no thread of its own is needed.
pub(crate) struct Output {
    sink: Mutex<Box<dyn Write + Send>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    unsent: Vec<u8>,
    writing: bool,
    closed: bool,
    /// How many pieces have been written.
    pieces: u64,
}

/// How far a peer is. The same twice, and not all, is one that does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// How many pieces it has taken since the beginning.
    pub(crate) pieces: u64,
    /// Whether nothing waits for it.
    pub(crate) is_all: bool,
}

/// The peer does not take any more messages.
#[derive(Debug)]
pub(crate) struct Closed;

impl Output {
    pub(crate) fn new(sink: impl Write + Send + 'static) -> Self {
        Self {
            sink: Mutex::new(Box::new(sink)),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Sends one message, or leaves it with the thread that is sending.
    ///
    /// Blocks while more than [`UNREAD_REPLIES_BYTES`] wait for a peer that does not read: then no more of its
    /// requests are worked on, and nothing piles up.
    pub(crate) fn send(&self, message: &str) -> Result<(), Closed> {
        let mut state = self.state();
        while state.unsent.len() > UNREAD_REPLIES_BYTES && !state.closed {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(Closed);
        }
        state.unsent.extend_from_slice(message.as_bytes());
        state.unsent.push(b'\n');
        if state.writing {
            Ok(())
        } else {
            self.write_all(state)
        }
    }

    /// How far the peer is with what it is sent.
    pub(crate) fn taken(&self) -> Taken {
        let state = self.state();
        Taken {
            pieces: state.pieces,
            is_all: !state.writing,
        }
    }

    /// Writes until nothing is left, also what others add meanwhile.
    fn write_all<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<(), Closed> {
        state.writing = true;
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = Vec::new();
        while !state.unsent.is_empty() {
            std::mem::swap(&mut batch, &mut state.unsent);
            drop(state);
            let written = self.write(&mut sink, &batch);
            batch.clear();
            state = self.state();
            if written.is_err() {
                state.closed = true;
                state.unsent = Vec::new();
            }
            self.changed.notify_all();
        }
        state.writing = false;
        self.changed.notify_all();
        if state.closed { Err(Closed) } else { Ok(()) }
    }

    /// Writes a batch piece by piece: a pipe takes all of what is written to it at once, or blocks until it has.
    fn write(&self, sink: &mut Box<dyn Write + Send>, batch: &[u8]) -> io::Result<()> {
        for piece in batch.chunks(PIECE_BYTES) {
            sink.write_all(piece)?;
            self.state().pieces += 1;
        }
        sink.flush()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // One byte at a time, so that lines would mix if two threads wrote.
            self.0
                .lock()
                .expect("no test panics while it writes")
                .push(bytes[0]);
            Ok(1)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_of_many_threads_stay_whole() {
        let written = Written::default();
        let output = Output::new(written.clone());
        thread::scope(|scope| {
            for thread in 0..8 {
                let output = &output;
                scope.spawn(move || {
                    for line in 0..50 {
                        output
                            .send(&format!("{thread}-{line}"))
                            .expect("memory never closes");
                    }
                });
            }
        });
        let text = written.0.lock().expect("the threads have ended").clone();
        let mut lines: Vec<_> = text.split(|byte| *byte == b'\n').collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(
            lines.len(),
            8 * 50 + 1,
            "each line once, and the end after the last"
        );
    }

    /// Takes a piece each time it is told to.
    struct Slow(Receiver<()>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().expect("the test says when");
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_piece_of_a_large_message_that_was_taken_shows() {
        let (take, slow) = channel();
        let output = Output::new(Slow(slow));
        let wait_until_taken = |pieces, is_all| {
            let deadline = Instant::now() + Duration::from_secs(60);
            while output.taken() != (Taken { pieces, is_all }) {
                assert!(Instant::now() < deadline, "{:?}", output.taken());
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            let message = "x".repeat(3 * PIECE_BYTES - 1);
            let output = &output;
            scope.spawn(move || output.send(&message).expect("memory never closes"));
            for pieces in 0..3 {
                wait_until_taken(pieces, false);
                take.send(()).expect("it is waited for");
            }
            // Also when all is taken: replies that come and go between two looks are progress.
            wait_until_taken(3, true);
        });
    }

    #[test]
    fn a_peer_that_is_gone_blocks_nobody() {
        let output = Output::new(Gone);
        for _ in 0..10 {
            assert!(output.send(&"x".repeat(UNREAD_REPLIES_BYTES)).is_err());
        }
    }
}
