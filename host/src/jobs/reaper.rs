//! Takes leave of the short-lived processes that start supervisors.
//!
//! A supervisor is not our child: the process that we start forks once more and ends, so that a client that
//! kills its server with all children does not find the jobs among them. What we started would stay in the
//! process table until somebody asks for its exit status.

use std::process::Child;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use super::limits::{LONGEST_REAP_PAUSE, REAP_PAUSE};

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

/// Waits for all of them at the same time: one that hangs, say since this program lies on a file system that does, must
/// not keep the others in the process table.
fn reap(children: &Receiver<Child>) {
    let mut waiting: Vec<Child> = Vec::new();
    let mut pause = REAP_PAUSE;
    // Ends when the engine is dropped and the last of them has ended.
    loop {
        let next = if waiting.is_empty() {
            children.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            children.recv_timeout(pause)
        };
        match next {
            Ok(child) => {
                waiting.push(child);
                pause = REAP_PAUSE;
            }
            Err(RecvTimeoutError::Timeout) => pause = (2 * pause).min(LONGEST_REAP_PAUSE),
            Err(RecvTimeoutError::Disconnected) if waiting.is_empty() => return,
            // Nobody sends any more, so there is nothing to be woken by.
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(pause);
                pause = (2 * pause).min(LONGEST_REAP_PAUSE);
            }
        }
        // The exit status tells nothing that the job's files do not. Of one that cannot be waited for nothing is known.
        waiting.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal};

    use super::*;

    /// Whether a process is in the table, as one that runs or as one that nobody has taken leave of.
    fn is_listed(pid: u32) -> bool {
        std::path::Path::new(&format!("/proc/{pid}")).exists()
    }

    fn await_leave(pid: u32) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while is_listed(pid) {
            assert!(Instant::now() < deadline, "{pid} is still in the table");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn a_child_that_hangs_keeps_no_other_in_the_process_table() {
        let mut hanging = Command::new("sleep");
        let hanging = hanging.arg("1000").spawn().expect("it exists");
        let hangs = Pid::from_child(&hanging);
        let reaper = Reaper::default();
        reaper.take(hanging);
        for _ in 0..3 {
            let quick = Command::new("true").spawn().expect("it exists");
            let pid = quick.id();
            reaper.take(quick);
            await_leave(pid);
        }
        drop(reaper);
        rustix::process::kill_process(hangs, Signal::KILL).expect("it is ours");
        await_leave(hangs.as_raw_nonzero().get().unsigned_abs());
    }
}
