//! The loop of a supervisor: waits for pipes, signals, requests and deadlines, and does what they call for.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::clock;
use super::super::directory::JobDirectory;
use super::super::limits::{
    ANSWER_LOOKS, ANSWER_PAUSE, DRAIN_ROUNDS, GROUP_LOOK_MS, UNHEARD_LOOK_MS,
};
use super::super::model::{Process, StopCause};
use super::super::output::Recorder;
use super::command::Spawned;
use super::console::Console;
use super::family::{Family, Left, Met};
use super::feed::Feed;
use super::life::{Action, Life};
use super::signals::Signals;
use super::streams::{Rest, Streams};

/// What a supervisor has before its command is executed, and uses until the job is over.
pub(super) struct Post<'a> {
    /// The job's directory.
    pub(super) directory: &'a JobDirectory,
    /// The signals, caught.
    pub(super) signals: Signals,
    /// The FIFO with the wake-ups.
    pub(super) control: File,
    /// Where the output goes.
    pub(super) recorder: Recorder,
}

/// A job whose command has been executed.
pub(super) struct Watch<'a, 'b> {
    post: &'a mut Post<'b>,
    life: Life,
    family: Family,
    feed: Feed,
    streams: Streams,
    /// `None` where the job has no terminal.
    console: Option<Console>,
    /// What the streams still had when they were last looked at.
    rest: Rest,
    leftovers: Vec<Process>,
}

/// What there is to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Output,
    Feed,
    Answer,
    Child,
    Request,
    Terminate,
}

/// A job of which nothing runs any more.
pub(super) struct Over {
    /// How the command ended.
    pub(super) status: std::process::ExitStatus,
    /// Why it was stopped; `None` where it ended by itself.
    pub(super) stopped: Option<StopCause>,
    /// What outlived it.
    pub(super) leftovers: Vec<Process>,
}

impl<'a, 'b> Watch<'a, 'b> {
    /// Watches a command that has just been executed.
    pub(super) fn new(post: &'a mut Post<'b>, life: Life, command: Spawned) -> Self {
        Self {
            post,
            life,
            family: Family::new(command.pid),
            feed: command.feed,
            streams: command.streams,
            console: command.terminal.map(Console::new),
            rest: Rest::Nothing,
            leftovers: Vec::new(),
        }
    }

    /// Returns when nothing of the job runs and all that it wrote has been taken.
    pub(super) fn run(mut self) -> Over {
        loop {
            let ready = self.wait();
            if self.rest == Rest::More && ready.first() != Some(&Source::Output) {
                self.take_output();
            }
            // Output first: what was written before the end comes before the end.
            for source in ready {
                if self.handle(source) == Left::Nothing {
                    return self.over();
                }
            }
            // Whatever woke this: where memory is short a signal may leave nothing behind, and elsewhere than on Linux
            // none tells that the last of the group has ended. What has ended comes before a deadline.
            if self.reap() == Left::Nothing {
                return self.over();
            }
            self.look_at_clock();
        }
    }

    fn over(mut self) -> Over {
        // Bounded, since a stranger may hold the pipe that a job passed to it.
        for _ in 0..DRAIN_ROUNDS {
            self.take_output();
            if self.rest == Rest::Nothing {
                break;
            }
        }
        let status = self
            .family
            .status()
            .expect("a command without a status would be a child");
        Over {
            status,
            stopped: self.life.stopped(),
            leftovers: self.leftovers,
        }
    }

