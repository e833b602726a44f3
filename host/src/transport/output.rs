//! Messages into a byte stream, from several threads, whole and one a line.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::limits::UNREAD_REPLIES_BYTES;

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
    /// How many batches have been written: what does not grow while `writing` is stuck.
    batches: u64,
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

    /// How many batches have been written, and `None` while no thread writes. The same number twice is a peer
    /// that does not read.
    pub(crate) fn writing(&self) -> Option<u64> {
        let state = self.state();
        state.writing.then_some(state.batches)
    }

    /// Waits until everything that was sent has been written, or the peer is gone.
    pub(crate) fn flush(&self) {
        let mut state = self.state();
        while state.writing {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
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
            let written = write(&mut sink, &batch);
            batch.clear();
            state = self.state();
            state.batches += 1;
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(sink: &mut Box<dyn Write + Send>, batch: &[u8]) -> io::Result<()> {
    sink.write_all(batch)?;
    sink.flush()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

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
        output.flush();
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

    #[test]
    fn a_peer_that_is_gone_blocks_nobody() {
        let output = Output::new(Gone);
        for _ in 0..10 {
            assert!(output.send(&"x".repeat(UNREAD_REPLIES_BYTES)).is_err());
        }
        output.flush();
    }
}
