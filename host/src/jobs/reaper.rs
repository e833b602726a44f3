//! Takes leave of the short-lived processes that start supervisors.
//!
//! A supervisor is not our child: the process that we start forks once more and ends, so that a client that
//! kills its server with all children does not find the jobs among them. What we started would stay in the
//! process table until somebody asks for its exit status.

use std::process::Child;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Waits for children on a thread of its own, which is started with the first one.
#[derive(Debug, Default)]
pub(crate) struct Reaper {
    children: OnceLock<Option<Sender<Child>>>,
}

impl Reaper {
    /// Takes a child that ends within milliseconds.
    pub(crate) fn take(&self, child: Child) {
        let thread = self.children.get_or_init(start);
        let refused = match thread {
            Some(sender) => sender.send(child).err().map(|refused| refused.0),
            None => Some(child),
        };
        if let Some(mut child) = refused {
            // Without a thread the caller waits. The exit status tells nothing that the job's files do not.
            let _status = child.wait();
        }
    }
}

fn start() -> Option<Sender<Child>> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new()
        .name("reaper".into())
        .stack_size(64 * 1024);
    thread
        .spawn(move || reap(&receiver))
        .ok()
        .map(|_detached| sender)
}

fn reap(children: &Receiver<Child>) {
    // Ends when the engine is dropped.
    while let Ok(mut child) = children.recv() {
        let _status = child.wait();
    }
}
