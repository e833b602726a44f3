//! The stdio transport: one client, which started this process, on standard input and output.
//!
//! *Source:* MCP 2026-07-28, Transports, stdio.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::connection::{Connection, Parts};
use super::input::Lines;
use super::output::Output;
use super::waits::answer_all;
use crate::blocking::Blocking;
use crate::engine::Pool;
use crate::limits::{
    ENDING_LOOK, SHUTDOWN_GRACE, UNTAKEN_PATIENCE, WORK_PATIENCE, waiting_descriptors, workers,
};
use crate::server::{Principal, Server};
use crate::stream::Stream;

/// How a stdio server treats its client.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The longest message that is accepted, in bytes. A longer one is refused without being kept in memory.
    pub message_limit_bytes: usize,
}

/// The client's two streams, out of reach of everything else in this process.
///
/// Standard input is `/dev/null` afterwards and standard output is standard error, so that nothing but a message
/// can get into the client's stream, whatever a library prints.
#[derive(Debug)]
pub struct Streams {
    input: OwnedFd,
    output: OwnedFd,
}

impl Streams {
    /// Takes them from the process. To be called once, before anything reads or prints.
    ///
    /// # Errors
    /// Where no descriptor is left.
    pub fn take() -> io::Result<Self> {
        let streams = Self {
            input: rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?,
            output: rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?,
        };
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(streams)
    }
}

/// All that serving a client needs beside instances of the component: made while those are being loaded.
pub struct Transport {
    input: Lines<Box<dyn io::BufRead + Send>>,
    output: Output,
    hung_up: oneshot::Receiver<()>,
    sender: Blocking,
    runtime: Runtime,
    workers: usize,
}

impl Transport {
    /// Gets ready to serve the client at the other end of these streams. Reads and writes nothing yet.
    ///
    /// # Errors
    /// Where the system refuses a thread or a timer.
    pub fn new(streams: Streams, options: Options) -> io::Result<Self> {
        let hung_up = watch_for_hangup(streams.input.try_clone()?)?;
        let input: Box<dyn io::BufRead + Send> = Box::new(BufReader::new(Stream(streams.input)));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        Ok(Self {
            input: Lines::new(input, options.message_limit_bytes),
            output: Output::new(Stream(streams.output)),
            hung_up,
            // What is written goes through one stream anyway.
            sender: Blocking::start(1)?,
            runtime,
            workers: workers(),
        })
    }

    /// Serves the client until it closes its stream, or this process is asked to end. Jobs go on.
    ///
    /// # Errors
    /// Where the system refuses a thread or a signal handler at the start.
    pub fn serve(self, pool: Arc<Pool>) -> io::Result<()> {
        let server = Server::new(pool, self.workers, waiting_descriptors())?;
        let (connection, waiting) = Connection::new(Parts {
            client: server.client(user()),
            input: self.input,
            output: self.output,
            sender: self.sender,
            workers: self.workers,
        });
        // A thread that is stuck in writing to a client that does not read ends with the process.
        self.runtime.block_on(async {
            tokio::spawn(answer_all(Arc::clone(&connection), waiting));
            let sweeper = server.clone();
            tokio::spawn(async move { sweeper.sweep_regularly().await });
            let mut terminate = signal(SignalKind::terminate())?;
            let mut interrupt = signal(SignalKind::interrupt())?;
            // Last: who fails has answered nothing.
            connection.start_worker()?;
            tokio::select! {
                () = serve_until_closed(&connection, self.hung_up) => {}
                _ = terminate.recv() => hurry(&connection).await,
                _ = interrupt.recv() => hurry(&connection).await,
            }
            Ok(())
        })
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

/// Whoever runs this: a client that can start it is the same user.
fn user() -> Principal {
    Principal::new(format!("uid:{}", rustix::process::geteuid().as_raw()))
        .expect("a number has 1 to 256 bytes")
}

/// Serves until the client has closed its stream, and then until everything is answered and written: for as long as the
/// client takes its replies, and otherwise not for long.
async fn serve_until_closed(connection: &Connection, hung_up: oneshot::Receiver<()>) {
    tokio::select! {
        () = connection.ended() => {}
        () = hung_up_and_stuck(connection, hung_up) => return,
    }
    connection.client.server().shut_down();
    tokio::select! {
        () = connection.idle() => {}
        () = stuck(connection, WORK_PATIENCE) => return,
    }
    // Nothing is lost where that takes too long: it is left to the next server.
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, connection.client.server().close_store()).await;
}

/// Has answered what can be at once. Who asked this process to end does not wait for a client.
async fn hurry(connection: &Connection) {
    connection.client.server().shut_down();
    let finish = async {
        connection.idle().await;
        connection.client.server().close_store().await;
    };
    // Whatever is not answered by then is not answered at all.
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, finish).await;
}

/// Resolves when the client has closed its end of our input and nothing gets on. Then no thread may ever come to read
/// the end of the input, as all of them are stuck: in writing to a client that does not read, or in the store.
async fn hung_up_and_stuck(connection: &Connection, hung_up: oneshot::Receiver<()>) {
    if hung_up.await.is_err() {
        return std::future::pending().await;
    }
    stuck(connection, UNTAKEN_PATIENCE).await;
}

/// Resolves when a connection has not got on: for [`UNTAKEN_PATIENCE`] while replies wait for the client, for `grace`
/// while anything else is waited for.
async fn stuck(connection: &Connection, grace: Duration) {
    let mut before = connection.progress();
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(ENDING_LOOK).await;
        let now = connection.progress();
        if now != before {
            (before, since) = (now, Instant::now());
        }
        let patience = if now.replies.is_all {
            grace
        } else {
            UNTAKEN_PATIENCE
        };
        if since.elapsed() >= patience {
            return;
        }
    }
}

/// Has a thread wait until the other end of `input` is closed, whether what came before has been read or not. A
/// thread, since a reactor would wake us for each message, or cannot watch a file at all.
///
/// # Errors
/// Where the system refuses the thread.
fn watch_for_hangup(input: OwnedFd) -> io::Result<oneshot::Receiver<()>> {
    let (sender, hung_up) = oneshot::channel();
    std::thread::Builder::new()
        .name("hangup".into())
        .stack_size(64 * 1024)
        .spawn(move || {
            // A pipe's hang-up is reported in any case, and a message wakes nobody.
            let mut input = [PollFd::new(&input, HALF_CLOSED)];
            while rustix::event::poll(&mut input, None) == Err(Errno::INTR) {}
            // Nobody listens any more where the server is ending already.
            let _ = sender.send(());
        })?;
    Ok(hung_up)
}

/// What a socket reports whose other side has shut down its sending half.
#[cfg(target_os = "linux")]
const HALF_CLOSED: PollFlags = PollFlags::RDHUP;
#[cfg(not(target_os = "linux"))]
const HALF_CLOSED: PollFlags = PollFlags::empty();

/// Whether standard input is a terminal: a person started this, and not a client.
pub fn is_at_a_terminal() -> bool {
    rustix::termios::isatty(io::stdin().as_fd())
}
