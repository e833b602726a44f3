//! Reading a child's streams in threads, so that no child ever waits for a test.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The lines of a stream, as they come; ends with the stream.
pub(crate) fn read_lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n') {
            // A broken pipe ends the stream like its end; nobody listens where the test is over.
            let Ok(line) = line else { return };
            if sender
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                return;
            }
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
