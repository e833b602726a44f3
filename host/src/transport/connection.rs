//! One client over one byte stream in each direction: reads its messages, has them answered, several at a time.

use std::io::BufRead;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::{Notify, mpsc};

use super::input::{Line, Lines};
use super::output::{Output, Taken};
use super::waits::Waiting;
use crate::blocking::Blocking;
use crate::engine::{Pending, Step};
use crate::log;
use crate::server::Client;

/// What a connection is made of.
pub(crate) struct Parts {
    pub(crate) client: Client,
    pub(crate) input: Lines<Box<dyn BufRead + Send>>,
    pub(crate) output: Output,
    /// What sends where nobody may be kept waiting by the client.
    pub(crate) sender: Blocking,
    /// How many messages are worked on at the same time.
    pub(crate) workers: usize,
}

/// One client. Its messages are read and answered by threads that take turns: the one that has a message lets the
/// next one read and answers it itself, so that a lone request changes threads nowhere.
pub(crate) struct Connection {
    pub(crate) client: Client,
    output: Output,
    sender: Blocking,
    input: Mutex<Lines<Box<dyn BufRead + Send>>>,
    waiting: mpsc::UnboundedSender<Waiting>,
    workers: Workers,
    busy: Arc<Busy>,
    ended: AtomicBool,
    end: Notify,
}

struct Workers {
    most: usize,
    started: AtomicUsize,
    /// How many of them read or wait for their turn to read.
    reading: AtomicUsize,
    /// Whether one could not be started. The person who runs this is told once: it lasts, and happens at each message.
    is_short: AtomicBool,
}

/// How far a connection is. The same twice is one that does not get on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// How many messages were read.
    messages: u64,
    /// How much of the replies the client has taken.
    pub(crate) replies: Taken,
}

/// A message that came in, its number, and the proof that somebody works on it.
struct Incoming {
    line: Line,
    number: u64,
    work: Work,
}

impl Connection {
    pub(crate) fn new(parts: Parts) -> (Arc<Self>, mpsc::UnboundedReceiver<Waiting>) {
        let (waiting, received) = mpsc::unbounded_channel();
        let connection = Self {
            client: parts.client,
            output: parts.output,
            sender: parts.sender,
            input: Mutex::new(parts.input),
            waiting,
            workers: Workers {
                most: parts.workers,
                started: AtomicUsize::new(0),
                reading: AtomicUsize::new(0),
                is_short: AtomicBool::new(false),
            },
            busy: Arc::default(),
            ended: AtomicBool::new(false),
            end: Notify::new(),
        };
        (Arc::new(connection), received)
    }

    /// Starts a thread that reads and answers messages until the client closes its stream.
    pub(crate) fn start_worker(self: &Arc<Self>) -> std::io::Result<()> {
        let number = self.workers.started.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::clone(self);
        let started = thread::Builder::new()
            .name(format!("worker-{number}"))
            .spawn(move || {
                while let Some(incoming) = connection.next() {
                    connection.handle(incoming);
                }
                connection.end();
            });
        if started.is_err() {
            self.workers.started.fetch_sub(1, Ordering::Relaxed);
        }
        started.map(|_detached| ())
    }

    /// Resolves when the client closed its stream or does not take any more messages.
    pub(crate) async fn ended(&self) {
        while !self.ended.load(Ordering::SeqCst) {
            self.end.notified().await;
        }
    }

    /// How far it is.
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            messages: self.client.messages(),
            replies: self.output.taken(),
        }
    }

    /// Resolves when nothing is being worked on and no request is open. Then all replies have been written, too: who
    /// writes is at work.
    pub(crate) async fn idle(&self) {
        while self.busy.count.load(Ordering::SeqCst) > 0 {
            self.busy.idle.notified().await;
        }
    }

    /// Sends a message to the client; when it does not take any more, the connection has ended.
    pub(crate) fn send(&self, message: &str) {
        if self.output.send(message).is_err() {
            self.end();
        }
    }

    /// As [`Connection::send`] for each of these, in order, and drops `done` when all have been sent. On a thread that
    /// does nothing else: a client that does not read holds up what is sent to it, and neither the other requests nor
    /// the look after the tasks.
    pub(crate) async fn send_apart<T: Send + 'static>(
        self: &Arc<Self>,
        messages: Vec<String>,
        done: T,
    ) {
        let connection = Arc::clone(self);
        let sent = self.sender.run(move || {
            for message in &messages {
                connection.send(message);
            }
            drop(done);
        });
        // To send does not panic.
        let _ = sent.await;
    }

    fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.end.notify_one();
    }

    /// Waits for this thread's turn and for the next message; `None` at the end of the stream.
    fn next(self: &Arc<Self>) -> Option<Incoming> {
        self.workers.reading.fetch_add(1, Ordering::SeqCst);
        let incoming = self.read();
        let others = self.workers.reading.fetch_sub(1, Ordering::SeqCst) - 1;
        if others == 0 && self.workers.started.load(Ordering::Relaxed) < self.workers.most {
            // Nobody would read the next message while this one is worked on.
            if let Err(error) = self.start_worker()
                && !self.workers.is_short.swap(true, Ordering::Relaxed)
            {
                log::warn(format_args!(
                    "cannot start a thread, messages wait: {error}"
                ));
            }
        }
        incoming
    }

    fn read(&self) -> Option<Incoming> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let line = input.next_line().unwrap_or_else(|error| {
            log::warn(format_args!("the client's stream broke: {error}"));
            Line::End
        });
        // Counted while nobody else can read: the end of the stream is seen only after every message before it
        // has been counted.
        (line != Line::End).then(|| Incoming {
            line,
            number: self.client.next_number(),
            work: Busy::work(&self.busy),
        })
    }

    fn handle(&self, incoming: Incoming) {
        let Incoming { line, number, work } = incoming;
        let (step, body) = match line {
            Line::Message(bytes) => match String::from_utf8(bytes) {
                Ok(body) => (self.client.answer(&body), body),
                Err(_) => (self.client.server().pool().refuse_not_utf8(), String::new()),
            },
            Line::TooLarge { limit_bytes } => {
                log::warn(format_args!(
                    "a message of more than {limit_bytes} bytes was refused: to allow longer ones, start the server \
                     with --max-message-bytes"
                ));
                (
                    self.client.server().pool().refuse_too_large(),
                    String::new(),
                )
            }
            Line::End => return,
        };
        match step {
            Step::Nothing => {}
            Step::Reply(reply) => self.send(&reply),
            Step::Wait(pending) => self.wait(number, (pending, body), work),
            Step::Notify(notice) => {
                for message in &notice.messages {
                    self.send(message);
                }
                self.wait(number, (notice.pending, body), work);
            }
            Step::Cancel(request) => self.client.cancel(number, request),
        }
    }

    /// Keeps the request open that came as message `number`, with its body.
    fn wait(&self, number: u64, (pending, body): (Pending, String), work: Work) {
        let request = self.client.open(number, pending, body.into());
        // Fails only when the process is ending and nobody waits for requests any more.
        let _ = self.waiting.send(Waiting { request, work });
    }
}

/// Counts what is being worked on.
#[derive(Default)]
pub(crate) struct Busy {
    count: AtomicUsize,
    idle: Notify,
}

/// Something is being worked on for as long as this lives.
pub(crate) struct Work(Arc<Busy>);

impl Busy {
    fn work(busy: &Arc<Self>) -> Work {
        busy.count.fetch_add(1, Ordering::SeqCst);
        Work(Arc::clone(busy))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.idle.notify_one();
        }
    }
}
