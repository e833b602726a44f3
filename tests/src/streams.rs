//! Reading a child's streams in threads, so that no child ever waits for a test.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A line of a stream.
pub(crate) struct Line {
    /// Without its line break.
    pub(crate) text: String,
    /// Whether it has a line break: the last one of a stream may have none.
    pub(crate) is_whole: bool,
}

/// The lines of a stream, as they come; ends with the stream.
pub(crate) fn read_lines(stream: impl Read + Send + 'static) -> Receiver<Line> {
    let (sender, receiver) = mpsc::channel();
    let mut stream = BufReader::new(stream);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe ends the stream like its end; nobody listens where the test is over.
        while stream
            .read_until(b'\n', &mut bytes)
            .is_ok_and(|count| count > 0)
        {
            let whole = bytes.strip_suffix(b"\n");
            let line = Line {
                text: String::from_utf8_lossy(whole.unwrap_or(&bytes)).into_owned(),
                is_whole: whole.is_some(),
            };
            if sender.send(line).is_err() {
                return;
            }
            bytes.clear();
        }
    });
    receiver
}

/// All text of a stream so far.
#[must_use]
pub fn collect(mut stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let shared = Arc::clone(&text);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count) = stream.read(&mut buffer) {
            if count == 0 {
                return;
            }
            let words = String::from_utf8_lossy(&buffer[..count]);
            shared
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_str(&words);
        }
    });
    text
}