    /// Waits for the next thing to happen, and gives what did; nothing where a deadline has come.
    fn wait(&self) -> Vec<Source> {
        let (sources, mut fds): (Vec<Source>, Vec<PollFd<'_>>) = self.sources().into_iter().unzip();
        let timeout = Duration::from_millis(self.timeout_ms());
        let timeout = Timespec::try_from(timeout).expect("it is seconds at most");
        // A failure is a signal, whose descriptor is readable at the next turn, or a lack of memory for
        // the kernel, which can only be tried again.
        let _changed = poll(&mut fds, Some(&timeout));
        let ready = sources
            .into_iter()
            .zip(fds)
            .filter(|(_, fd)| !fd.revents().is_empty());
        let mut ready: Vec<Source> = ready.map(|(source, _)| source).collect();
        ready.dedup();
        ready
    }

    fn sources(&self) -> Vec<(Source, PollFd<'_>)> {
        fn readable(source: Source, fd: BorrowedFd<'_>) -> (Source, PollFd<'_>) {
            (source, PollFd::from_borrowed_fd(fd, PollFlags::IN))
        }
        let mut sources = Vec::with_capacity(8);
        sources.extend(self.streams.wakers().map(|fd| (Source::Output, fd)));
        let writable = |end| (Source::Feed, PollFd::from_borrowed_fd(end, PollFlags::OUT));
        sources.extend(self.feed.waker().map(writable));
        let answer = self.console.as_ref().and_then(Console::waker);
        sources.extend(answer.map(|fd| readable(Source::Answer, fd)));
        // At a shutdown everybody is asked to end at once: the request comes before its effect. Any other
        // request comes after the end of a command that was faster.
        sources.push(readable(Source::Terminate, self.post.signals.terminate()));
        sources.push(readable(Source::Child, self.post.signals.child()));
        sources.push(readable(Source::Request, self.post.control.as_fd()));
        sources
    }

    /// How long nothing has to be done, if nothing happens.
    fn timeout_ms(&self) -> u64 {
        if self.rest == Rest::More {
            return 0;
        }
        // Nothing tells elsewhere than on Linux when the last of a process group ends.
        let look_ms = if cfg!(not(target_os = "linux")) && self.family.status().is_some() {
            GROUP_LOOK_MS
        } else {
            UNHEARD_LOOK_MS
        };
        // Before its input is typed, it is not looked at.
        let watched = self.console.as_ref().filter(|_| self.feed.is_done());
        let look_at_ms = watched.and_then(Console::look_at_ms);
        let deadlines = self.life.wake_at_ms().into_iter().chain(look_at_ms);
        let now_ms = clock::monotonic_ms();
        let left_ms = deadlines.map(|at_ms| at_ms.saturating_sub(now_ms));
        left_ms.chain([look_ms]).min().unwrap_or(look_ms)
    }

    fn handle(&mut self, source: Source) -> Left {
        match source {
            Source::Output => self.take_output(),
            Source::Feed => self.feed.advance(),
            Source::Answer => self.type_answer(),
            Source::Child => {
                drain(self.post.signals.child());
                self.life.changed(clock::monotonic_ms());
                return self.reap();
            }
            Source::Request => {
                drain(self.post.control.as_fd());
                // What has ended was faster, also where no signal told it.
                if self.reap() == Left::Nothing {
                    return Left::Nothing;
                }
                // Unreadable means that it cannot be carried out; who asked sees that the job goes on.
                if let Ok(Some(cause)) = self.post.directory.stop_cause() {
                    let action = self.life.stop(cause, clock::monotonic_ms());
                    self.act(action);
                }
            }
            Source::Terminate => {
                drain(self.post.signals.terminate());
                self.stop_for(StopCause::ShutDown);
            }
        }
        Left::Something
    }

    fn look_at_clock(&mut self) {
        let now_ms = clock::monotonic_ms();
        if let Some(cause) = self.life.overdue(now_ms) {
            self.stop_for(cause);
        }
        let action = self.life.tick(now_ms);
        self.act(action);
        if let Some(console) = &mut self.console {
            if !self.life.is_running() {
                console.close();
            } else if self.feed.is_done() {
                console.look(self.post.directory.dir(), now_ms, |console| {
                    let hear = |bytes: &[u8]| console.hear(bytes, clock::monotonic_ms());
                    self.rest = self.streams.record(&mut self.post.recorder, hear);
                    self.rest
                });
            }
        }
    }

    /// Types what somebody has answered, if the job still waits for it when all that it wrote has been heard.
    fn type_answer(&mut self) {
        let Some(entered) = self.console.as_ref().and_then(Console::answer) else {
            return;
        };
        // Who watches its terminal with a timeout is sometimes between two calls, and what a person typed is not thrown
        // away for that.
        let is_wanted = (0..ANSWER_LOOKS).any(|look| {
            if look > 0 {
                std::thread::sleep(ANSWER_PAUSE);
            }
            self.still_waits()
        });
        if let Some(console) = &mut self.console {
            console.finish(entered.filter(|_| is_wanted), clock::monotonic_ms());
        }
    }

    fn still_waits(&mut self) -> bool {
        let Some(console) = &mut self.console else {
            return false;
        };
        console.still_waits(clock::monotonic_ms(), |console| {
            let hear = |bytes: &[u8]| console.hear(bytes, clock::monotonic_ms());
            self.rest = self.streams.record(&mut self.post.recorder, hear);
            self.rest
        })
    }

    /// Stops the job for a reason of the supervisor's own, unless somebody was faster.
    fn stop_for(&mut self, cause: StopCause) {
        let in_force = if self.life.is_running() {
            // Where it cannot be recorded, it is done all the same.
            self.post.directory.request_stop(cause).unwrap_or(cause)
        } else {
            cause
        };
        let action = self.life.stop(in_force, clock::monotonic_ms());
        self.act(action);
    }

    fn reap(&mut self) -> Left {
        let left = self.family.reap();
        if self.family.status().is_some() {
            self.life.command_ended(clock::monotonic_ms());
        }
        left
    }

    fn act(&mut self, action: Action) {
        if action != Action::Wait && self.life.has_leftovers() && self.leftovers.is_empty() {
            self.leftovers = self.family.leftovers();
        }
        match action {
            Action::Wait => {}
            Action::Terminate | Action::TerminateRest => {
                let asked = if action == Action::Terminate {
                    self.family.terminate()
                } else {
                    self.family.terminate_rest()
                };
                if asked.is_err() {
                    self.life.rest_unasked(clock::monotonic_ms());
                }
            }
            Action::Kill => {
                // What was forked meanwhile may have forked again.
                if self.family.kill() == Met::New {
                    self.life.changed(clock::monotonic_ms());
                }
            }
        }
    }

    fn take_output(&mut self) {
        let console = &mut self.console;
        self.rest = self.streams.record(&mut self.post.recorder, |bytes| {
            if let Some(console) = console {
                console.hear(bytes, clock::monotonic_ms());
            }
        });
    }
}

/// Takes all bytes of a descriptor that does not block; they mean no more than that they are there.
fn drain(fd: BorrowedFd<'_>) {
    let mut bytes = [0_u8; 64];
    while rustix::io::read(fd, &mut bytes).is_ok_and(|taken| taken == bytes.len()) {}
}

#[cfg(test)]
mod tests;
