//! The host as a library, in this process: a server with the native store and jobs or with others, and no transport.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Poll;

use backburner::data_dir::DataDir;
use backburner::jobs::SupervisedJobs;
use backburner::store::SqliteStore;
use backburner::{Client, Principal, Said, Server};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::Party;
use crate::binary::binary;
use crate::deadline::PATIENCE;
use crate::test_dir::TestDir;

/// A server, as a program has it that embeds one.
pub struct Library {
    make: Box<dyn Fn() -> Server>,
    runtime: Runtime,
    server: Server,
    client: Client,
    /// What is being answered.
    open: Vec<JoinHandle<()>>,
    said: (Sender<String>, Receiver<String>),
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

impl Library {
    /// A server with the native store and jobs, on a data directory of its own, with this configuration.
    ///
    /// # Panics
    /// Where it is refused, or the component does not load.
    #[must_use]
    pub fn new(config: &str) -> Self {
        let dir = TestDir::new();
        let config = config.to_owned();
        let runtime = Runtime::new().expect("a test has threads");
        Self::of(runtime, move || server(&dir, &config))
    }

    /// The server that this makes, each time on the same data, with what its jobs need of a runtime.
    #[must_use]
    pub fn of(runtime: Runtime, make: impl Fn() -> Server + 'static) -> Self {
        let server = make();
        Self {
            client: client(&server),
            server,
            make: Box::new(make),
            runtime,
            open: Vec::new(),
            said: channel(),
        }
    }

    /// Ends the server. What it still answers is received.
    fn shut_down(&mut self) {
        self.server.shut_down();
        for answer in self.open.drain(..) {
            // Within the runtime, whose clock it needs.
            let answered = async { tokio::time::timeout(PATIENCE, answer).await };
            let answered = self.runtime.block_on(answered);
            answered
                .expect("a server that is shut down answers what is open")
                .expect("nobody stops it");
        }
    }
}

fn server(dir: &TestDir, config: &str) -> Server {
    let data = DataDir::open(&dir.data()).expect("the data directory can be made");
    let store = SqliteStore::open(&data.path().join("backburner.db"));
    let jobs = SupervisedJobs::open(data.dir(), data.path(), binary().to_owned());
    let server = Server::builder()
        .store(store.expect("the store can be made"))
        .jobs(jobs.expect("the jobs can be made"))
        .config(config)
        .build();
    server.expect("the embedded component starts")
}

/// Whether a message is one that nobody answers.
fn is_notification(line: &str) -> bool {
    let message: Result<Value, _> = serde_json::from_str(line);
    message.is_ok_and(|message| message.is_object() && message.get("id").is_none())
}

fn client(server: &Server) -> Client {
    server.client(Principal::new("uid:1000").expect("it is short"))
}

impl Party for Library {
    fn send(&mut self, line: &str) {
        let mut exchange = self.client.exchange(line);
        let sender = self.said.0.clone();
        let mut answering: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            while let Some(Said::Notification(text) | Said::Reply(text)) = exchange.next().await {
                sender
                    .send(text)
                    .expect("whoever asked is there until all is answered");
            }
        });
        if is_notification(line) {
            // Nothing is said of it, so nothing else tells when it has taken effect: a cancel before the server ends.
            return self.runtime.block_on(answering);
        }
        // Begun here, so that messages are begun in their order.
        let is_answered = self.runtime.block_on(poll_fn(|cx| {
            Poll::Ready(answering.as_mut().poll(cx).is_ready())
        }));
        if !is_answered {
            self.open.push(self.runtime.spawn(answering));
        }
    }

    fn receive(&mut self) -> Option<String> {
        let said = self.said.1.recv_timeout(PATIENCE);
        Some(said.expect("a server answers"))
    }

    fn pass(&mut self, _ms: u64) {}

    fn reopen(&mut self) {
        self.shut_down();
        self.server = (self.make)();
        self.client = client(&self.server);
    }

    fn finish(&mut self) -> Vec<String> {
        self.shut_down();
        self.said.1.try_iter().collect()
    }
}
