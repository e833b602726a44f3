//! A server in this process, in virtual time: the part that a transport plays for the component.

use std::collections::VecDeque;
use std::fmt;

use backburner::engine::{Context, Pending, Step, Wake};
use uuid::Uuid;

use super::Party;
use crate::fake::Machine;

/// How many wake-ups may follow each other without time passing; more of them would go on for ever.
const WAKE_UPS_MAX: u32 = 1000;

/// What handles messages: one way to run the protocol, which keeps no truth.
pub(super) trait Engine {
    /// Handles a message.
    fn message(&self, cx: &Context, body: &str) -> Step;
    /// Goes on with a request that had to wait.
    fn resume(&self, cx: &Context, pending: &Pending, why: Wake, body: &str) -> Step;
}

/// Makes an engine on a machine, with a configuration.
pub(super) type Make = fn(&Machine, &str) -> Box<dyn Engine>;

/// A server whose jobs and time are pretended.
pub struct InProcess {
    make: Make,
    config: String,
    machine: Machine,
    engine: Box<dyn Engine>,
    principal: String,
    replies: VecDeque<String>,
    open: Vec<Open>,
}

/// A request that waits, and the message that it came as.
struct Open {
    pending: Pending,
    body: String,
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess")
            .field("replies", &self.replies)
            .finish_non_exhaustive()
    }
}

impl InProcess {
    pub(super) fn new(make: Make, config: &str) -> Self {
        let machine = Machine::new();
        Self {
            make,
            config: config.to_owned(),
            engine: make(&machine, config),
            machine,
            principal: "uid:1000".to_owned(),
            replies: VecDeque::new(),
            open: Vec::new(),
        }
    }

    /// From now on somebody else is calling.
    pub fn become_principal(&mut self, principal: &str) {
        principal.clone_into(&mut self.principal);
    }

    fn cx(&self) -> Context {
        Context {
            now: self.machine.clock.now(),
            principal: self.principal.clone(),
        }
    }

    fn take(&mut self, step: Step, body: &str) {
        match step {
            Step::Nothing => {}
            Step::Reply(reply) => self.replies.push_back(reply),
            Step::Wait(pending) => self.keep_open(pending, body),
            Step::Notify(notice) => {
                self.replies.extend(notice.messages);
                self.keep_open(notice.pending, body);
            }
            Step::Cancel(request) => {
                if let Some(place) = self
                    .open
                    .iter()
                    .position(|open| open.pending.request == request)
                {
                    self.resume(place, Wake::Cancelled);
                }
            }
        }
    }

    fn keep_open(&mut self, pending: Pending, body: &str) {
        self.open.push(Open {
            pending,
            body: body.to_owned(),
        });
    }

    fn resume(&mut self, place: usize, why: Wake) {
        let open = self.open.remove(place);
        let replies = self.replies.len();
        let step = self
            .engine
            .resume(&self.cx(), &open.pending, why, &open.body);
        self.take(step, &open.body);
        if why == Wake::Cancelled {
            assert_eq!(
                self.replies.len(),
                replies,
                "a cancelled request is never answered"
            );
        }
        if why == Wake::Shutdown {
            assert!(self.open.len() <= place, "at shutdown nothing waits again");
        }
    }

    /// Wakes whoever has something to wake up for now.
    fn settle(&mut self) {
        for _ in 0..WAKE_UPS_MAX {
            let now = self.machine.clock.now();
            let ready = self.open.iter().enumerate().find_map(|(place, open)| {
                if self.job_ends_at(open) <= now {
                    return Some((place, Wake::JobEnded));
                }
                (open.pending.deadline <= now).then_some((place, Wake::Deadline))
            });
            match ready {
                Some((place, why)) => self.resume(place, why),
                None => return,
            }
        }
        panic!("a request waits for what has come again and again");
    }

    /// When the first of a request's jobs ends.
    fn job_ends_at(&self, open: &Open) -> u64 {
        let ids = open
            .pending
            .jobs
            .iter()
            .map(|id| Uuid::parse_str(id).expect("a job's name is a UUID"));
        ids.map(|id| self.machine.jobs.ends_at(id))
            .min()
            .unwrap_or(u64::MAX)
    }
}

impl Party for InProcess {
    fn send(&mut self, line: &str) {
        let step = self.engine.message(&self.cx(), line);
        self.take(step, line);
        self.settle();
    }

    fn receive(&mut self) -> Option<String> {
        while self.replies.is_empty() {
            let moments = self
                .open
                .iter()
                .map(|open| open.pending.deadline.min(self.job_ends_at(open)));
            self.machine.clock.advance_to(moments.min()?);
            self.settle();
        }
        self.replies.pop_front()
    }

    fn pass(&mut self, ms: u64) {
        self.machine.clock.advance_to(self.machine.clock.now() + ms);
        self.settle();
    }

    fn reopen(&mut self) {
        while !self.open.is_empty() {
            self.resume(0, Wake::Shutdown);
        }
        self.engine = (self.make)(&self.machine, &self.config);
    }

    fn finish(&mut self) -> Vec<String> {
        self.reopen();
        self.replies.drain(..).collect()
    }
}
